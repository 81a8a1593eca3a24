/// @file
/// Who says when a workload that is to be rolled may be.
#ifndef KUBEXX_RELOADER_ROLLOUT_GATE_H_
#define KUBEXX_RELOADER_ROLLOUT_GATE_H_

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/subscription.h"
#include "kubexx/reloader/planner.h"
#include "kubexx/reloader/workload.h"
#include "kubexx/reloader/workload_write.h"

namespace kubexx::reloader {

class Caches;

/// What a gate may ask of the operator that it stands in.
struct GateHost {
  const Caches& caches;
  /// Has the workload looked at after a time. Never blocks.
  std::function<void(const WorkloadId&, base::Duration)> wake;
  /// Whether the workload is to be rolled for the source and has not been.
  std::function<bool(const Workload&, const SourceId&)> needs_rollout;
};

/// Asked before each rollout and told what became of it. Implementations are thread-safe; several
/// workers call at the same time, but about one workload one at a time.
class RolloutGate {
 public:
  virtual ~RolloutGate() = default;

  /// The operator begins; its end ends the subscription, after which `host` is not used any more.
  virtual base::Subscription Attach(GateHost host) = 0;
  /// Blocks until the gate knows its rules; false when `stop` was requested first.
  virtual bool WaitForSync(const std::stop_token& stop) = 0;

  /// Whether `changes` may be written now. Takes out those that must wait while others may go, and
  /// adds what is to be written on the workload's own annotations along with them. When it says no
  /// it sees to it that the workload is looked at again in time.
  virtual bool Admit(const Workload& workload, std::vector<Change>& changes,
                     AnnotationEdits& annotations) = 0;
  /// What became of a write that was admitted. `rolled`: new pods come.
  virtual void OnWritten(const WorkloadId& workload, bool rolled) = 0;
  /// The workload needs no rollout.
  virtual void OnNothing(const WorkloadId& workload) = 0;
  /// A workload as it is now, or null when it is gone. `initial`: from the first list.
  virtual void OnWorkload(const WorkloadId& id, const Workload* workload, bool initial) = 0;
  /// The keys of a source that count, as reloadpolicy::KeyList; empty: all. A list that changes has
  /// the workloads that it concerns looked at.
  virtual std::string KeysOf(const SourceId& source) {
    (void)source;
    return {};
  }
  /// How long the workload's sources must be quiet; nothing when the operator's own setting holds.
  virtual std::optional<base::Duration> SettleWindow(const WorkloadId& workload) = 0;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_ROLLOUT_GATE_H_
