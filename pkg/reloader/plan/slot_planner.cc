#include "kubexx/reloader/plan/slot_planner.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "kubexx/reloader/plan/begun_pods.h"
#include "kubexx/reloader/plan/planner_baseline.h"

namespace kubexx::reloader {
namespace {

using Kind = PairState::Kind;

/// For so long a watch may be behind without anybody noticing it, and the operator be away then.
/// Whoever begins later than that after a rollout does not ask whether its pods began with data
/// that no event had told of: labels of sources are written all the time.
constexpr std::chrono::seconds kMaxBehind = std::chrono::minutes(10);

/// Returns the variable's value for the members that exist, or an empty text when none exists.
std::string ValueFor(const std::vector<SlotMember>& members) {
  std::vector<std::pair<std::string_view, std::string>> digests;
  for (const SlotMember& member : members) {
    if (member.digest != kNoSource) {
      digests.emplace_back(member.id.key.name, member.digest.ToString());
    }
  }
  if (digests.size() < 2) {
    return digests.empty() ? std::string() : digests.front().second;
  }
  DigestBuilder builder;
  for (const auto& [name, digest] : digests) {
    builder.Add(name, digest);
  }
  return builder.Finish().ToString();
}

}  // namespace

void SlotPlanner::Run(std::size_t container, const std::string& variable,
                      const std::vector<SlotMember>& members) {
  const Container& where = input_.workload.containers[container];
  const std::string value = ValueFor(members);
  const std::string* current = FindVariable(where, variable);
  const Slot slot{
      .variable = variable,
      .current = current,
      .is_right = current != nullptr && !value.empty() &&
                  (*current == value || (members.size() == 1 && members[0].whole != kNoSource &&
                                         members[0].whole.ToString() == *current)),
      .is_of_another = current != nullptr && members.size() > 1 &&
                       std::ranges::any_of(members, [&](const SlotMember& member) {
                         return member.digest.ToString() == *current;
                       })};
  Change change{
      .container = where.name, .variable = variable, .value = value, .remove = value.empty()};
  for (const SlotMember& member : members) {
    const Standing standing = StandingOf(member, slot);
    Note(member, standing, slot);
    if (standing == Standing::kChanged) {
      change.causes.push_back(member.id);
    }
    if ((standing == Standing::kChanged || standing == Standing::kSettled) &&
        MayBeOlderThanRecord(member, slot)) {
      plan_.doubtful[member.id] = member.keys.empty() ? member.digest : member.whole;
    }
    if (member.digest != kNoSource || standing == Standing::kChanged) {
      change.sources.emplace_back(member.id, member.digest);
      if (!member.keys.empty()) {
        change.keys[member.id] = member.keys;
      }
      if (member.object_version != 0 && IsOfDeployment(input_.workload)) {
        change.versions[member.id] = member.object_version;
      }
    }
  }
  if (!change.causes.empty()) {
    plan_.changes.push_back(std::move(change));
  }
}

SlotPlanner::Standing SlotPlanner::StandingOf(const SlotMember& member, const Slot& slot) const {
  if (member.digest == kNoSource) {
    return StandingOfGone(member, slot);
  }
  const Standing standing = StandingOfPresent(member, slot);
  if (standing == Standing::kSettled && IsMixed(member, slot)) {
    // Where somebody has made all pods anew, an event is going to tell of it.
    return input_.known.has_untold_template ? Standing::kUntold : Standing::kChanged;
  }
  // The knowledge is about pods from before the template, of which no event has told yet.
  return standing == Standing::kChanged && input_.known.has_untold_template &&
                 IsOlderThanUndo(member)
             ? Standing::kUntold
             : standing;
}

SlotPlanner::Standing SlotPlanner::StandingOfPresent(const SlotMember& member,
                                                     const Slot& slot) const {
  const PairState* state = StateOf(member.id);
  if (member.settled || IsOlderThanPods(member) ||
      IsRolledByOthers(member, slot, input_.known.stamps_of_others)) {
    return Standing::kSettled;
  }
  if (IsRolledUntold(member, slot)) {
    return Standing::kUntold;
  }
  // These two know with which data the pods began. The template may have been set back since, by
  // `kubectl rollout undo` or an older manifest.
  if (state != nullptr && state->kind == Kind::kConfirmed) {
    // Its event is on its way, and the pods that the memory knows of are older.
    if (input_.known.has_later_deployment && state->digest != member.digest &&
        IsRolledAt(input_.workload, member.id, member.object_version)) {
      return Standing::kUntold;
    }
    const bool may_be_older = state->digest != member.digest && MayHaveBegunBefore(member, *state);
    if (may_be_older && IsRecordedSinceLastWrite(member)) {
      return Standing::kSettled;  // whoever recorded it knew more
    }
    // What it knows is of the data before and after writes during which the pods may have begun.
    // So it asks what one that knows nothing would ask.
    const bool is_doubted = MayHaveBegunUnseen(input_.known, member.id) &&
                            state->digest == member.digest && IsTold(member) &&
                            MayHaveComeBack(member, false);
    // A list may have told of a change and of an undo together. Their times tell which was first.
    if (may_be_older &&
        (IsOlderThanUndo(member) || IsWrittenBefore(member, input_.workload.undone))) {
      return Standing::kSettled;
    }
    return is_doubted ? Standing::kChanged : Since(state->digest, member);
  }
  const bool has_changed = state != nullptr && state->digest != member.digest;
  const std::optional<bool> is_made = IsMade(member, slot);
  // The template was written before its baseline, which is on the Rollout.
  if (IsOfDeployment(input_.workload) &&
      (is_made == true || IsRolledAt(input_.workload, member.id, member.object_version))) {
    return Standing::kSettled;
  }
  if (const Digest* recorded = RecordOf(member.id)) {
    // Times are used only when they decide. They do not decide about a change that this process has
    // seen: if the pods were younger, it would know that from the order of versions. The removal of
    // a key has no time, and the clocks of API servers differ.
    if (IsTold(member)) {
      return MayHaveComeBack(member, has_changed) ? Standing::kChanged : Standing::kSettled;
    }
    return !has_changed && IsOlderThanUndo(member) ? Standing::kSettled
                                                   : ByRecord(*recorded, member);
  }
  if (is_made == true) {
    return Standing::kSettled;  // the mark of that write is there, and its record was taken away
  }
  if (is_made == false && has_changed) {
    return Since(state->digest, member);  // a variable that is right was right before
  }
  const bool is_seen = has_changed && state->kind == Kind::kObserved;
  if ((slot.is_right && !(is_seen && IsOfPerson(slot.variable))) ||
      (IsReloadedAt(member) && !(is_seen && IsOfPerson(std::string(kLastReloadedFrom))))) {
    return Standing::kSettled;
  }
  if (has_changed) {
    return Since(state->digest, member);
  }
  return ByVariable(member, slot);
}

bool SlotPlanner::IsOlderThanPods(const SlotMember& member) const {
  // A CronJob starts nothing when its template changes.
  return input_.workload.id.kind != WorkloadKind::kCronJob && member.resource_version != 0 &&
         member.resource_version < input_.known.template_since;
}

SlotPlanner::Standing SlotPlanner::Since(const Digest& digest, const SlotMember& member) const {
  return digest == member.digest ? Standing::kSettled
         : digest == kNoSource   ? Appeared()
                                 : Standing::kChanged;
}

SlotPlanner::Standing SlotPlanner::ByRecord(const Digest& recorded,
                                            const SlotMember& member) const {
  // Pods report what they have of a SecretProviderClass, so there is nothing to conclude.
  if (!input_.workload.baseline_restored || member.id.type == SourceType::kSecretProviderClass) {
    return Since(recorded, member);
  }
  // The baseline describes pods that are gone. The pods that run began when it was restored.
  if (const PairState* state = StateOf(member.id);
      state != nullptr && state->digest != member.digest) {
    return Since(state->digest, member);
  }
  const auto written = input_.written_at(member.id);
  if (written && *written < *input_.workload.baseline_restored) {
    return Standing::kSettled;
  }
  return recorded == kNoSource ? Appeared() : Standing::kChanged;
}

bool SlotPlanner::IsTold(const SlotMember& member) const {
  const Digest* recorded = RecordOf(member.id);
  return recorded != nullptr && *recorded == member.digest && !input_.workload.baseline_restored;
}

bool SlotPlanner::IsRecordedSinceLastWrite(const SlotMember& member) const {
  return input_.known.template_since != 0 && IsTold(member) && member.object_version != 0 &&
         member.object_version <= RecordedVersionOf(member.id) &&
         !IsOfDeployment(input_.workload) && input_.workload.id.kind != WorkloadKind::kCronJob;
}

bool SlotPlanner::IsMixed(const SlotMember& member, const Slot& slot) const {
  if (!input_.known.mixed.contains(member.id) || member.settled || IsOlderThanPods(member) ||
      IsRolledByOthers(member, slot, input_.known.stamps_of_others)) {
    return false;
  }
  const bool is_rolled = IsMade(member, slot) == true ||  // the event of that write is on its way
                         (IsOfDeployment(input_.workload) && input_.known.has_later_deployment &&
                          IsRolledAt(input_.workload, member.id, member.object_version));
  return !is_rolled;
}

bool SlotPlanner::MayHaveComeBack(const SlotMember& member, bool has_changed) const {
  const Workload& workload = input_.workload;
  const std::uint64_t seen = RecordedVersionOf(member.id);
  if (seen == 0 || member.object_version <= seen ||
      !IsRecordOlderThanPods(workload, *input_.recorded)) {
    return false;
  }
  const bool is_of_jobs = workload.id.kind == WorkloadKind::kCronJob;
  if (is_of_jobs && !workload.own_written) {
    return false;  // nobody says when the last one was made
  }
  const bool is_rolled =
      is_of_jobs || (workload.own_written && *workload.own_written >= *workload.template_written);
  const bool is_seen = has_changed && StateOf(member.id)->kind == Kind::kObserved;
  // Whoever has undone or restarted a rollout since then wants the pods as they are, with the data
  // of that moment.
  const bool is_undone =
      workload.undone &&
      *workload.undone >= (is_rolled ? *workload.own_written : *workload.template_written);
  // The pods are older than the snapshot of the data that were put back, and all workloads ran with
  // these data when it was taken.
  const apimachinery::Time& began = is_undone   ? *workload.undone
                                    : is_rolled ? *workload.own_written
                                                : *workload.template_written;
  if (member.restored_from && began < *member.restored_from) {
    return false;
  }
  // The pods are older than the change that this process has seen, as below.
  if (!is_rolled && !is_undone && is_seen) {
    return true;
  }
  const auto written = input_.written_at(member.id);
  if (!written) {
    return false;
  }
  if (is_undone) {
    return *written > *workload.undone;
  }
  // Times are whole seconds. A rollout mostly follows the data that it is for within one, so there
  // the same second says nothing; a release does not.
  return is_rolled ? *written > *workload.own_written &&
                         written->seconds <= workload.own_written->seconds + kMaxBehind.count()
                   : *written >= *workload.template_written;
}

bool SlotPlanner::IsAheadOfRecord(const SlotMember& member) const {
  if (const Digest* recorded = RecordOf(member.id)) {
    return *recorded != member.digest || input_.workload.baseline_restored.has_value();
  }
  const PairState* state = StateOf(member.id);
  return state != nullptr && state->kind == Kind::kConfirmed && state->is_ahead_of_record;
}

bool SlotPlanner::MayBeOlderThanRecord(const SlotMember& member, const Slot& slot) const {
  const PairState* state = StateOf(member.id);
  const bool is_certain =
      state != nullptr && state->kind == Kind::kConfirmed && state->is_ahead_of_record;
  const Digest* recorded = RecordOf(member.id);
  if (is_certain || member.id.type == SourceType::kSecretProviderClass ||
      (recorded != nullptr && *recorded == member.digest)) {
    return false;
  }
  if (recorded == nullptr && TellsOfOtherData(member, slot)) {
    return true;
  }
  // A record that exists and has no entry of this source had no room or no reason for one.
  const bool is_of_record =
      input_.known.record_at != 0 && (recorded != nullptr || input_.recorded == nullptr);
  if (!is_of_record) {
    return false;
  }
  // For a source that does not exist, nothing tells since when it does not.
  const bool is_newer =
      member.digest != kNoSource &&
      (member.resource_version == 0 || member.resource_version > input_.known.record_at);
  return !is_newer;
}

SlotPlanner::Standing SlotPlanner::Appeared() const {
  return input_.rules.reload_on_create ? Standing::kChanged : Standing::kSettled;
}

SlotPlanner::Standing SlotPlanner::StandingOfGone(const SlotMember& member,
                                                  const Slot& slot) const {
  if (input_.rules.reload_on_delete) {
    const auto before = Before(member);
    if (before && before->digest != kNoSource) {
      // Without a variable there is nothing to remove, so there is no rollout, as in
      // stakater/Reloader. If the source is made anew with other data, that is an ordinary change.
      return slot.current != nullptr || !input_.rules.by_variables ? Standing::kChanged
             : member.named                                        ? Standing::kWaits
                                                                   : Standing::kGone;
    }
    return member.named ? Standing::kSettled : Standing::kGone;
  }
  return member.named ? Standing::kWaits : Standing::kGone;
}

void SlotPlanner::Note(const SlotMember& member, Standing standing, const Slot& slot) {
  const PairState* state = StateOf(member.id);
  switch (standing) {
    case Standing::kSettled:
      if (MayHaveBegunUnseen(input_.known, member.id)) {
        plan_.judged_writes.insert(*input_.known.unseen_writes.find(member.id));
      }
      if (member.digest != kNoSource || input_.rules.reload_on_create ||
          RecordOf(member.id) != nullptr) {
        // Another replica may have seen more.
        const Digest* recorded = RecordOf(member.id);
        const bool is_same = recorded != nullptr && *recorded == member.digest;
        plan_.baseline.Set(member.id, member.digest, member.keys,
                           std::max(member.object_version,
                                    is_same ? RecordedVersionOf(member.id) : std::uint64_t{0}));
      }
      plan_.learnt.emplace_back(member.id, PairState{.kind = Kind::kConfirmed,
                                                     .digest = member.digest,
                                                     .keys = member.keys,
                                                     .is_ahead_of_record = IsAheadOfRecord(member),
                                                     .taken_at = TakenAt(member, slot)});
      plan_.not_updated +=
          slot.is_right && state != nullptr && state->kind == Kind::kObserved ? 1 : 0;
      return;
    case Standing::kChanged:
      plan_.has_uncertain_changes = plan_.has_uncertain_changes || !IsCertainOfRecord(member.id);
      if (const auto before = Before(member)) {
        KeepBefore(member.id, *before, IsDescribed(member.id.type));
      }
      return;
    case Standing::kUntold:
      plan_.seen.erase(member.id);  // its event counts them
      if (const Digest* recorded = RecordOf(member.id)) {
        KeepBefore(member.id, {.digest = *recorded, .keys = input_.recorded->KeysOf(member.id)},
                   IsRecordedAsDue(member.id));
        plan_.is_partly_unknown = true;
      }
      return;
    case Standing::kWaits:
      if (const auto before = Before(member)) {
        KeepBefore(member.id, *before, IsRecordedAsDue(member.id));
      } else if (input_.rules.reload_on_create && slot.current == nullptr) {
        plan_.baseline.Set(member.id, kNoSource, {});
        plan_.learnt.emplace_back(member.id, PairState{Kind::kObserved, kNoSource});
      }
      return;
    case Standing::kGone:
      if (state != nullptr) {
        plan_.dropped.push_back(member.id);
      }
      return;
  }
}

void SlotPlanner::KeepBefore(const SourceId& id, const PairState& before, bool is_due) {
  plan_.baseline.Set(id, before.digest, before.keys, RecordedVersionOf(id));
  if (is_due) {
    plan_.baseline.due.insert(id);
  }
}

bool SlotPlanner::IsRecordedAsDue(const SourceId& id) const {
  return input_.recorded != nullptr && input_.recorded->IsDue(id);
}

bool SlotPlanner::IsCertainOfRecord(const SourceId& id) const {
  const PairState* state = StateOf(id);
  const Digest* recorded = RecordOf(id);
  return state != nullptr && state->kind == Kind::kConfirmed && recorded != nullptr &&
         *recorded == state->digest && !input_.workload.baseline_restored &&
         !input_.known.mixed.contains(id) && !MayHaveBegunUnseen(input_.known, id);
}

std::uint64_t SlotPlanner::TakenAt(const SlotMember& member, const Slot& slot) const {
  if (const PairState* state = StateOf(member.id)) {
    return state->taken_at;
  }
  // The conditions are those of StandingOfPresent and ByVariable.
  const bool is_told = input_.rules.by_variables ? slot.current != nullptr && !slot.is_of_another
                                                 : ReloadedAt(member.id) != nullptr;
  const bool is_known = RecordOf(member.id) != nullptr || slot.is_right || IsReloadedAt(member) ||
                        is_told || member.settled || IsOlderThanPods(member);
  return is_known ? 0 : member.resource_version;
}

std::optional<PairState> SlotPlanner::Before(const SlotMember& member) const {
  const PairState* state = StateOf(member.id);
  if (input_.known.mixed.contains(member.id)) {
    return PairState{Kind::kConfirmed, UnknownData(), member.keys};
  }
  if (state != nullptr && state->kind == Kind::kConfirmed) {
    return *state;
  }
  if (const Digest* recorded = RecordOf(member.id)) {
    if (input_.workload.baseline_restored && *recorded != kNoSource) {
      return PairState{Kind::kConfirmed, UnknownData(), member.keys};
    }
    return PairState{Kind::kConfirmed, *recorded, input_.recorded->KeysOf(member.id)};
  }
  return state == nullptr ? std::nullopt : std::optional(*state);
}

const PairState* SlotPlanner::StateOf(const SourceId& id) const {
  const auto found = input_.known.pairs.find(id);
  return found == input_.known.pairs.end() ? nullptr : &found->second;
}

const Digest* SlotPlanner::RecordOf(const SourceId& id) const {
  if (input_.recorded == nullptr) {
    return nullptr;
  }
  const auto found = input_.recorded->digests.find(id);
  return found == input_.recorded->digests.end() ? nullptr : &found->second;
}

std::uint64_t SlotPlanner::RecordedVersionOf(const SourceId& id) const {
  return input_.recorded == nullptr ? 0 : input_.recorded->VersionOf(id);
}

}  // namespace kubexx::reloader
