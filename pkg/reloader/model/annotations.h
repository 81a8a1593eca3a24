/// @file
/// The annotation keys that control reloads.
#ifndef KUBEXX_RELOADER_MODEL_ANNOTATIONS_H_
#define KUBEXX_RELOADER_MODEL_ANNOTATIONS_H_

#include <map>
#include <string>
#include <string_view>

#include "kubexx/base/function_ref.h"
#include "kubexx/reloader/model/source.h"

namespace kubexx::reloader {

using Annotations = std::map<std::string, std::string>;

/// On a workload: a comma-separated list of objects of described kinds that roll it, such as
/// "Certificate/web-tls, ExternalSecret/db". No flag renames it.
inline constexpr std::string_view kReloadOn = "reloader.kubexx.io/reload-on";

/// On a workload: a comma-separated list of ConfigMaps and Secrets of other namespaces that roll
/// it, such as "ConfigMap/shared/settings, Secret/shared/db". Each must allow that by
/// kAllowedNamespaces. No flag renames it.
inline constexpr std::string_view kReloadOnOtherNamespaces =
    "reloader.kubexx.io/reload-on-other-namespaces";

/// On a ConfigMap or Secret: a comma-separated list of other namespaces whose workloads may name it
/// in kReloadOnOtherNamespaces; "*": those of all namespaces. No flag renames it.
inline constexpr std::string_view kAllowedNamespaces = "reloader.kubexx.io/allowed-namespaces";

/// The annotation keys, with stakater/Reloader's names as defaults. Flags can rename most of them.
struct AnnotationKeys {
  std::string configmap_reload = "configmap.reloader.stakater.com/reload";
  std::string secret_reload = "secret.reloader.stakater.com/reload";
  std::string auto_reload = "reloader.stakater.com/auto";
  std::string configmap_auto = "configmap.reloader.stakater.com/auto";
  std::string secret_auto = "secret.reloader.stakater.com/auto";
  // The two of SecretProviderClasses have no flags.
  std::string provider_class_reload = "secretproviderclass.reloader.stakater.com/reload";
  std::string provider_class_auto = "secretproviderclass.reloader.stakater.com/auto";
  std::string ignore = "reloader.stakater.com/ignore";
  std::string search = "reloader.stakater.com/search";
  std::string match = "reloader.stakater.com/match";
  std::string pause_period = "deployment.reloader.stakater.com/pause-period";
  std::string paused_at = "deployment.reloader.stakater.com/paused-at";
  /// kReloadOnOtherNamespaces and kAllowedNamespaces have an effect. If false, nothing is read of
  /// them.
  bool other_namespaces = false;

