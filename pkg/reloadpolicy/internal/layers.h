/// @file
/// Combines the settings that several places specify for one workload.
#ifndef KUBEXX_RELOADPOLICY_INTERNAL_LAYERS_H_
#define KUBEXX_RELOADPOLICY_INTERNAL_LAYERS_H_

#include <optional>
#include <string>

#include "kubexx/reloadpolicy/effective.h"
#include "kubexx/reloadpolicy/policy.h"

namespace kubexx::reloadpolicy::internal {

/// A place that specifies settings.
struct Speaker {
  std::string origin{};  ///< as Setting::origin; empty for annotations
  std::optional<PolicyId> policy{};
  bool enforced = false;
};

/// Fills an Effective, which must outlive this object. The caller adds places from the most
/// specific to the most general one.
class Layers {
 public:
  explicit Layers(Effective& effective) : effective_(effective) {}

  /// Takes over each setting that no earlier place specifies. `order`, if it has a value, replaces
  /// settings.order.
  void Add(const Settings& settings, const Speaker& speaker,
           const std::optional<int>& order = std::nullopt);
  /// Takes over each setting that no earlier place specifies as strictly. A laxer value of an
  /// earlier place is reported in Effective::refused, unless that place is enforced, too.
  void Enforce(const Settings& settings, const Speaker& speaker,
               const std::optional<int>& order = std::nullopt);

 private:
  Effective& effective_;
};

}  // namespace kubexx::reloadpolicy::internal

#endif  // KUBEXX_RELOADPOLICY_INTERNAL_LAYERS_H_
