/// @file
/// What policies, annotations and flags come to for one workload.
#ifndef KUBEXX_RELOADPOLICY_EFFECTIVE_H_
#define KUBEXX_RELOADPOLICY_EFFECTIVE_H_

#include <chrono>
#include <map>
#include <optional>
#include <string>
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
  /// By a ClusterReloadPolicy that others can be stricter than but not laxer.
  bool enforced = false;
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
  /// What policies and flags say about it: the enforced ones if they do.
  std::optional<Setting<base::Duration>> others_health_timeout{};
  std::optional<Setting<base::Duration>> soak_time{};
  /// Each of them stops rollouts on its own: several only where one is enforced.
  std::vector<Setting<int>> stop_after_failures{};
  /// A window of each must be open: several only where one is enforced.
  std::vector<Setting<std::vector<MaintenanceWindow>>> windows{};
  std::optional<Setting<int>> order{};
  /// Annotations that could not be read and have no effect.
  std::vector<std::string> problems{};
  /// Annotations that are to hold rollouts back and could not be read: they do.
  std::vector<std::string> brakes{};
  /// What annotations and ReloadPolicies ask for and an enforced policy does not allow.
  std::vector<std::string> refused{};

  /// Whether rollouts must be followed until they end: some limit, gate or interval needs it.
  bool NeedsTracking() const;
  static constexpr base::Duration kDefaultHealthTimeout = std::chrono::minutes(10);
  /// A container that ends at once is started again at once, and the second time after ten seconds:
  /// within this time it is seen to be unavailable.
  static constexpr base::Duration kDefaultSoakTime = std::chrono::seconds(10);
  /// The most that a policy or annotation may ask for.
  static constexpr base::Duration kLongestHealthTimeout = std::chrono::hours(24);
  static constexpr base::Duration kLongestSoakTime = std::chrono::hours(1);
  base::Duration HealthTimeout() const;
  /// Without the workload's own annotation, by which it could make its rollouts fail for the others
  /// that count them.
  base::Duration OthersHealthTimeout() const;
  /// How long a rollout must be healthy before it has ended well; 0 when nobody asks for health.
  base::Duration SoakTime() const;
  int Order() const { return order ? order->value : 0; }
};

}  // namespace kubexx::reloadpolicy

#endif  // KUBEXX_RELOADPOLICY_EFFECTIVE_H_