  /// The key of the list of sources of this type that roll the workload. That of described kinds
  /// names sources of all of them: see ReloadTextOf.
  std::string_view Reload(SourceType type) const {
    return IsDescribed(type)                ? kReloadOn
           : type == SourceType::kConfigMap ? std::string_view(configmap_reload)
           : type == SourceType::kSecret    ? std::string_view(secret_reload)
                                            : std::string_view(provider_class_reload);
  }
  /// The key that turns automatic reloads on for sources of this type, which the operator has
  /// itself. No pod template mentions others.
  const std::string& TypedAuto(SourceType type) const {
    return type == SourceType::kConfigMap ? configmap_auto
           : type == SourceType::kSecret  ? secret_auto
                                          : provider_class_auto;
  }
  /// The key of the list of sources that never roll the workload. No flag renames it. Not for
  /// described kinds, which have no such list.
  static std::string_view Exclude(SourceType type) {
    return type == SourceType::kConfigMap ? "configmaps.exclude.reloader.stakater.com/reload"
           : type == SourceType::kSecret
               ? "secrets.exclude.reloader.stakater.com/reload"
               : "secretproviderclasses.exclude.reloader.stakater.com/reload";
  }
  /// Whether `key` has a meaning as an annotation of a workload.
  bool ConcernsWorkload(std::string_view key) const;
};

/// On a source of any type: any value but "false" keeps its changes from
/// rolling workloads. No flag renames it.
inline constexpr std::string_view kSourcePaused = "reloader.kubexx.io/paused";

/// On a ConfigMap or Secret: a comma-separated list of the keys whose changes count. On a workload:
/// which keys of its sources count, a reloadpolicy::KeyScope. No flag renames it.
inline constexpr std::string_view kSourceKeys = "reloader.kubexx.io/keys";

/// On a workload: "false" keeps the operator from writing a baseline. No flag renames it.
inline constexpr std::string_view kRecordBaseline = "reloader.kubexx.io/record-baseline";

/// On a workload: its baseline. It is never written to the pod template, so writing it starts no
/// new pods.
inline constexpr std::string_view kBaselineAnnotation = "reloader.kubexx.io/baseline";

/// On a workload: its last rollouts, as History writes them. Like the baseline it is never written
/// to the pod template. No flag renames it.
inline constexpr std::string_view kHistoryAnnotation = "reloader.kubexx.io/history";

/// On a pod template: the source of the last rollout with ReloadStrategy::kAnnotations. No flag
/// renames it.
inline constexpr std::string_view kLastReloadedFrom = "reloader.stakater.com/last-reloaded-from";

/// On a pod template: a digest of what a rollout was for. Written when a rollout would otherwise
/// change nothing in the template, because the variables have their values already. No flag renames
/// it.
inline constexpr std::string_view kRestartedFor = "reloader.kubexx.io/restarted-for";

/// On a Rollout: with "restart" the operator restarts its pods without changing the template. No
/// flag renames it.
inline constexpr std::string_view kRolloutStrategy = "reloader.stakater.com/rollout-strategy";

/// On a keeper (see KeeperFor): the name of the Job that the keeper stands for.
inline constexpr std::string_view kKeeperOf = "reloader.kubexx.io/recreates";

/// On a Job that rolls a CronJob: when it was asked for, in microseconds since 1970, a space, and
/// the token of the change. On the CronJob: the token of its last rollout.
inline constexpr char kRolledFor[] = "kubexx.io/rolled-for";

/// On a CronJob: with "true" a change starts a Job even while the CronJob is suspended.
inline constexpr char kRunSuspended[] = "reloader.kubexx.io/run-suspended";

/// On a workload: what the operator does in its pods instead of a rollout; see ReloadAction. No
/// flag renames it.
inline constexpr std::string_view kReloadInPlace = "reloader.kubexx.io/reload-in-place";

/// On a workload: the container that kReloadInPlace is about. No flag renames it.
inline constexpr std::string_view kReloadContainer = "reloader.kubexx.io/reload-in-place-container";

/// On a workload whose pods are being reloaded in place: its UID, since when, and a digest of the
/// data that they are to get, with spaces between. Never in the pod template.
inline constexpr std::string_view kReloadingInPlace = "reloader.kubexx.io/reloading-in-place";

/// On a pod: when the operator last asked the kubelet to look for new files. Any change of a pod's
/// annotations makes the kubelet do so at once.
inline constexpr std::string_view kFilesWantedAt = "reloader.kubexx.io/files-wanted-at";

/// Whether the annotations of the object with this UID say that its pods are being reloaded in
/// place.
bool IsReloadingInPlace(const Annotations& annotations, std::string_view uid);

/// The Helm release that an object belongs to, as "namespace/name"; empty when it belongs to none.
std::string ReleaseOf(const Annotations& annotations);

/// Returns the value of `key`, or null.
const std::string* Find(const Annotations& annotations, std::string_view key);

/// Parses a boolean as Go's strconv.ParseBool does: 1, t, T, true, True and TRUE are true. Returns
/// false for everything else, including texts that ParseBool rejects.
bool ParseGoBool(std::string_view text);

/// Returns `text` without surrounding white space, as Go's strings.TrimSpace does for ASCII.
std::string_view TrimSpace(std::string_view text);

/// Calls `each` with every trimmed item of a comma-separated list until `each` returns true.
/// Returns whether it did. An empty list has one empty item, as with Go's strings.Split.
bool AnyItem(std::string_view list, base::FunctionRef<bool(std::string_view)> each);

/// Whether an item of a reload list can match only its own text: it has only letters, digits, '-'
/// and '_'. True for an empty item.
bool IsPlainItem(std::string_view item);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_MODEL_ANNOTATIONS_H_
