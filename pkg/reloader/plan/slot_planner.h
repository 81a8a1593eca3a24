/// @file
/// The part of planning that is about one variable.
#ifndef KUBEXX_RELOADER_PLAN_SLOT_PLANNER_H_
#define KUBEXX_RELOADER_PLAN_SLOT_PLANNER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kubexx/apimachinery/time.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/reloader/plan/baseline.h"
#include "kubexx/reloader/plan/decision.h"
#include "kubexx/reloader/plan/planner.h"
#include "kubexx/reloader/plan/strategy.h"

namespace kubexx::reloader {

/// A source that a rule of the workload asks for, existing or not.
struct SlotMember {
  SourceId id{};
  Digest digest{};                     ///< kNoSource: it does not exist
  std::uint64_t resource_version = 0;  ///< as Source::resource_version
  std::string keys{};                  ///< that `digest` is over; empty: all
  Digest whole{};                      ///< with `keys`: the digest over all
  /// The workload mentions it by name, so it is waited for while it does not exist.
  bool named = false;
  /// Nothing about it is a change: what the workload runs with becomes its baseline.
  bool settled = false;
};

/// Plans one variable after the other. Refers to what it is given. Pure.
class SlotPlanner {
 public:
  struct Input {
    const Workload& workload;
    /// The workload's, believed; null when there is none.
    const Baseline* recorded;
    /// As DigestsOver::WrittenAt.
    base::FunctionRef<std::optional<apimachinery::Time>(const SourceId&)> written_at;
    const Knowledge& known;
    const DecisionRules& rules;
    /// The source of the last rollout with strategy annotations, and the digest then.
    std::optional<ReloadedFrom> reloaded_from{};
  };
  SlotPlanner(const Input& input, Plan& plan) : input_(input), plan_(plan) {}

  /// Plans the variable of `members`, which share it, in container number `container`.
  void Run(std::size_t container, const std::string& variable,
           const std::vector<SlotMember>& members);

 private:
  enum class Standing : std::uint8_t {
    kSettled,  ///< the workload runs with the present data
    kChanged,  ///< it does not: roll
    kWaits,    ///< the source is gone; nothing to do until it is back
    kGone,     ///< the source is gone and nothing is kept of it
  };
  /// The variable as it is on the workload.
  struct Slot {
    const std::string& variable;
    const std::string* current;
    bool is_right;       ///< it has the value that the members give
    bool is_of_another;  ///< it is shared and has the plain digest of one of the members
  };

  Standing StandingOf(const SlotMember& member, const Slot& slot) const;
  Standing StandingOfPresent(const SlotMember& member, const Slot& slot) const;
  Standing StandingOfGone(const SlotMember& member, const Slot& slot) const;
  /// What became of a source since the workload had data of `digest`.
  Standing Since(const Digest& digest, const SlotMember& member) const;
  Standing ByRecord(const Digest& recorded, const SlotMember& member) const;
  /// Whether the baseline says something else than that the workload has the present data.
  bool IsAheadOfRecord(const SlotMember& member) const;
  /// Whether last-reloaded-from tells of the present data.
  bool IsReloadedAt(const SlotMember& member) const;
  /// Whether the pods began after the present data were written.
  bool IsOlderThanPods(const SlotMember& member) const;
  Standing ByVariable(const SlotMember& member, const Slot& slot) const;
  /// Whether somebody else brought the stamp back after the present data were written, so that the
  /// pods that began then have them.
  bool IsBroughtBack(const std::string& stamp, const SlotMember& member) const;
  /// See Plan::doubtful.
  bool MayBeOlderThanRecord(const SlotMember& member) const;
  Standing Appeared() const;
  /// The digest in last-reloaded-from, if that is about the source.
  const std::string* ReloadedAt(const SourceId& id) const;
  void Note(const SlotMember& member, Standing standing, const Slot& slot);
  /// See PairState.
  std::uint64_t TakenAt(const SlotMember& member, const Slot& slot) const;
  /// What the workload ran with before the present data, if that is known.
  std::optional<PairState> Before(const SlotMember& member) const;
  const PairState* StateOf(const SourceId& id) const;
  const Digest* RecordOf(const SourceId& id) const;

  const Input input_;
  Plan& plan_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_SLOT_PLANNER_H_
