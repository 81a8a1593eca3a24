/// @file
/// The settings that policies, annotations and flags together give to one workload.
#ifndef KUBEXX_RELOADPOLICY_EFFECTIVE_H_
#define KUBEXX_RELOADPOLICY_EFFECTIVE_H_

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kubexx/reloadpolicy/key_scope.h"
#include "kubexx/reloadpolicy/policy.h"
#include "kubexx/reloadpolicy/waves.h"

namespace kubexx::reloadpolicy {

/// A workload's annotations, by key.
using Annotations = std::map<std::string, std::string>;

/// A value, and the place that specifies it.
template <class T>
struct Setting {
  T value{};
  /// The place: "annotation reloader.kubexx.io/paused", "ReloadPolicy ns/name", "flag" and so on.
  std::string origin{};
  /// The policy, when the place is one.
  std::optional<PolicyId> policy{};
  /// An enforced ClusterReloadPolicy specifies it: other places may be stricter, but not laxer.
  bool enforced = false;
};

/// The settings that hold for one workload. std::nullopt: no place specifies the setting.
struct Effective {
  std::optional<Setting<bool>> paused{};
  std::optional<Setting<base::Duration>> settle_window{};
  std::optional<Setting<base::Duration>> min_interval{};
  std::optional<Setting<int>> max_in_namespace{};
  std::optional<Setting<int>> max_in_cluster{};
  std::optional<Setting<bool>> health_gate{};
  std::optional<Setting<base::Duration>> health_timeout{};
  /// The health timeout without the workload's annotation: from policies and flags, where enforced
  /// policies come first.
  std::optional<Setting<base::Duration>> others_health_timeout{};
  std::optional<Setting<base::Duration>> soak_time{};
  /// Each of these limits stops rollouts by itself. There are several only if at least one is
  /// enforced.
  std::vector<Setting<int>> stop_after_failures{};
  /// A rollout may begin only while one window of each entry is open. There are several entries
  /// only if at least one is enforced.
  std::vector<Setting<std::vector<MaintenanceWindow>>> windows{};
  std::optional<Setting<int>> order{};
  std::optional<Setting<KeyScope>> keys{};
  std::optional<Setting<Waves>> waves{};
  /// What is wrong with annotations that could not be read and have no effect.
  std::vector<std::string> problems{};
  /// What is wrong with annotations that could not be read and were meant to hold rollouts back:
  /// while there are any, the workload is not rolled.
  std::vector<std::string> brakes{};
  /// What annotations and ReloadPolicies ask for, but an enforced policy does not allow.
  std::vector<std::string> refused{};

  /// Whether rollouts must be followed until they end, because a limit, a health gate, waves or an
  /// interval needs that.
  bool NeedsTracking() const;
  /// Used when no place specifies a health timeout.
  static constexpr base::Duration kDefaultHealthTimeout = std::chrono::minutes(10);
  /// Used when no place specifies a soak time. The kubelet restarts a crashed container
  /// immediately the first time and after ten seconds the second time, so a container that keeps
  /// crashing is seen as unavailable within this time.
  static constexpr base::Duration kDefaultSoakTime = std::chrono::seconds(10);
  /// The longest times that a policy or annotation may ask for.
  static constexpr base::Duration kLongestHealthTimeout = std::chrono::hours(24);
  static constexpr base::Duration kLongestSoakTime = std::chrono::hours(1);
  static constexpr base::Duration kLongestMinInterval = std::chrono::hours(720);
  /// How long a rollout may take before it has failed.
  base::Duration HealthTimeout() const;
  /// How long other rollouts wait for this one. Leaves out the workload's own annotation: otherwise
  /// the workload could use that to let its rollouts fail early and stop the others.
  base::Duration OthersHealthTimeout() const;
  /// How long a rollout must be healthy before it has ended well; 0 when no setting asks for
  /// health. Waves may ask for longer than the soak time.
  base::Duration SoakTime() const;
  int Order() const { return order ? order->value : 0; }
  KeyScope Keys() const { return keys ? keys->value : KeyScope::kAll; }
};

}  // namespace kubexx::reloadpolicy

#endif  // KUBEXX_RELOADPOLICY_EFFECTIVE_H_
