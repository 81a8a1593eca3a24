/// @file
/// All policies together, and what they come to for one workload.
#ifndef KUBEXX_RELOADPOLICY_POLICY_SET_H_
#define KUBEXX_RELOADPOLICY_POLICY_SET_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/reloadpolicy/policy.h"

namespace kubexx::reloadpolicy {

/// Of a workload, by key.
using Annotations = std::map<std::string, std::string>;

/// A value, and who says so.
template <class T>
struct Setting {
  T value{};
  /// "annotation reloader.kubexx.io/paused", "ReloadPolicy ns/name", "flag" and so on.
  std::string origin{};
  std::optional<PolicyId> policy{};
};

/// What holds for one workload.
struct Effective {
  std::optional<Setting<bool>> paused{};
  std::optional<Setting<base::Duration>> settle_window{};
  std::optional<Setting<base::Duration>> min_interval{};
  std::optional<Setting<int>> max_in_namespace{};
  std::optional<Setting<int>> max_in_cluster{};
  std::optional<Setting<bool>> health_gate{};
  std::optional<Setting<base::Duration>> health_timeout{};
  std::optional<Setting<int>> stop_after_failures{};
  std::optional<Setting<std::vector<MaintenanceWindow>>> windows{};
  std::optional<Setting<int>> order{};
  /// Annotations that could not be read.
  std::vector<std::string> problems{};

  /// Whether rollouts must be followed until they end: some limit, gate or interval needs it.
  bool NeedsTracking() const;
  base::Duration HealthTimeout() const;
  int Order() const { return order ? order->value : 0; }
};

/// Flags and policies. Each setting of a workload comes from the first of these that says something
/// about it: its annotations, the ReloadPolicies of its namespace by name, the
/// ClusterReloadPolicies by name, the flags. Not thread-safe while it changes.
class PolicySet {
 public:
  explicit PolicySet(Settings flags = {}) : flags_(std::move(flags)) {}

  void Set(Policy policy);
  /// Whether there was one.
  bool Remove(const PolicyId& id);
  /// Null when there is none.
  const Policy* Find(const PolicyId& id) const;
  const std::map<PolicyId, Policy>& all() const { return policies_; }

  Effective Resolve(const ObjectRef& workload, const Annotations& annotations) const;
  /// The policy that pauses a ConfigMap or Secret.
  std::optional<Setting<bool>> SourcePause(const ObjectRef& source) const;
  /// The keys of it that count, as KeyList; nothing when all do.
  std::optional<Setting<std::string>> SourceKeys(const ObjectRef& source) const;
  /// Whether any policy, annotation apart, says anything: without one nothing needs to be asked.
  bool empty() const { return policies_.empty() && flags_ == Settings(); }

 private:
  std::vector<const Policy*> Governing(const ObjectRef& workload) const;
  std::vector<const Policy*> InScope(const std::string& namespace_) const;

  Settings flags_;
  std::map<PolicyId, Policy> policies_;
};

}  // namespace kubexx::reloadpolicy

#endif  // KUBEXX_RELOADPOLICY_POLICY_SET_H_
