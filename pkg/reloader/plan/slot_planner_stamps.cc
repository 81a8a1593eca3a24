// What a SlotPlanner concludes from the variables and annotations that a rollout leaves on a
// workload, and from who wrote them.
#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "kubexx/reloader/model/stamps.h"
#include "kubexx/reloader/plan/begun_pods.h"
#include "kubexx/reloader/plan/slot_planner.h"

namespace kubexx::reloader {

bool SlotPlanner::IsRolledUntold(const SlotMember& member, const Slot& slot) const {
  const std::set<std::string>& untold = input_.known.untold_stamps;
  const bool is_stamped =
      input_.rules.by_variables
          ? slot.is_right && untold.contains(slot.variable)
          : IsReloadedAt(member) && untold.contains(std::string(kLastReloadedFrom));
  return (is_stamped && HasMovedOnceTo(input_.known, member.id,
                                       member.keys.empty() ? member.digest : member.whole)) ||
         IsRolledByOthers(member, slot, input_.known.untold_stamps_of_others);
}

bool SlotPlanner::IsRolledByOthers(const SlotMember& member, const Slot& slot,
                                   const std::set<std::string>& set) const {
  const bool is_stamped =
      !set.empty() &&
      (input_.rules.by_variables
           ? slot.is_right && set.contains(slot.variable) && !IsOfPerson(slot.variable)
           : IsReloadedAt(member) && set.contains(std::string(kLastReloadedFrom)) &&
                 !IsOfPerson(std::string(kLastReloadedFrom)));
  if (!is_stamped) {
    return false;
  }
  const auto moves = input_.known.moves.find(member.id);
  const PairState* state = StateOf(member.id);
  const bool has_moved_once = moves != input_.known.moves.end() && member.keys.empty() &&
                              HasMovedOnceTo(input_.known, member.id, member.digest) &&
                              moves->second.back().version == member.object_version &&
                              (state == nullptr || state->digest != UnknownData());
  return has_moved_once || IsOlderThanOwnRollout(member);
}

bool SlotPlanner::IsOlderThanOwnRollout(const SlotMember& member) const {
  const Workload& workload = input_.workload;
  const auto is_later_than = [&](const std::optional<apimachinery::Time>& time) {
    return !time || *workload.own_written > *time;
  };
  if (workload.id.kind == WorkloadKind::kCronJob || !workload.own_written ||
      member.id.type == SourceType::kSecretProviderClass ||
      !is_later_than(workload.template_written) || !is_later_than(workload.undone)) {
    return false;
  }
  const auto written = input_.written_at(member.id);
  return written && *written <= *workload.own_written;
}

std::optional<bool> SlotPlanner::IsMade(const SlotMember& member, const Slot& slot) const {
  std::optional<bool> is_made;
  for (const Attempt& attempt : input_.known.attempts) {
    const auto source = attempt.sources.find(member.id);
    if (source == attempt.sources.end() || source->second != member.digest) {
      continue;
    }
    const bool is_right = input_.rules.by_variables
                              ? slot.is_right && !IsOfPerson(slot.variable)
                              : IsReloadedAt(member) && !IsOfPerson(std::string(kLastReloadedFrom));
    if (HasMark(input_.workload, attempt) || (!attempt.is_in_place && is_right)) {
      return true;
    }
    if (attempt.is_in_place) {
      is_made = false;
    }
  }
  return is_made;
}

bool SlotPlanner::TellsOfOtherData(const SlotMember& member, const Slot& slot) const {
  const bool tells = input_.rules.by_variables ? slot.current != nullptr && !slot.is_of_another
                                               : ReloadedAt(member.id) != nullptr;
  return tells && !slot.is_right && !IsReloadedAt(member);
}

bool SlotPlanner::IsReloadedAt(const SlotMember& member) const {
  const std::string* reloaded_at = ReloadedAt(member.id);
  return reloaded_at != nullptr &&
         (*reloaded_at == member.digest.ToString() ||
          (member.whole != kNoSource && *reloaded_at == member.whole.ToString()));
}

SlotPlanner::Standing SlotPlanner::ByVariable(const SlotMember& member, const Slot& slot) const {
  const std::string* reloaded_at = ReloadedAt(member.id);
  if (reloaded_at != nullptr && !input_.rules.by_variables) {
    if (IsBroughtBack(std::string(kLastReloadedFrom), member) || IsWrittenBeforeUndo(member)) {
      return Standing::kSettled;
    }
    return *reloaded_at == DeleteMarker().ToString() ? Appeared() : Standing::kChanged;
  }
  if (slot.current == nullptr || slot.is_of_another || !input_.rules.by_variables) {
    const bool first_sight = input_.known.is_unplanned && input_.recorded == nullptr &&
                             StateOf(member.id) == nullptr && slot.current == nullptr &&
                             reloaded_at == nullptr;
    return first_sight && input_.rules.sync_after_restart ? Appeared() : Standing::kSettled;
  }
  // An undo that brought another source's variable back began pods as well.
  return IsBroughtBack(slot.variable, member) || IsWrittenBeforeUndo(member) ? Standing::kSettled
                                                                             : Standing::kChanged;
}

bool SlotPlanner::IsOfPerson(const std::string& stamp) const {
  const auto stamper = input_.workload.stampers.find(stamp);
  return stamper != input_.workload.stampers.end() && !stamper->second.is_operator &&
         !stamper->second.is_tool;
}

bool SlotPlanner::IsBroughtBack(const std::string& stamp, const SlotMember& member) const {
  const Workload& workload = input_.workload;
  const bool is_of_person = IsOfPerson(stamp) && !workload.stampers.at(stamp).since.IsZero();
  const bool is_inherited =
      workload.created && (!workload.own_written || *workload.own_written < *workload.created);
  if (!is_of_person && !is_inherited) {
    return false;
  }
  const auto written = input_.written_at(member.id);
  return written && ((is_of_person && *written < workload.stampers.at(stamp).since) ||
                     (is_inherited && *written < *workload.created));
}

bool SlotPlanner::IsOlderThanUndo(const SlotMember& member) const {
  // A CronJob starts nothing when its template changes, and pods report what they have of a class.
  if (input_.workload.id.kind == WorkloadKind::kCronJob ||
      member.id.type == SourceType::kSecretProviderClass) {
    return false;
  }
  apimachinery::Time undone;
  for (const auto& [stamp, stamper] : input_.workload.stampers) {
    if (!stamper.is_operator && !stamper.is_tool) {
      undone = std::max(undone, stamper.since);
    }
  }
  const auto written = undone.IsZero() ? std::nullopt : input_.written_at(member.id);
  return written && *written < undone;
}

bool SlotPlanner::IsWrittenBeforeUndo(const SlotMember& member) const {
  if (!IsOlderThanUndo(member) || !input_.workload.own_written) {
    return false;
  }
  // The removal of a key has no time: then the last write is that of before the last rollout.
  const auto written = input_.written_at(member.id);
  return written && *written >= *input_.workload.own_written;
}

bool SlotPlanner::MayHaveBegunBefore(const SlotMember& member, const PairState& state) const {
  const Knowledge& known = input_.known;
  const bool is_of_same_time = known.template_since != 0 &&
                               member.resource_version >= known.template_since &&
                               member.resource_version < known.template_until;
  return member.id.type != SourceType::kSecretProviderClass &&
         input_.workload.id.kind != WorkloadKind::kCronJob &&
         (state.digest == UnknownData() || is_of_same_time);
}

bool SlotPlanner::IsWrittenBefore(const SlotMember& member,
                                  const std::optional<apimachinery::Time>& time) const {
  const auto written = time ? input_.written_at(member.id) : std::nullopt;
  return written && *written < *time;
}

const std::string* SlotPlanner::ReloadedAt(const SourceId& id) const {
  return input_.reloaded_from && input_.reloaded_from->source == id ? &input_.reloaded_from->hash
                                                                    : nullptr;
}

}  // namespace kubexx::reloader
