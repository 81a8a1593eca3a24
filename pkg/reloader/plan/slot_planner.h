/// @file
/// Plans one environment variable of a workload.
#ifndef KUBEXX_RELOADER_PLAN_SLOT_PLANNER_H_
#define KUBEXX_RELOADER_PLAN_SLOT_PLANNER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kubexx/apimachinery/time.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/reloader/plan/baseline.h"
#include "kubexx/reloader/plan/decision.h"
#include "kubexx/reloader/plan/planner.h"
#include "kubexx/reloader/plan/strategy.h"

namespace kubexx::reloader {

/// A source, existing or not, for which a rule says that the workload is to be rolled.
struct SlotMember {
  SourceId id{};
  Digest digest{};  ///< kNoSource: the source does not exist
  /// The version of the source's data, or a later one of the source: see Source::resource_version.
  std::uint64_t resource_version = 0;
  std::uint64_t object_version = 0;  ///< Source::resource_version
  std::string keys{};                ///< the list of keys that `digest` covers; empty: all
  Digest whole{};                    ///< with `keys`: the digest of all data
  /// The workload mentions the source by name, so it waits for the source while that does not
  /// exist.
  bool named = false;
  /// No difference of this source counts as a change: its present data become the workload's
  /// baseline.
  bool settled = false;
  /// Source::settled.
  std::optional<apimachinery::Time> restored_from{};
};

/// Plans one variable after the other. Keeps references to its arguments. Pure.
class SlotPlanner {
 public:
  struct Input {
    const Workload& workload;
    /// The workload's baseline if it is valid for this object; null otherwise.
    const Baseline* recorded;
    /// See DigestsOver::WrittenAt.
    base::FunctionRef<std::optional<apimachinery::Time>(const SourceId&)> written_at;
    const Knowledge& known;
    const DecisionRules& rules;
    /// The source that the last rollout with the strategy annotations was for, and its digest then.
    std::optional<ReloadedFrom> reloaded_from{};
  };
  SlotPlanner(const Input& input, Plan& plan) : input_(input), plan_(plan) {}

  /// Plans the variable that `members` share, in container number `container`.
  void Run(std::size_t container, const std::string& variable,
           const std::vector<SlotMember>& members);

 private:
  /// How the workload and a source compare.
  enum class Standing : std::uint8_t {
    kSettled,  ///< the workload runs with the present data
    kChanged,  ///< the workload runs with other data: roll it
    /// The workload runs with the present data by a rollout, or by its undo, of which the memory is
    /// still to be told.
    kUntold,
    kWaits,  ///< the source does not exist; nothing to do until it is created again
    kGone,   ///< the source does not exist, and nothing about it is to be remembered
  };
  /// The variable as it is on the workload at present.
  struct Slot {
    const std::string& variable;
    const std::string* current;
    bool is_right;       ///< it has the value that follows from the members' digests
    bool is_of_another;  ///< it is shared, and has the plain digest of one of the members
  };

