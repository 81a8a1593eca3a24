/// @file
/// The settings for rollouts that policies, annotations and flags contain, read and validated.
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
#include "kubexx/reloadpolicy/key_scope.h"
#include "kubexx/reloadpolicy/maintenance_window.h"
#include "kubexx/reloadpolicy/reloadpolicy_v1alpha1.gen.h"
#include "kubexx/reloadpolicy/waves.h"

namespace kubexx::reloadpolicy {

/// The prefix of all annotations in this package.
inline constexpr std::string_view kAnnotationPrefix = "reloader.kubexx.io/";
/// The operator writes this annotation in the write that rolls a workload. Its value is the time of
/// that write, in RFC 3339.
inline constexpr std::string_view kLastRolloutAnnotation = "reloader.kubexx.io/last-rollout";

/// Identifies a policy; the namespace is empty for a ClusterReloadPolicy.
using PolicyId = apimachinery::ObjectKey;

/// Refers to a workload or a source of any kind.
struct ObjectRef {
  std::string kind{};
  apimachinery::ObjectKey key{};
  /// "Kind/namespace/name".
  std::string ToString() const { return kind + "/" + key.ToString(); }
  auto operator<=>(const ObjectRef&) const = default;
};

/// The settings that one place specifies; a setting that it does not specify is std::nullopt.
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
  std::optional<KeyScope> keys{};
  std::optional<Waves> waves{};
  bool operator==(const Settings&) const = default;
};

/// Gives an order to workloads, which it selects by patterns of their names.
struct OrderRule {
  std::vector<std::string> workloads{};
  int order = 0;
};

/// What a policy specifies about one ConfigMap, Secret or SecretProviderClass.
struct SourceRule {
  std::string kind{};
  std::string name{};
  bool paused = false;
  std::string keys{};  ///< as KeyList writes them: only these keys count; empty: all
  bool operator==(const SourceRule&) const = default;
};

/// A ReloadPolicy or ClusterReloadPolicy. A value type.
struct Policy {
  PolicyId id{};
  std::int64_t generation = 0;
  std::vector<std::string> namespaces{};  ///< only of a ClusterReloadPolicy; empty: all
  std::vector<std::string> excluded_namespaces{};
  bool enforced = false;             ///< only of a ClusterReloadPolicy: no other place may be laxer
  std::vector<std::string> kinds{};  ///< kinds of workloads; empty: all
  std::vector<std::string> names{};  ///< patterns of workloads' names; empty: all
  Settings settings{};
  std::vector<OrderRule> order{};
  std::vector<SourceRule> sources{};
  /// The fields that could not be read, and why. They count as absent; the other fields are in
  /// force.
  std::vector<std::string> problems{};

  /// Whether the policy applies to this namespace.
  bool InScope(std::string_view namespace_) const;
  /// Whether the policy applies to this workload.
  bool Governs(const ObjectRef& workload) const;
  /// "ReloadPolicy ns/name" or "ClusterReloadPolicy name".
  std::string ToString() const;
};

/// Reads a policy. Never fails: what is wrong goes to Policy::problems.
Policy PolicyFrom(const v1alpha1::ReloadPolicy& object);
/// Does the same for a cluster-wide policy.
Policy PolicyFrom(const v1alpha1::ClusterReloadPolicy& object);

/// Reads those of a workload's annotations that begin with kAnnotationPrefix and are settings:
/// paused, settle-window, min-interval, health-timeout, maintenance-windows, order, keys. Each
/// annotation that cannot be read is reported in `problems`, as "<annotation>: <what is wrong>". If
/// it was meant to hold rollouts back (paused, maintenance-windows, min-interval, order), it is
/// also reported in `brakes`, with a hint what to write instead; `brakes` may be null.
Settings SettingsFromAnnotations(const std::map<std::string, std::string>& annotations,
                                 std::vector<std::string>& problems,
                                 std::vector<std::string>* brakes = nullptr);

/// What SettingsFromAnnotations returns for some annotations. A value type.
struct AnnotationSettings {
  Settings settings{};
  std::vector<std::string> problems{};
  std::vector<std::string> brakes{};
};

/// Whether SettingsFromAnnotations reads the annotation with this key.
bool IsSetting(std::string_view key);

/// Converts a time that was read from an object. Returns std::nullopt when the clock cannot
/// represent it: anybody who may write to the object may have written any time.
std::optional<base::WallTime> RolloutTimeOf(const apimachinery::Time& time);

/// Reads kLastRolloutAnnotation. Returns std::nullopt when it is missing or malformed.
std::optional<base::WallTime> LastRolloutOf(const std::map<std::string, std::string>& annotations);

/// Parses a duration in Go's syntax. Fails with kInvalidConfig when it is malformed or not between
/// `low` and `high`.
apimachinery::Result<base::Duration> ParseDuration(std::string_view text, base::Duration low,
                                                   base::Duration high);

/// Whether `pattern` matches the whole `text`; each * in the pattern stands for any text.
bool MatchesPattern(std::string_view pattern, std::string_view text);

/// Whether `pattern` matches the workload's name or, if it contains a slash, "Kind/name".
bool MatchesWorkload(std::string_view pattern, const ObjectRef& workload);

}  // namespace kubexx::reloadpolicy

#endif  // KUBEXX_RELOADPOLICY_POLICY_H_
