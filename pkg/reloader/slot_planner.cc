#include "kubexx/reloader/slot_planner.h"

#include <algorithm>
#include <utility>

namespace kubexx::reloader {
namespace {

using Kind = PairState::Kind;

/// The value of the variable of the members that exist; empty when none does.
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
    if (member.digest != kNoSource || standing == Standing::kChanged) {
      change.sources.emplace_back(member.id, member.digest);
      if (!member.keys.empty()) {
        change.keys[member.id] = member.keys;
      }
    }
  }
  if (!change.causes.empty()) {
    plan_.changes.push_back(std::move(change));
  }
}

SlotPlanner::Standing SlotPlanner::StandingOf(const SlotMember& member, const Slot& slot) const {
  return member.digest == kNoSource ? StandingOfGone(member, slot)
                                    : StandingOfPresent(member, slot);
}

SlotPlanner::Standing SlotPlanner::StandingOfPresent(const SlotMember& member,
                                                     const Slot& slot) const {
  const PairState* state = StateOf(member.id);
  // Confirmed at these data: whatever the workload says now, somebody set it back (kubectl rollout
  // undo, an older manifest); the data did not change.
  const std::string* reloaded_at = ReloadedAt(member.id);
  if (member.settled || slot.is_right ||
      (reloaded_at != nullptr &&
       (*reloaded_at == member.digest.ToString() ||
        (member.whole != kNoSource && *reloaded_at == member.whole.ToString()))) ||
      (state != nullptr && (state->kind == Kind::kUnruled ||
                            (state->kind == Kind::kConfirmed && state->digest == member.digest)))) {
    return Standing::kSettled;
  }
  if (const Digest* recorded = RecordOf(member.id)) {
    if (*recorded == member.digest) {
      return Standing::kSettled;
    }
    return *recorded == kNoSource ? Appeared() : Standing::kChanged;
  }
  if (state != nullptr && state->digest != member.digest) {
    return state->digest == kNoSource ? Appeared() : Standing::kChanged;
  }
  return ByVariable(member, slot);
}

SlotPlanner::Standing SlotPlanner::ByVariable(const SlotMember& member, const Slot& slot) const {
  const std::string* reloaded_at = ReloadedAt(member.id);
  if (reloaded_at != nullptr) {
    return *reloaded_at == DeleteMarker().ToString() ? Appeared() : Standing::kChanged;
  }
  if (slot.current == nullptr || slot.is_of_another) {
    const bool first_sight = input_.known.is_new && input_.recorded == nullptr &&
                             StateOf(member.id) == nullptr && slot.current == nullptr;
    return first_sight && input_.rules.sync_after_restart ? Appeared() : Standing::kSettled;
  }
  return Standing::kChanged;
}

SlotPlanner::Standing SlotPlanner::Appeared() const {
  return input_.rules.reload_on_create ? Standing::kChanged : Standing::kSettled;
}

SlotPlanner::Standing SlotPlanner::StandingOfGone(const SlotMember& member,
                                                  const Slot& slot) const {
  if (input_.rules.reload_on_delete) {
    const auto before = Before(member);
    if (before && before->digest != kNoSource &&
        (slot.current != nullptr || !input_.rules.deletion_needs_variable)) {
      return Standing::kChanged;
    }
    return member.named ? Standing::kSettled : Standing::kGone;
  }
  return member.named ? Standing::kWaits : Standing::kGone;
}

void SlotPlanner::Note(const SlotMember& member, Standing standing, const Slot& slot) {
  const PairState* state = StateOf(member.id);
  switch (standing) {
    case Standing::kSettled:
      if (member.digest != kNoSource || input_.rules.reload_on_create ||
          RecordOf(member.id) != nullptr) {
        plan_.baseline.Set(member.id, member.digest, member.keys);
      }
      plan_.learnt.emplace_back(member.id, PairState{Kind::kConfirmed, member.digest, member.keys});
      plan_.not_updated +=
          slot.is_right && state != nullptr && state->kind == Kind::kObserved ? 1 : 0;
      return;
    case Standing::kChanged:
      if (const auto before = Before(member)) {
        plan_.baseline.Set(member.id, before->digest, before->keys);
      }
      return;
    case Standing::kWaits:
      if (const auto before = Before(member)) {
        plan_.baseline.Set(member.id, before->digest, before->keys);
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

std::optional<PairState> SlotPlanner::Before(const SlotMember& member) const {
  const PairState* state = StateOf(member.id);
  if (state != nullptr && state->kind == Kind::kUnruled) {
    return std::nullopt;
  }
  if (state != nullptr && state->kind == Kind::kConfirmed) {
    return *state;
  }
  if (const Digest* recorded = RecordOf(member.id)) {
    return PairState{Kind::kConfirmed, *recorded, input_.recorded->KeysOf(member.id)};
  }
  return state == nullptr ? std::nullopt : std::optional(*state);
}

const std::string* SlotPlanner::ReloadedAt(const SourceId& id) const {
  return input_.reloaded_from && input_.reloaded_from->source == id ? &input_.reloaded_from->hash
                                                                    : nullptr;
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

}  // namespace kubexx::reloader
