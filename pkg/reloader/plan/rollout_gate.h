/// @file
/// Who says when a workload that is to be rolled may be.
#ifndef KUBEXX_RELOADER_PLAN_ROLLOUT_GATE_H_
#define KUBEXX_RELOADER_PLAN_ROLLOUT_GATE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/subscription.h"
#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloader/plan/planner.h"
#include "kubexx/reloader/plan/workload_write.h"

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

/// What became of a write that a gate has admitted.
enum class WriteEnd : std::uint8_t {
  kNotRolled,   ///< no new pods come
  kOvertaken,   ///< no new pods come by this write, as the workload had changed
  kUncertain,   ///< whether new pods come is not known: there was no answer
  kKept,        ///< no new pods come, but the gate's annotations are on the workload
  kRolled,      ///< new pods come, and the gate's annotations are on the workload
  kUnrecorded,  ///< new pods come, and the gate's annotations are not on the workload
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

  /// The caches have all there is. Before the first question; perhaps several times.
  virtual void OnSynced() {}

  /// What is to be written on the workload's own annotations now, whether it is to be rolled or
  /// not. Before the other questions about it.
  virtual AnnotationEdits Marks(const Workload& workload) {
    (void)workload;
    return {};
  }
  /// Whether `changes` may be written now. Takes out those that must wait while others may go, and
  /// adds what is to be written on the workload's own annotations along with them. When it says no
  /// it sees to it that the workload is looked at again in time.
  virtual bool Admit(const Workload& workload, std::vector<Change>& changes,
                     AnnotationEdits& annotations) = 0;
  /// After each write that was admitted.
  virtual void OnWritten(const WorkloadId& workload, WriteEnd end) = 0;
  /// The workload needs no rollout, or cannot ask for one now, in whatever way it came to be looked
  /// at: it waits for nothing and keeps no place until it asks again.
  virtual void OnNothing(const WorkloadId& workload) = 0;
  /// The workload, as it is, needs no rollout; else as OnNothing.
  virtual void OnUpToDate(const Workload& workload) { OnNothing(workload.id); }
  /// A workload as it is now, or null when it is gone.
  virtual void OnWorkload(const WorkloadId& id, const Workload* workload) = 0;
  /// The keys of a source that count, as reloadpolicy::KeyList; empty: all. `own`: what its
  /// annotation says. A list that changes has the workloads that it concerns looked at.
  virtual std::string KeysOf(const SourceId& source, const std::string& own) {
    (void)source;
    return own;
  }
  /// How long the workload's sources must be quiet; nothing when the operator's own setting holds.
  virtual std::optional<base::Duration> SettleWindow(const WorkloadId& workload) = 0;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_ROLLOUT_GATE_H_
