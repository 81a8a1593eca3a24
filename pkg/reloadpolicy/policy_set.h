/// @file
/// All policies together, and what they come to for one workload.
#ifndef KUBEXX_RELOADPOLICY_POLICY_SET_H_
#define KUBEXX_RELOADPOLICY_POLICY_SET_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/reloadpolicy/effective.h"
#include "kubexx/reloadpolicy/policy.h"

namespace kubexx::reloadpolicy {

/// Flags and policies. Each setting of a workload comes from the first of these that says something
/// about it: its annotations, the ReloadPolicies of its namespace by name, the
/// ClusterReloadPolicies by name, the flags. Where ClusterReloadPolicies are enforced, the
/// strictest of them comes before the others and the flags, and annotations and ReloadPolicies
/// count only where they are stricter. Not thread-safe while it changes.
class PolicySet {
 public:
  explicit PolicySet(Settings flags = {}) : flags_(std::move(flags)) {}

  void Set(Policy policy);
  /// Whether there was one.
  bool Remove(const PolicyId& id);
  /// Null when there is none.
  const Policy* Find(const PolicyId& id) const;
  const std::map<PolicyId, Policy>& all() const { return policies_; }

  /// Those that are about the workload: of its namespace by name, then of the cluster by name.
  std::vector<const Policy*> Governing(const ObjectRef& workload) const;
  Effective Resolve(const ObjectRef& workload, const Annotations& annotations) const;
  /// The policy that pauses a ConfigMap or Secret.
  std::optional<Setting<bool>> SourcePause(const ObjectRef& source) const;
  /// The keys of it that count, as KeyList; nothing when all do. An enforced policy comes first.
  std::optional<Setting<std::string>> SourceKeys(const ObjectRef& source) const;
  /// The highest order that a policy gives to workloads of the namespace, perhaps to none.
  int HighestOrderIn(const std::string& namespace_) const;
  /// Whether any policy, annotation apart, says anything: without one nothing needs to be asked.
  bool empty() const { return policies_.empty() && flags_ == Settings(); }

 private:
  std::vector<const Policy*> InScope(const std::string& namespace_) const;

  Settings flags_;
  std::map<PolicyId, Policy> policies_;
};

}  // namespace kubexx::reloadpolicy

#endif  // KUBEXX_RELOADPOLICY_POLICY_SET_H_
