// Answers a PolicyEnforcer's questions about sources from its policies.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/reloader/model/object_refs.h"
#include "kubexx/reloader/policy/policy_enforcer.h"
#include "kubexx/reloader/policy/policy_enforcer_host.h"
#include "kubexx/reloader/watch/caches.h"

namespace kubexx::reloader {
namespace {

using reloadpolicy::HoldReason;
using reloadpolicy::ObjectRef;
using reloadpolicy::Policy;

/// Returns the sources, without namespaces, whose lists of keys differ between two states of a
/// policy. Null means that the policy did not exist, or does not exist any more.
std::set<SourceId> NewlyListed(const Policy* before, const Policy* now) {
  const bool moved = before != nullptr && now != nullptr &&
                     (before->namespaces != now->namespaces || before->enforced != now->enforced ||
                      before->excluded_namespaces != now->excluded_namespaces);
  std::set<SourceId> result;
  const auto compare = [&](const Policy* one, const Policy* other) {
    for (const reloadpolicy::SourceRule& rule :
         one == nullptr ? std::vector<reloadpolicy::SourceRule>() : one->sources) {
      const bool is_same =
          other != nullptr &&
          std::ranges::any_of(other->sources, [&](const reloadpolicy::SourceRule& each) {
            return each.kind == rule.kind && each.name == rule.name && each.keys == rule.keys;
          });
      if (!rule.keys.empty() && (moved || !is_same)) {
        result.insert({rule.kind == "Secret" ? SourceType::kSecret : SourceType::kConfigMap,
                       {"", rule.name}});
      }
    }
  };
  compare(before, now);
  compare(now, before);
  return result;
}

std::optional<Policy> CopyOf(const Policy* policy) {
  return policy == nullptr ? std::nullopt : std::optional(*policy);
}

/// Whether a policy specifies which keys count.
bool SaysKeys(const std::optional<Policy>& policy) { return policy && policy->settings.keys; }

/// Whether two states of a policy specify the same keys for the same workloads.
bool SaySameKeys(const Policy& one, const Policy& other) {
  return one.settings.keys == other.settings.keys && one.enforced == other.enforced &&
         one.namespaces == other.namespaces &&
         one.excluded_namespaces == other.excluded_namespaces && one.kinds == other.kinds &&
         one.names == other.names;
}

}  // namespace

void PolicyEnforcer::SetPolicy(reloadpolicy::Policy policy,
                               const std::vector<reloadpolicy::Remembered>& failed,
                               const std::vector<reloadpolicy::RememberedData>& failed_data) {
  const reloadpolicy::PolicyId id = policy.id;
  std::set<SourceId> listed;
  std::optional<Policy> before;
  const std::optional<Policy> now = policy;
  Update([&](reloadpolicy::Arbiter& arbiter, base::WallTime) KX_REQUIRES(mu_) {
    lines_.clear();
    before = CopyOf(arbiter.policies().Find(id));
    listed = NewlyListed(arbiter.policies().Find(id), &policy);
    arbiter.SetPolicy(std::move(policy));
    for (const reloadpolicy::Remembered& each : failed) {
      arbiter.Remember(each);
    }
    for (const reloadpolicy::RememberedData& each : failed_data) {
      arbiter.RememberData(each);
    }
  });
  WakeUsers(id, listed);
  WakeRescoped(before, now);
  WakeRestoring(before, now);
  if (!failed.empty() || !failed_data.empty()) {
    LookAtUnseen();  // there is no event for sources that are already gone or repaired
  }
}

void PolicyEnforcer::RemovePolicy(const reloadpolicy::PolicyId& id) {
  std::set<SourceId> listed;
  std::optional<Policy> before;
  Update([&](reloadpolicy::Arbiter& arbiter, base::WallTime) KX_REQUIRES(mu_) {
    lines_.clear();
    before = CopyOf(arbiter.policies().Find(id));
    listed = NewlyListed(arbiter.policies().Find(id), nullptr);
    arbiter.RemovePolicy(id);
    std::erase_if(restores_, [&id](const auto& each) { return each.second.policy == id; });
    std::erase_if(unsettled_, [&id](const auto& each) { return each.second.first == id; });
  });
  WakeUsers(id, listed);
  WakeRescoped(before, std::nullopt);
}

void PolicyEnforcer::WakeUsers(const reloadpolicy::PolicyId& policy,
                               const std::set<SourceId>& sources) {
  const HostUse host(*this);
  if (host.get() == nullptr) {
    return;
  }
  for (const SourceId& source : sources) {
    const std::vector<std::string> spaces =
        policy.namespace_.empty() ? host.get()->caches.NamespacesWith(source.type, source.key.name)
                                  : std::vector{policy.namespace_};
    for (const std::string& space : spaces) {
      const SourceId object{source.type, {space, source.key.name}};
      std::vector<SourceId> all = host.get()->caches.ForeignIdsOf(object);
      all.push_back(object);
      for (const SourceId& each : all) {
        const Caches::Concerned users = host.get()->caches.WorkloadsOf(each);
        for (const auto* ids : {&users.by_name, &users.by_pattern}) {
          for (const WorkloadId& id : *ids) {
            host.get()->wake(id, base::Duration(0));
          }
        }
      }
    }
  }
}

void PolicyEnforcer::WakeRescoped(const std::optional<Policy>& before,
                                  const std::optional<Policy>& now) {
  const HostUse host(*this);
  if (host.get() == nullptr || (!SaysKeys(before) && !SaysKeys(now)) ||
      (before && now && SaySameKeys(*before, *now))) {
    return;
  }
  host.get()->caches.ForEachWorkload([&](const Workload& workload) {
    const ObjectRef ref = RefOf(workload.id);
    if ((before && before->Governs(ref)) || (now && now->Governs(ref))) {
      host.get()->wake(workload.id, base::Duration(0));
    }
  });
}

bool PolicyEnforcer::CountsUsedKeysOnly(const Workload& workload) {
  const base::MutexLock lock(mu_);
  if (arbiter_.policies().empty() && Find(workload.annotations, kSourceKeys) == nullptr) {
    return false;
  }
  return arbiter_.policies().Resolve(RefOf(workload.id), workload.annotations).Keys() ==
         reloadpolicy::KeyScope::kReferenced;
}

std::string PolicyEnforcer::KeysOf(const SourceId& source, const std::string& own) {
  const base::MutexLock lock(mu_);
  const auto keys = arbiter_.policies().SourceKeys(ObjectRefOf(source));
  return keys && (keys->enforced || own.empty()) ? keys->value : own;
}

std::set<SourceId> PolicyEnforcer::PausedByAnnotation(const std::vector<Change>& changes) {
  std::set<SourceId> paused;
  const HostUse host(*this);
  if (host.get() != nullptr) {
    for (const Change& change : changes) {
      for (const SourceId& cause : change.causes) {
        const auto source = host.get()->caches.GetSource(cause);
        if (source && source->paused) {
          paused.insert(cause);
        }
      }
    }
  }
  return paused;
}

PolicyEnforcer::HeldSources PolicyEnforcer::TakePaused(std::vector<Change>& changes) {
  HeldSources held;
  const std::set<SourceId> annotated = PausedByAnnotation(changes);
  const base::MutexLock lock(mu_);
  std::erase_if(changes, [&](const Change& change) KX_REQUIRES(mu_) {
    for (const SourceId& cause : change.causes) {
      if (annotated.contains(cause)) {
        held.hold = {.reason = HoldReason::kSourcePaused,
                     .message = ObjectRefOf(cause).ToString() + " is paused (annotation " +
                                std::string(kSourcePaused) + ")"};
        held.changes.push_back(change);
        return true;
      }
      if (const auto pause = arbiter_.policies().SourcePause(ObjectRefOf(cause))) {
        held.hold = {
            .reason = HoldReason::kSourcePaused,
            .message = ObjectRefOf(cause).ToString() + " is paused (" + pause->origin + ")",
            .policy = pause->policy};
        held.changes.push_back(change);
        return true;
      }
    }
    return false;
  });
  return held;
}

int PolicyEnforcer::OrderOf(const Workload& workload) const {
  const base::MutexLock lock(mu_);
  return arbiter_.policies().Resolve(RefOf(workload.id), workload.annotations).Order();
}

std::vector<ObjectRef> PolicyEnforcer::Before(const Workload& workload,
                                              const std::vector<Change>& changes) {
  const int order = OrderOf(workload);
  const HostUse host(*this);
  if (order <= 0 || host.get() == nullptr) {
    return {};
  }
  std::set<SourceId> causes;
  for (const Change& change : changes) {
    causes.insert(change.causes.begin(), change.causes.end());
  }
  for (const SourceId& cause : causes) {
    const Caches::Concerned concerned = host.get()->caches.WorkloadsOf(cause);
    for (const auto* ids : {&concerned.by_name, &concerned.by_pattern}) {
      for (const WorkloadId& id : *ids) {
        const auto other = id == workload.id ? std::nullopt : host.get()->caches.GetWorkload(id);
        if (!other || !HasLowerOrder(*other, workload)) {
          continue;
        }
        const auto is_active = [this, ref = RefOf(id)] {
          const base::MutexLock lock(mu_);
          return arbiter_.IsActive(ref);
        };
        const auto is_begun = [&] {
          const base::MutexLock lock(mu_);
          return arbiter_.IsActive(RefOf(id)) ||
                 arbiter_.IsToBeTold(RefOf(id), other->uid, other->annotations);
        };
        // Asked once more at last: one that needs no rollout any more may just have begun it.
        if (is_active() || host.get()->needs_rollout(*other, cause) || is_begun()) {
          return {RefOf(id)};  // one is reason enough
        }
      }
    }
  }
  return {};
}

}  // namespace kubexx::reloader
