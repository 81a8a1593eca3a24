#include "kubexx/reloader/planner.h"

#include <algorithm>
#include <set>

#include "kubexx/reloader/env_var.h"

namespace kubexx::reloader {
namespace {

/// One variable of one container, and with it the sources that share it.
using Slot = std::pair<std::size_t, std::string>;  // container, variable

bool HasVariableOf(const Workload& workload, SourceType type) {
  const std::string suffix = "_" + std::string(NamesOf(type).upper);
  return std::ranges::any_of(workload.containers, [&](const Container& container) {
    return std::ranges::any_of(container.variables, [&](const EnvVar& variable) {
      return variable.name.ends_with(suffix);
    });
  });
}

/// Everything that can concern the workload; whether it does is for Decide to say.
std::set<SourceId> Candidates(const Workload& workload, const SourceLookup& sources,
                              const PairStates& states, const AnnotationKeys& keys) {
  std::set<SourceId> candidates;
  for (const auto& [id, state] : states) {
    candidates.insert(id);
  }
  for (SourceId& id : ReferencedSources(workload)) {
    candidates.insert(std::move(id));
  }
  const std::string& ns = workload.id.key.namespace_;
  for (const SourceType type : kSourceTypes) {
    ReloadList list = ReloadListOf(workload, type, keys);
    for (std::string& name : list.names) {
      candidates.insert({type, {ns, std::move(name)}});
    }
    if (list.has_patterns && HasVariableOf(workload, type)) {
      for (std::string& name : sources.names(type)) {
        candidates.insert({type, {ns, std::move(name)}});
      }
    }
  }
  return candidates;
}

std::string ValueFor(const std::vector<Source>& members) {
  if (members.size() == 1) {
    return members.front().digest.ToString();
  }
  std::vector<std::string> digests;
  digests.reserve(members.size());
  for (const Source& source : members) {
    digests.push_back(source.digest.ToString());
  }
  DigestBuilder builder;
  for (std::size_t i = 0; i < members.size(); ++i) {
    builder.Add(members[i].id.key.name, digests[i]);
  }
  return builder.Finish().ToString();
}

/// Plans one variable. Pure.
class SlotPlanner {
 public:
  SlotPlanner(const Workload& workload, const PairStates& states, Plan& plan)
      : workload_(workload), states_(states), plan_(plan) {}

  void Run(const Slot& slot, const std::vector<Source>& members) {
    const Container& container = workload_.containers[slot.first];
    const std::string* current = FindVariable(container, slot.second);
    const std::string value = ValueFor(members);
    if (current != nullptr && *current == value) {
      for (const Source& source : members) {
        plan_.confirmed.emplace_back(source.id, source.digest);
        plan_.not_updated += HasState(source, PairState::Kind::kObserved) ? 1 : 0;
      }
      return;
    }
    std::vector<SourceId> causes = Causes(members, current);
    if (causes.empty()) {
      return;
    }
    Change change{container.name, slot.second, value, {}, std::move(causes)};
    for (const Source& source : members) {
      change.sources.emplace_back(source.id, source.digest);
    }
    plan_.changes.push_back(std::move(change));
  }

 private:
  const PairState* StateOf(const Source& source) const {
    const auto found = states_.find(source.id);
    return found == states_.end() ? nullptr : &found->second;
  }
  bool HasState(const Source& source, PairState::Kind kind) const {
    const PairState* state = StateOf(source);
    return state != nullptr && state->kind == kind;
  }

  std::vector<SourceId> Causes(const std::vector<Source>& members,
                               const std::string* current) const {
    const bool shared = members.size() > 1;
    // Absent, or written by stakater/Reloader for one of several: only an observed change counts.
    const bool by_state_only =
        current == nullptr || (shared && std::ranges::any_of(members, [&](const Source& source) {
                                 return source.digest.ToString() == *current;
                               }));
    std::vector<SourceId> causes;
    for (const Source& source : members) {
      const PairState* state = StateOf(source);
      const bool changed = state != nullptr && state->digest != source.digest;
      const bool confirmed = state != nullptr && state->kind == PairState::Kind::kConfirmed &&
                             state->digest == source.digest;
      if (by_state_only ? changed : !confirmed) {
        causes.push_back(source.id);
      }
    }
    return causes;
  }

  const Workload& workload_;
  const PairStates& states_;
  Plan& plan_;
};

}  // namespace

Plan MakePlan(const Workload& workload, const SourceLookup& sources, const PairStates& states,
              const DecisionRules& rules, PatternCache& patterns) {
  Plan plan;
  std::map<Slot, std::vector<Source>> slots;
  for (const SourceId& id : Candidates(workload, sources, states, rules.keys)) {
    auto source = sources.get(id);
    const Verdict verdict =
        source ? Decide(*source, workload, rules, patterns, plan.bad_items) : Verdict::kNoRule;
    if (!Reloads(verdict)) {
      if (states.contains(id)) {
        plan.dropped.push_back(id);
      }
      continue;
    }
    const auto container =
        ChooseContainer(workload, id.type, id.key.name, verdict == Verdict::kExplicit);
    if (!container) {
      if (states.contains(id)) {
        plan.dropped.push_back(id);
        ++plan.not_updated;
      }
      continue;
    }
    slots[{*container, EnvVarName(id.type, id.key.name)}].push_back(*std::move(source));
  }
  SlotPlanner planner(workload, states, plan);
  for (const auto& [slot, members] : slots) {
    planner.Run(slot, members);
  }
  std::ranges::sort(plan.bad_items, {}, &BadItem::item);
  const auto rest = std::ranges::unique(plan.bad_items);
  plan.bad_items.erase(rest.begin(), rest.end());
  return plan;
}

ReloadList ReloadListOf(const Workload& workload, SourceType type, const AnnotationKeys& keys) {
  ReloadList result;
  const std::string* value = Find(EffectiveAnnotations(workload, type, keys), keys.Reload(type));
  if (value == nullptr) {
    return result;
  }
  AnyItem(*value, [&](std::string_view item) {
    if (!IsPlainItem(item)) {
      result.has_patterns = true;
    } else if (!item.empty()) {
      result.names.emplace_back(item);
    }
    return false;
  });
  return result;
}

}  // namespace kubexx::reloader
