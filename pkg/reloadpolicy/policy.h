/// @file
/// What policies, annotations and flags say about rollouts, read and checked.
#ifndef KUBEXX_RELOADPOLICY_POLICY_H_
#define KUBEXX_RELOADPOLICY_POLICY_H_

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/base/clock.h"
#include "kubexx/reloadpolicy/clusterreloadpolicy_v1alpha1.gen.h"
#include "kubexx/reloadpolicy/maintenance_window.h"
#include "kubexx/reloadpolicy/reloadpolicy_v1alpha1.gen.h"

namespace kubexx::reloadpolicy {

/// Of every annotation here.
inline constexpr std::string_view kAnnotationPrefix = "reloader.kubexx.io/";
/// Written on a workload together with what rolls it: when, in RFC 3339.
inline constexpr std::string_view kLastRolloutAnnotation = "reloader.kubexx.io/last-rollout";

/// A policy's key; the namespace is empty for a ClusterReloadPolicy.
using PolicyId = apimachinery::ObjectKey;

/// A workload or a source of any kind.
struct ObjectRef {
  std::string kind{};
  apimachinery::ObjectKey key{};
  /// "Kind/namespace/name".
  std::string ToString() const { return kind + "/" + key.ToString(); }
  auto operator<=>(const ObjectRef&) const = default;
};

/// What one place says; what it says nothing about is empty.
struct Settings {
  std::optional<bool> paused{};
  std::optional<base::Duration> settle_window{};
  std::optional<base::Duration> min_interval{};
  std::optional<int> max_in_namespace{};
  std::optional<int> max_in_cluster{};
  std::optional<bool> health_gate{};
  std::optional<base::Duration> health_timeout{};
  std::optional<base::Duration> soak_time{};
  std::optional<int> stop_after_failures{};
  std::optional<std::vector<MaintenanceWindow>> windows{};
  std::optional<int> order{};
  bool operator==(const Settings&) const = default;
};

/// Workloads by name, and their place in the order.
struct OrderRule {
  std::vector<std::string> workloads{};
  int order = 0;
};

/// What a policy says of one ConfigMap, Secret or SecretProviderClass.
struct SourceRule {
  std::string kind{};
  std::string name{};
  bool paused = false;
  std::string keys{};  ///< as KeyList: only these count; empty: all
  bool operator==(const SourceRule&) const = default;
};

/// A ReloadPolicy or ClusterReloadPolicy. A value type.
struct Policy {
  PolicyId id{};
  std::int64_t generation = 0;
  std::vector<std::string> namespaces{};  ///< of a cluster policy; empty: all
  std::vector<std::string> excluded_namespaces{};
  bool enforced = false;             ///< of a cluster policy: nobody is laxer
  std::vector<std::string> kinds{};  ///< empty: all
  std::vector<std::string> names{};  ///< empty: all
  Settings settings{};
  std::vector<OrderRule> order{};
  std::vector<SourceRule> sources{};
  /// What could not be read, by field; those fields count as absent, the others are in force.
  std::vector<std::string> problems{};

  bool InScope(std::string_view namespace_) const;
  bool Governs(const ObjectRef& workload) const;
  /// "ReloadPolicy ns/name" or "ClusterReloadPolicy name".
  std::string ToString() const;
};

/// Reads a policy. Never fails: see Policy::problems.
Policy PolicyFrom(const v1alpha1::ReloadPolicy& object);
/// The same of a policy of all namespaces.
Policy PolicyFrom(const v1alpha1::ClusterReloadPolicy& object);

/// Reads a workload's annotations with kAnnotationPrefix: paused, settle-window, min-interval,
/// health-timeout, maintenance-windows, order. What cannot be read goes to `problems`, as
/// "<annotation>: <what is wrong>"; what was meant to hold rollouts back (paused,
/// maintenance-windows, min-interval, order) to `brakes`, with what to write, unless that is null.
Settings SettingsFromAnnotations(const std::map<std::string, std::string>& annotations,
                                 std::vector<std::string>& problems,
                                 std::vector<std::string>* brakes = nullptr);

/// A time that an object names for a rollout; nothing when the clock cannot hold it: whoever may
/// write to the object may have written any.
std::optional<base::WallTime> RolloutTimeOf(const apimachinery::Time& time);

/// kLastRolloutAnnotation, when there and readable.
std::optional<base::WallTime> LastRolloutOf(const std::map<std::string, std::string>& annotations);

/// A duration in Go's syntax between `low` and `high`; kInvalidConfig otherwise.
apimachinery::Result<base::Duration> ParseDuration(std::string_view text, base::Duration low,
                                                   base::Duration high);

/// Whether `pattern`, in which * stands for any text, matches all of `text`.
bool MatchesPattern(std::string_view pattern, std::string_view text);

}  // namespace kubexx::reloadpolicy

#endif  // KUBEXX_RELOADPOLICY_POLICY_H_