  Standing StandingOf(const SlotMember& member, const Slot& slot) const;
  Standing StandingOfPresent(const SlotMember& member, const Slot& slot) const;
  Standing StandingOfGone(const SlotMember& member, const Slot& slot) const;
  /// How the source's present data compare with data of the digest `digest` that the workload has
  /// had.
  Standing Since(const Digest& digest, const SlotMember& member) const;
  /// The same by the digest that the baseline on the workload records.
  Standing ByRecord(const Digest& recorded, const SlotMember& member) const;
  /// Whether the baseline contradicts that the workload runs with the present data. Where the
  /// baseline has nothing of the source: whether that was so when it had.
  bool IsAheadOfRecord(const SlotMember& member) const;
  /// Whether last-reloaded-from contains the digest of the present data.
  bool IsReloadedAt(const SlotMember& member) const;
  /// Whether the present data are older than the pods, so that the pods started with them.
  bool IsOlderThanPods(const SlotMember& member) const;
  Standing ByVariable(const SlotMember& member, const Slot& slot) const;
  /// Whether neither the operator nor a tool wrote this variable or annotation of a rollout: it
  /// came back when somebody undid a rollout, and says nothing of the pods that began then. A
  /// change that this process has seen counts more than it.
  bool IsOfPerson(const std::string& stamp) const;
  /// Whether somebody other than the operator restored this variable or annotation of a rollout
  /// after the present data were written, so that the pods, which started then, have these data; or
  /// began with a Deployment's template that had it already.
  bool IsBroughtBack(const std::string& stamp, const SlotMember& member) const;
  /// Whether somebody brought any variable or annotation of a rollout back after the present data
  /// were written. Then the pods have these data, though the baseline does not say so: the undo of
  /// a DaemonSet or StatefulSet brings no annotations of the workload back.
  bool IsOlderThanUndo(const SlotMember& member) const;
  /// The same where a write since the operator's last rollout explains that the data are others
  /// than the variable says.
  bool IsWrittenBeforeUndo(const SlotMember& member) const;
  /// Whether the workload's own baseline names the present data of the source.
  bool IsTold(const SlotMember& member) const;
  /// Whether the workload's own baseline names the present data of the source as of its last write.
  /// Pods that began later have these data. Whoever wrote the baseline knew the data of the pods
  /// before: the API server refuses a baseline for an older version of the workload. So it does not
  /// hold of a Rollout with the template of a Deployment, nor of a CronJob, whose pods are younger,
  /// nor of pods of several templates, of which some are older: their beginning is not known.
  bool IsRecordedSinceLastWrite(const SlotMember& member) const;
  /// Whether the source's data may have been others than the baseline's when the pods began,
  /// although they are the baseline's now. See MakePlan.
  /// `has_changed`: this process has seen a change since it began, from which the present data
  /// came.
  bool MayHaveComeBack(const SlotMember& member, bool has_changed) const;
  /// Whether pods have begun while a change of the source was left due, beside others from before
  /// it (Knowledge::mixed), and nothing shows that all pods were made anew since then.
  bool IsMixed(const SlotMember& member, const Slot& slot) const;
  /// See Plan::doubtful.
  bool MayBeOlderThanRecord(const SlotMember& member, const Slot& slot) const;
  /// Whether the template was rolled for other data of this source than the present ones.
  bool TellsOfOtherData(const SlotMember& member, const Slot& slot) const;
  /// Whether another replica has rolled the workload for the present data, as a template says of
  /// which no event has told yet.
  bool IsRolledUntold(const SlotMember& member, const Slot& slot) const;
  /// Whether another replica has rolled the workload for the present data, as a template says that
  /// may have been written several times since, and of which `set` are the stamps of other
  /// replicas: the source had not had these data before its last change, and has not been written
  /// since then, so that whatever pods began after the rollout have them; or the present pods began
  /// with a rollout after these data were written.
  bool IsRolledByOthers(const SlotMember& member, const Slot& slot,
                        const std::set<std::string>& set) const;
  /// Whether nothing tells if the pods began before or after the present data were written: `state`
  /// says so, or the versions of both are within one change that a list told of.
  bool MayHaveBegunBefore(const SlotMember& member, const PairState& state) const;
  /// Whether the present data were written in an earlier second than that.
  bool IsWrittenBefore(const SlotMember& member,
                       const std::optional<apimachinery::Time>& time) const;
  /// Whether the operator was the last to write the pod template, and did so not before the second
  /// in which the present data were written.
  bool IsOlderThanOwnRollout(const SlotMember& member) const;
  /// Whether a write that was sent for the present data, and whose outcome is not known, was made.
  /// False only when the variables do not tell it; std::nullopt: nothing is known of such a write.
  std::optional<bool> IsMade(const SlotMember& member, const Slot& slot) const;
  /// How a source that was known not to exist counts now that it exists.
  Standing Appeared() const;
  /// The digest in last-reloaded-from if it is about this source; null otherwise.
  const std::string* ReloadedAt(const SourceId& id) const;
  /// Adds to the plan what follows from `standing`.
  void Note(const SlotMember& member, Standing standing, const Slot& slot);
  /// Has the plan's baseline say that the workload still runs with what it ran with before.
  /// `is_due`: see Baseline::due.
  void KeepBefore(const SourceId& id, const PairState& before, bool is_due);
  bool IsRecordedAsDue(const SourceId& id) const;
  /// The value for PairState::taken_at.
  std::uint64_t TakenAt(const SlotMember& member, const Slot& slot) const;
  /// What the workload ran with before the present data; std::nullopt when it is not known.
  std::optional<PairState> Before(const SlotMember& member) const;
  /// Whether this process knows for certain that the pods have the data of the baseline.
  bool IsCertainOfRecord(const SourceId& id) const;
  const PairState* StateOf(const SourceId& id) const;
  const Digest* RecordOf(const SourceId& id) const;
  /// The version up to which the writer of the baseline has seen the source; 0: not known.
  std::uint64_t RecordedVersionOf(const SourceId& id) const;

  const Input input_;
  Plan& plan_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_SLOT_PLANNER_H_
