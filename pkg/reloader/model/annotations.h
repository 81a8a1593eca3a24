/// @file
/// The annotation keys that steer reloads.
#ifndef KUBEXX_RELOADER_MODEL_ANNOTATIONS_H_
#define KUBEXX_RELOADER_MODEL_ANNOTATIONS_H_

#include <map>
#include <string>
#include <string_view>

#include "kubexx/base/function_ref.h"
#include "kubexx/reloader/model/source.h"

namespace kubexx::reloader {

using Annotations = std::map<std::string, std::string>;

/// Keys, with stakater/Reloader's names as defaults; most of them can be renamed by flags.
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

  const std::string& Reload(SourceType type) const {
    return type == SourceType::kConfigMap ? configmap_reload
           : type == SourceType::kSecret  ? secret_reload
                                          : provider_class_reload;
  }
  const std::string& TypedAuto(SourceType type) const {
    return type == SourceType::kConfigMap ? configmap_auto
           : type == SourceType::kSecret  ? secret_auto
                                          : provider_class_auto;
  }
  /// The list of names that never roll the workload; cannot be renamed.
  static std::string_view Exclude(SourceType type) {
    return type == SourceType::kConfigMap ? "configmaps.exclude.reloader.stakater.com/reload"
           : type == SourceType::kSecret
               ? "secrets.exclude.reloader.stakater.com/reload"
               : "secretproviderclasses.exclude.reloader.stakater.com/reload";
  }
  /// Whether `key` of a workload's annotations has a meaning here.
  bool ConcernsWorkload(std::string_view key) const;
};

/// On a ConfigMap, Secret or SecretProviderClass: "true" holds its changes back; cannot be renamed.
inline constexpr std::string_view kSourcePaused = "reloader.kubexx.io/paused";

/// On a ConfigMap or Secret: comma list of the keys that count; cannot be renamed.
inline constexpr std::string_view kSourceKeys = "reloader.kubexx.io/keys";

/// On a workload: "false" keeps the operator from writing its baseline; cannot be renamed.
inline constexpr std::string_view kRecordBaseline = "reloader.kubexx.io/record-baseline";

/// The annotation of a workload's own metadata that holds its baseline. Never on the pod template:
/// writing it rolls nothing.
inline constexpr std::string_view kBaselineAnnotation = "reloader.kubexx.io/baseline";

/// The pod template's annotation of ReloadStrategy::kAnnotations; cannot be renamed.
inline constexpr std::string_view kLastReloadedFrom = "reloader.stakater.com/last-reloaded-from";

/// The pod template's annotation of a rollout that changes nothing else there, because the
/// variables have their values already: a digest of what it was for; cannot be renamed.
inline constexpr std::string_view kRestartedFor = "reloader.kubexx.io/restarted-for";

/// On a Rollout: "restart" restarts its pods without a change of the template; cannot be renamed.
inline constexpr std::string_view kRolloutStrategy = "reloader.stakater.com/rollout-strategy";

/// Annotation of a keeper (see KeeperFor): the name of the Job that it stands for.
inline constexpr std::string_view kKeeperOf = "reloader.kubexx.io/recreates";

/// Of a Job that rolls a CronJob: when it was asked for, in microseconds since 1970, and the token
/// of the change, with a blank between. Of the CronJob: the token of its last rollout.
inline constexpr char kRolledFor[] = "kubexx.io/rolled-for";

/// Of a CronJob: "true" has a change run it also while it is suspended.
inline constexpr char kRunSuspended[] = "reloader.kubexx.io/run-suspended";

/// The release of Helm that an object belongs to, as "namespace/name"; empty: to none.
std::string ReleaseOf(const Annotations& annotations);

/// The value of `key`, or null.
const std::string* Find(const Annotations& annotations, std::string_view key);

/// Go's strconv.ParseBool, with false for what it refuses: 1, t, T, true, True and TRUE are true.
bool ParseGoBool(std::string_view text);

/// `text` without the white space around it (Go's strings.TrimSpace for ASCII).
std::string_view TrimSpace(std::string_view text);

/// Calls `each` with every trimmed item of a comma list until it returns true; whether one did. An
/// empty list has one empty item, as Go's strings.Split.
bool AnyItem(std::string_view list, base::FunctionRef<bool(std::string_view)> each);

/// Whether an item of a reload list can match its own text only: letters, digits, '-' and '_'. True
/// for an empty item.
bool IsPlainItem(std::string_view item);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_MODEL_ANNOTATIONS_H_
