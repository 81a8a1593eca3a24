/// @file
/// The interface of what decides when a workload may be rolled.
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

/// The functions of the operator that a gate may use.
struct GateHost {
  const Caches& caches;
  /// Makes the operator look at the workload after a time. Never blocks.
  std::function<void(const WorkloadId&, base::Duration)> wake;
  /// Whether the workload must be rolled for the source and has not been yet.
  std::function<bool(const Workload&, const SourceId&)> needs_rollout;
  /// Whether changes of the source roll the workload, by its annotations and references. Empty:
  /// they roll every workload that mentions it.
  std::function<bool(const Workload&, const SourceId&)> concerns{};
  /// Whether the cached state of a workload shows all that other replicas have written to it before
  /// this one began to write. May read the workload, and block for that. Empty: it always does.
  std::function<bool(const Workload&)> is_current{};
};

/// The outcome of a write that a gate has admitted.
enum class WriteEnd : std::uint8_t {
  kNotRolled,  ///< no new pods start
  /// The write starts no new pods, because the workload had changed. The gate keeps the place: the
  /// workload asks again at once, or OnNothing follows.
  kOvertaken,
  kUncertain,   ///< it is not known whether new pods start: there was no answer
  kKept,        ///< no new pods start, but the gate's annotations are on the workload
  kRolled,      ///< new pods start, and the gate's annotations are on the workload
  kUnrecorded,  ///< new pods start, but the gate's annotations are not on the workload
};

/// Decides about each rollout before it is written, and is told its outcome. Implementations are
/// thread-safe: several workers call at the same time, but only one at a time about a particular
/// workload.
class RolloutGate {
 public:
  virtual ~RolloutGate() = default;

  /// Connects the gate to an operator that starts. After the subscription has ended, the gate no
  /// longer uses `host`.
  virtual base::Subscription Attach(GateHost host) = 0;
  /// Blocks until the gate knows its rules. Returns false when `stop` was requested first.
  virtual bool WaitForSync(const std::stop_token& stop) = 0;

  /// All objects are in the caches now. Called before the first question, and perhaps again later.
  virtual void OnSynced() {}

  /// Returns what must be written to the workload's own annotations now, whether or not the
  /// workload must be rolled. Called before the other questions about the workload.
  virtual AnnotationEdits Marks(const Workload& workload) {
    (void)workload;
    return {};
  }
  /// Returns whether `changes` may be written now. Removes the changes that must wait while others
  /// may go, and adds to `annotations` what must be written to the workload's own annotations in
  /// the same write. When it returns false, it ensures that the operator looks at the workload
  /// again in time.
  virtual bool Admit(const Workload& workload, std::vector<Change>& changes,
                     AnnotationEdits& annotations) = 0;
  /// The same for a workload whose pods are being reloaded in place while its sources have got
  /// newer data. It has its time and its place already; what matters is whether it may get these
  /// data now. When the answer is no, the caller ends the reload, and WriteEnd::kKept follows.
  virtual bool AdmitNewer(const Workload& workload, std::vector<Change>& changes,
                          AnnotationEdits& annotations) {
    return Admit(workload, changes, annotations);
  }
  /// Called after each write that was admitted. `version`: the resource version that the workload
  /// got by it; 0: it was not written, or that is not known.
  virtual void OnWritten(const WorkloadId& workload, WriteEnd end, std::uint64_t version) = 0;
  /// After OnWritten: the write was refused, for this reason, and is going to be repeated.
  virtual void OnRefused(const WorkloadId& workload, const std::string& why) {
    (void)workload;
    (void)why;
  }
  /// The workload needs no rollout, or cannot ask for one now, whatever the reason for looking at
  /// it was. It stops waiting and keeps no place until it asks again.
  virtual void OnNothing(const WorkloadId& workload) = 0;
  /// The workload, in this state, needs no rollout. Otherwise as OnNothing.
  virtual void OnUpToDate(const Workload& workload) { OnNothing(workload.id); }
  /// Tells the gate the present state of a workload; null: the workload was deleted.
  virtual void OnWorkload(const WorkloadId& id, const Workload* workload) = 0;
  /// A source was deleted. Must not block.
  virtual void OnSourceGone(const SourceId& source) { (void)source; }
  /// Returns the keys of a source that count, as reloadpolicy::KeyList writes them; empty: all
  /// keys. `own`: the list in the source's annotation. When a list changes, the gate makes the
  /// operator look at the workloads that it concerns.
  virtual std::string KeysOf(const SourceId& source, const std::string& own) {
    (void)source;
    return own;
  }
  /// Whether only the keys that the workload uses count for it (reloadpolicy::KeyScope). When that
  /// changes, the gate makes the operator look at the workload.
  virtual bool CountsUsedKeysOnly(const Workload& workload) {
    (void)workload;
    return false;
  }
  /// How long the workload's sources must be quiet before the operator acts; std::nullopt: the
  /// operator's own setting applies.
  virtual std::optional<base::Duration> SettleWindow(const WorkloadId& workload) = 0;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_ROLLOUT_GATE_H_
