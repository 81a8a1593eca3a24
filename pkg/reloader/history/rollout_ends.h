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

/// How a rollout ended. A value type.
struct RolloutEnd {
  apimachinery::Time time{};
  bool has_failed = false;
  bool operator==(const RolloutEnd&) const = default;
};

/// Follows the operator's rollouts that begin while this process runs, of workloads with
/// kHistoryAnnotation: a workload whose pods fail later, and become available again, has not been
/// rolled out then. Thread-safe.
class RolloutEnds {
 public:
  /// The most workloads that are followed; others are not.
  static constexpr std::size_t kMaxWorkloads = 10'000;

  /// A workload has changed; `time`: when this was seen.
  void Observe(const Workload& before, const Workload& now, apimachinery::Time time);
  /// How the operator's last rollout ended, whatever others have rolled out since;
  /// std::nullopt when it goes on, others have changed the template before it had ended, or its
  /// begin was not seen.
  std::optional<RolloutEnd> EndOf(const WorkloadId& workload) const;
  /// The workload was deleted.
  void Forget(const WorkloadId& workload);

 private:
  struct Followed {
    std::optional<RolloutEnd> end{};
    bool is_over = false;  ///< others have changed the template since
  };

  /// The pod template has changed.
  void ObserveTemplate(const Workload& before, const Workload& now) KX_REQUIRES(mu_);

  mutable base::Mutex mu_;
  std::map<WorkloadId, Followed> rollouts_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_HISTORY_ROLLOUT_ENDS_H_
