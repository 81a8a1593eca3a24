#include "kubexx/reloadpolicy/policy_set.h"

#include <algorithm>
#include <utility>

#include "kubexx/reloadpolicy/internal/layers.h"

namespace kubexx::reloadpolicy {

using internal::Layers;
using internal::Speaker;

namespace {

/// The order that the rules of a policy give to a workload.
std::optional<int> OrderIn(const Policy& policy, const ObjectRef& workload) {
  for (const OrderRule& rule : policy.order) {
    for (const std::string& pattern : rule.workloads) {
      if (MatchesWorkload(pattern, workload)) {
        return rule.order;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

void PolicySet::Set(Policy policy) {
  const PolicyId id = policy.id;
  policies_.insert_or_assign(id, std::move(policy));
}

bool PolicySet::Remove(const PolicyId& id) { return policies_.erase(id) > 0; }

const Policy* PolicySet::Find(const PolicyId& id) const {
  const auto found = policies_.find(id);
  return found == policies_.end() ? nullptr : &found->second;
}

std::vector<const Policy*> PolicySet::InScope(const std::string& namespace_) const {
  std::vector<const Policy*> result;
  const auto add = [&](const std::string& of) {
    for (auto each = policies_.lower_bound({of, ""});
         each != policies_.end() && each->first.namespace_ == of; ++each) {
      if (each->second.InScope(namespace_)) {
        result.push_back(&each->second);
      }
    }
  };
  if (!namespace_.empty()) {
    add(namespace_);
  }
  add("");
  return result;
}

std::vector<const Policy*> PolicySet::Governing(const ObjectRef& workload) const {
  std::vector<const Policy*> result = InScope(workload.key.namespace_);
  std::erase_if(result, [&](const Policy* policy) { return !policy->Governs(workload); });
  return result;
}

int PolicySet::HighestOrderIn(const std::string& namespace_) const {
  int highest = 0;
  for (const Policy* policy : InScope(namespace_)) {
    for (const OrderRule& rule : policy->order) {
      highest = std::max(highest, rule.order);
    }
  }
  return highest;
}

base::Duration PolicySet::LongestMinInterval() const {
  base::Duration longest = flags_.min_interval.value_or(base::Duration(0));
  for (const auto& [id, policy] : policies_) {
    longest = std::max(longest, policy.settings.min_interval.value_or(longest));
  }
  return longest;
}

Effective PolicySet::Resolve(const ObjectRef& workload, const Annotations& annotations) const {
  Effective effective;
  const Settings own = SettingsFromAnnotations(annotations, effective.problems, &effective.brakes);
  Layers layers(effective);
  layers.Add(own, {});
  const std::vector<const Policy*> policies = Governing(workload);
  const auto add = [&](bool of_cluster, bool enforced) {
    for (const Policy* policy : policies) {
      if (policy->id.namespace_.empty() == of_cluster && policy->enforced == enforced) {
        const Speaker speaker{policy->ToString(), policy->id, enforced};
        const auto order = OrderIn(*policy, workload);
        enforced ? layers.Enforce(policy->settings, speaker, order)
                 : layers.Add(policy->settings, speaker, order);
      }
    }
  };
  add(false, false);
  add(true, true);
  add(true, false);
  layers.Add(flags_, {"flag", std::nullopt, false});
  return effective;
}

std::optional<Setting<bool>> PolicySet::SourcePause(const ObjectRef& source) const {
  for (const Policy* policy : InScope(source.key.namespace_)) {
    for (const SourceRule& rule : policy->sources) {
      if (rule.paused && rule.kind == source.kind && rule.name == source.key.name) {
        return Setting<bool>{true, policy->ToString(), policy->id};
      }
    }
  }
  return std::nullopt;
}

std::optional<Setting<std::string>> PolicySet::SourceKeys(const ObjectRef& source) const {
  std::optional<Setting<std::string>> keys;
  for (const Policy* policy : InScope(source.key.namespace_)) {
    if (keys && !policy->enforced) {
      continue;
    }
    for (const SourceRule& rule : policy->sources) {
      if (!rule.keys.empty() && rule.kind == source.kind && rule.name == source.key.name &&
          !(keys && keys->enforced)) {
        keys = Setting<std::string>{rule.keys, policy->ToString(), policy->id, policy->enforced};
      }
    }
  }
  return keys;
}

}  // namespace kubexx::reloadpolicy
