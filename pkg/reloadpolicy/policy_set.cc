#include "kubexx/reloadpolicy/policy_set.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "kubexx/base/function_ref.h"
#include "kubexx/reloadpolicy/internal/annotation_reader.h"
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

/// Whether `wide` governs all workloads that `narrow` governs, as far as that is plain.
bool GovernsAllOf(const Policy& wide, const Policy& narrow) {
  const auto is_wider = [](const std::vector<std::string>& one,
                           const std::vector<std::string>& other) {
    return one.empty() || one == other;
  };
  return is_wider(wide.kinds, narrow.kinds) && is_wider(wide.names, narrow.names) &&
         is_wider(wide.namespaces, narrow.namespaces) &&
         is_wider(wide.excluded_namespaces, narrow.excluded_namespaces);
}

/// Calls `visit` with the name of each setting that both have.
void ForEachInBoth(const Settings& settings, const Settings& earlier,
                   base::FunctionRef<void(const char* field)> visit) {
  const auto look = [&](const char* field, const auto& one, const auto& other) {
    if (one && other) {
      visit(field);
    }
  };
  look("paused", settings.paused, earlier.paused);
  look("settleWindow", settings.settle_window, earlier.settle_window);
  look("minInterval", settings.min_interval, earlier.min_interval);
  look("maxConcurrentRollouts", settings.max_in_namespace, earlier.max_in_namespace);
  look("maxConcurrentRollouts of the cluster", settings.max_in_cluster, earlier.max_in_cluster);
  look("healthGate", settings.health_gate, earlier.health_gate);
  look("healthGate.timeout", settings.health_timeout, earlier.health_timeout);
  look("healthGate.soakTime", settings.soak_time, earlier.soak_time);
  look("stopAfterFailures", settings.stop_after_failures, earlier.stop_after_failures);
  look("maintenanceWindows", settings.windows, earlier.windows);
  look("keys", settings.keys, earlier.keys);
  look("waves", settings.waves, earlier.waves);
}

}  // namespace

PolicySet::PolicySet(Settings flags)
    : annotations_(std::make_shared<internal::AnnotationReader>()), flags_(std::move(flags)) {}

std::shared_ptr<const AnnotationSettings> PolicySet::OwnSettings(
    const Annotations& annotations) const {
  return annotations_->Read(annotations);
}

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

std::vector<std::string> PolicySet::Overruled(const Policy& policy) const {
  std::vector<std::string> overruled;
  std::set<std::string_view> seen;
  const auto end = policies_.find(policy.id);
  for (auto each = policies_.lower_bound({policy.id.namespace_, ""}); each != end; ++each) {
    const Policy& earlier = each->second;
    if (policy.enforced || earlier.enforced || !GovernsAllOf(earlier, policy)) {
      continue;
    }
    ForEachInBoth(policy.settings, earlier.settings, [&](const char* field) {
      if (seen.insert(field).second) {
        overruled.push_back(std::string(field) + " (" + earlier.ToString() + ")");
      }
    });
  }
  return overruled;
}

Effective PolicySet::Resolve(const ObjectRef& workload, const Annotations& annotations) const {
  const auto own = OwnSettings(annotations);
  Effective effective{.problems = own->problems, .brakes = own->brakes};
  Layers layers(effective);
  layers.Add(own->settings, {});
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
  if (flags_.paused.value_or(false)) {
    // Whoever stops the operator means everybody, also those who are exempt from the others'
    // pauses.
    layers.Enforce({.paused = true}, {"flag", std::nullopt, true});
  }
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
