/// @file
/// All policies together, and the settings that they give to one workload.
#ifndef KUBEXX_RELOADPOLICY_POLICY_SET_H_
#define KUBEXX_RELOADPOLICY_POLICY_SET_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/reloadpolicy/effective.h"
#include "kubexx/reloadpolicy/policy.h"

namespace kubexx::reloadpolicy {

namespace internal {
class AnnotationReader;
}

/// Holds the flags and all policies. Each setting of a workload comes from the first of these
/// places that specifies it: the workload's annotations, the ReloadPolicies of its namespace
/// (ordered by name), the ClusterReloadPolicies (ordered by name), the flags. Enforced
/// ClusterReloadPolicies change this order: the strictest of them wins over other
/// ClusterReloadPolicies and the flags, and annotations and ReloadPolicies count only where they
/// are stricter. Thread-safe as long as nobody changes it.
class PolicySet {
 public:
  explicit PolicySet(Settings flags = {});

  void Set(Policy policy);
  /// Returns whether there was such a policy.
  bool Remove(const PolicyId& id);
  /// Returns null when there is no such policy.
  const Policy* Find(const PolicyId& id) const;
  const std::map<PolicyId, Policy>& all() const { return policies_; }

  /// The policies that apply to the workload: first those of its namespace, then those of the
  /// cluster, each ordered by name.
  std::vector<const Policy*> Governing(const ObjectRef& workload) const;
  /// The settings that hold for a workload with these annotations.
  Effective Resolve(const ObjectRef& workload, const Annotations& annotations) const;
  /// The settings that annotations specify by themselves. Never null.
  std::shared_ptr<const AnnotationSettings> OwnSettings(const Annotations& annotations) const;
  /// The settings of this policy that have no effect on any workload, since a policy that comes
  /// before it by name and governs all of its workloads has them, too; each as "paused
  /// (ReloadPolicy shop/a)". Compares policies of the same namespace, or of the cluster, that are
  /// not enforced.
  std::vector<std::string> Overruled(const Policy& policy) const;
  /// The setting that pauses a ConfigMap, Secret or SecretProviderClass; std::nullopt when no
  /// policy pauses it.
  std::optional<Setting<bool>> SourcePause(const ObjectRef& source) const;
  /// The keys of the source that count, as KeyList writes them; std::nullopt when all keys count.
  /// An enforced policy wins over others.
  std::optional<Setting<std::string>> SourceKeys(const ObjectRef& source) const;
  /// The highest order that any policy gives to workloads in the namespace, whether or not such
  /// workloads exist.
  int HighestOrderIn(const std::string& namespace_) const;
  /// The longest minimum interval that any policy or the flags ask for; 0 when none does.
  base::Duration LongestMinInterval() const;
  /// Whether there are no policies and no flags. Then only annotations can hold a rollout back.
  bool empty() const { return policies_.empty() && flags_ == Settings(); }

 private:
  std::vector<const Policy*> InScope(const std::string& namespace_) const;

  /// Copies share it.
  std::shared_ptr<internal::AnnotationReader> annotations_;
  Settings flags_;
  std::map<PolicyId, Policy> policies_;
};

}  // namespace kubexx::reloadpolicy

#endif  // KUBEXX_RELOADPOLICY_POLICY_SET_H_
