/// @file
/// Puts together what several places say about one workload.
#ifndef KUBEXX_RELOADPOLICY_INTERNAL_LAYERS_H_
#define KUBEXX_RELOADPOLICY_INTERNAL_LAYERS_H_

#include <optional>
#include <string>

#include "kubexx/reloadpolicy/effective.h"
#include "kubexx/reloadpolicy/policy.h"

namespace kubexx::reloadpolicy::internal {

/// Who says something.
struct Speaker {
  std::string origin{};  ///< as Setting::origin; empty: annotations
  std::optional<PolicyId> policy{};
  bool enforced = false;
};

/// Fills an Effective, which must outlive it, from the most specific place to the most general.
class Layers {
 public:
  explicit Layers(Effective& effective) : effective_(effective) {}

  /// Each setting that nothing has been said of yet. `order`, unless empty, stands for
  /// settings.order.
  void Add(const Settings& settings, const Speaker& speaker,
           const std::optional<int>& order = std::nullopt);
  /// Each setting that nothing as strict has been said of; what was laxer goes to
  /// Effective::refused, unless an enforced policy said it.
  void Enforce(const Settings& settings, const Speaker& speaker,
               const std::optional<int>& order = std::nullopt);

 private:
  Effective& effective_;
};

}  // namespace kubexx::reloadpolicy::internal

#endif  // KUBEXX_RELOADPOLICY_INTERNAL_LAYERS_H_
