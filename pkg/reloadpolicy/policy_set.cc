#include "kubexx/reloadpolicy/policy_set.h"

#include <algorithm>

namespace kubexx::reloadpolicy {
namespace {

constexpr base::Duration kDefaultHealthTimeout = std::chrono::minutes(10);

struct Layer {
  const Settings& settings;
  std::string origin;
  std::optional<PolicyId> policy;
};

template <class T>
void Take(const Layer& layer, const std::optional<T>& value, const char* annotation,
          std::optional<Setting<T>>& target) {
  if (target || !value) {
    return;
  }
  target = Setting<T>{*value, layer.origin, layer.policy};
  if (layer.origin.empty()) {  // the workload's own
    target->origin = "annotation " + std::string(kAnnotationPrefix) + annotation;
  }
}

void TakeAll(const Layer& layer, Effective& effective) {
  const Settings& from = layer.settings;
  Take(layer, from.paused, "paused", effective.paused);
  Take(layer, from.settle_window, "settle-window", effective.settle_window);
  Take(layer, from.min_interval, "min-interval", effective.min_interval);
  Take(layer, from.max_in_namespace, "", effective.max_in_namespace);
  Take(layer, from.max_in_cluster, "", effective.max_in_cluster);
  Take(layer, from.health_gate, "", effective.health_gate);
  Take(layer, from.health_timeout, "health-timeout", effective.health_timeout);
  Take(layer, from.stop_after_failures, "", effective.stop_after_failures);
  Take(layer, from.windows, "maintenance-windows", effective.windows);
  Take(layer, from.order, "order", effective.order);
}

/// The order that a policy's rules give a workload.
std::optional<int> OrderIn(const Policy& policy, const ObjectRef& workload) {
  const std::string with_kind = workload.kind + "/" + workload.key.name;
  for (const OrderRule& rule : policy.order) {
    for (const std::string& pattern : rule.workloads) {
      const bool names_kind = pattern.find('/') != std::string::npos;
      if (MatchesPattern(pattern, names_kind ? with_kind : workload.key.name)) {
        return rule.order;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

bool Effective::NeedsTracking() const {
  return max_in_namespace || max_in_cluster || (health_gate && health_gate->value) ||
         stop_after_failures || min_interval || Order() > 0;
}

base::Duration Effective::HealthTimeout() const {
  return health_timeout ? health_timeout->value : kDefaultHealthTimeout;
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

Effective PolicySet::Resolve(const ObjectRef& workload, const Annotations& annotations) const {
  Effective effective;
  const Settings own = SettingsFromAnnotations(annotations, effective.problems);
  TakeAll({own, "", std::nullopt}, effective);
  for (const Policy* policy : Governing(workload)) {
    const Layer layer{policy->settings, policy->ToString(), policy->id};
    TakeAll(layer, effective);
    Take(layer, OrderIn(*policy, workload), "", effective.order);
  }
  TakeAll({flags_, "flag", std::nullopt}, effective);
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
  for (const Policy* policy : InScope(source.key.namespace_)) {
    for (const SourceRule& rule : policy->sources) {
      if (!rule.keys.empty() && rule.kind == source.kind && rule.name == source.key.name) {
        return Setting<std::string>{rule.keys, policy->ToString(), policy->id};
      }
    }
  }
  return std::nullopt;
}

}  // namespace kubexx::reloadpolicy
