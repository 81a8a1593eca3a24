/// @file
/// Reads what all kinds of workloads have in common.
#ifndef KUBEXX_RELOADER_MODEL_WORKLOAD_DECODE_H_
#define KUBEXX_RELOADER_MODEL_WORKLOAD_DECODE_H_

#include <optional>
#include <string>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/cache/object.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloadpolicy/phase.h"

namespace kubexx::reloader {

/// An object that makes pods.
struct PodOwner {
  api::meta::v1::ObjectMeta metadata{};
  api::core::v1::PodTemplateSpec pods{};
  std::optional<TemplateRef> template_ref{};
  /// Only for kinds that replace their pods when the template changes.
  TemplateVersion template_version{};
  /// How far the rollout is; kComplete for kinds without rollouts.
  reloadpolicy::Phase phase = reloadpolicy::Phase::kComplete;
  /// See CustomPhase::presumed.
  std::optional<reloadpolicy::Phase> presumed{};
  /// See Workload::failed_alone.
  bool failed_alone = false;
  /// See Workload::ended.
  std::optional<apimachinery::Time> ended{};
  bool timed_out = false;  ///< see Workload::timed_out
  /// How many pods there are to be; std::nullopt where the kind does not tell.
  std::optional<std::int64_t> wanted{};
  /// spec.paused; false for kinds that have none.
  bool paused = false;
  /// See Workload::replicas.
  std::optional<std::int32_t> replicas{};
  /// See Workload::suspended.
  bool suspended = false;
  /// The object makes no more pods: a Job that has finished, or a Job or CronJob that is being
  /// deleted.
  bool over = false;
};

/// Decodes an object as the API server sends it. Fails with kMalformed when the bytes are not an
/// object of that kind.
apimachinery::Result<PodOwner> DecodePodOwner(WorkloadKind kind, const cache::Object& object);

/// Whether a change must start a Job of a CronJob. A suspended CronJob is not expected to run,
/// unless its annotation kRunSuspended allows it.
bool IsToRun(bool is_suspended, const Annotations& annotations);

/// Whether a condition of a Job with this type and status means that no further pods will start.
bool IsFinalJobCondition(std::string_view type, std::string_view status);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_MODEL_WORKLOAD_DECODE_H_
