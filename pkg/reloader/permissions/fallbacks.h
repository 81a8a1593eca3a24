/// @file
/// Keeps track of missing rights and APIs that the operator can do without.
#ifndef KUBEXX_RELOADER_PERMISSIONS_FALLBACKS_H_
#define KUBEXX_RELOADER_PERMISSIONS_FALLBACKS_H_

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/subscription.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/model/workload_kind.h"

namespace kubexx::reloader {

/// A verb on objects of one kind, in one namespace or (if `namespace_` is empty) in all. Does not
/// own the texts.
struct Right {
  std::string_view kind{};  ///< the kind of a workload, or of another resource that is watched
  /// list, watch, patch, create or delete. Fallbacks::kServed stands for the API itself.
  std::string_view verb{};
  std::string_view namespace_{};
};

/// Stores which rights and APIs are missing and logs each change once. The metric
/// kubexx_reloader_fallback{kind,verb} is 1 while the verb is refused in some namespace. (A missing
/// OpenShift API is normal and does not appear in it.) Rules that refuse single objects (see
/// IsMissingRight) are not missing rights. Also counts the writes that were refused for either
/// reason. Keeps an entry for each missing right, and drops the oldest ones beyond kMaxEntries.
/// Thread-safe.
class Fallbacks {
 public:
  static constexpr std::string_view kServed = "served";
  static constexpr std::size_t kMaxEntries = 10'000;

  /// `registry` must outlive this object; if it is null, there are no metrics.
  explicit Fallbacks(metrics::Registry* registry, base::Clock& clock = base::Clock::Real());

  /// The server refused a request that needs `right`. `consequence`, for the log: what the operator
  /// does instead.
  void Refused(const Right& right, const apimachinery::Status& status,
               std::string_view consequence);
  /// A request that needs `right` succeeded, perhaps after refusals.
  void Granted(const Right& right);
  bool IsRefused(const Right& right) const;
  /// Whether to send a request that needs `right`: yes, unless it was refused less than a minute
  /// ago. For writes of which there may be thousands.
  bool ShouldTry(const Right& right) const;
  /// A write failed with `status`. Counts it in kubexx_reloader_writes_refused_total if it was
  /// refused.
  void CountRefusedWrite(const apimachinery::Status& status) const;

 private:
  using Verb = std::pair<std::string, std::string>;  ///< kind and verb
  using Times = std::map<std::string, base::TimePoint, std::less<>>;

  void Expire();
  void ExpireLocked() KX_REQUIRES(mu_);
  void DropOldestLocked() KX_REQUIRES(mu_);
  void ShowLocked(const Verb& verb) const KX_REQUIRES(mu_);

  metrics::Registry* const registry_;
  base::Clock& clock_;
  std::array<metrics::Counter, 2> refused_writes_;  ///< by missing rights and by rules
  mutable base::Mutex mu_;
  /// For each verb the namespaces in which it is refused, and the time of the last refusal. An
  /// empty map: the verb was refused once and is not any more.
  std::map<Verb, Times> refused_ KX_GUARDED_BY(mu_);
  std::size_t entries_ KX_GUARDED_BY(mu_) = 0;
  base::Subscription scrapes_;  // last: ends first
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PERMISSIONS_FALLBACKS_H_
