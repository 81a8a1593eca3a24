/// @file
/// Stores when rollouts ended, for kinds whose status does not tell it.
#ifndef KUBEXX_RELOADER_HISTORY_ROLLOUT_ENDS_H_
#define KUBEXX_RELOADER_HISTORY_ROLLOUT_ENDS_H_

#include <cstddef>
#include <map>
#include <optional>

#include "kubexx/apimachinery/time.h"
#include "kubexx/base/mutex.h"
#include "kubexx/reloader/model/workload.h"

namespace kubexx::reloader {

/// Follows the rollouts that begin while this process runs, of workloads with kHistoryAnnotation: a
/// workload whose pods fail later, and become available again, has not been rolled out then.
/// Thread-safe.
class RolloutEnds {
 public:
  /// The most workloads that are followed; others are not.
  static constexpr std::size_t kMaxWorkloads = 10'000;

  /// A workload has changed; `time`: when this was seen.
  void Observe(const Workload& before, const Workload& now, apimachinery::Time time);
  /// When the last rollout ended, well or not; std::nullopt when it goes on, or its begin was not
  /// seen.
  std::optional<apimachinery::Time> EndOf(const WorkloadId& workload) const;
  /// The workload was deleted.
  void Forget(const WorkloadId& workload);

 private:
  struct Followed {
    std::optional<apimachinery::Time> end{};
    bool has_failed = false;  ///< it ended so
  };

  mutable base::Mutex mu_;
  std::map<WorkloadId, Followed> rollouts_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_HISTORY_ROLLOUT_ENDS_H_
