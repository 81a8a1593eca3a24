/// @file
/// What the kinds of workloads have in common, read from an object of any of them.
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
  /// Of kinds whose pods follow a change of the template.
  TemplateVersion template_version{};
  /// How far its rollout is; kComplete for kinds that have none.
  reloadpolicy::Phase phase = reloadpolicy::Phase::kComplete;
  /// See Workload::failed_alone.
  bool failed_alone = false;
  /// spec.paused; false for kinds that have none.
  bool paused = false;
  /// See Workload::suspended.
  bool suspended = false;
  /// It makes no more pods: a Job that has finished, a Job or CronJob that is being deleted.
  bool over = false;
};

/// Reads an object as the API server sends it. kMalformed when the bytes are not an object of that
/// kind.
apimachinery::Result<PodOwner> DecodePodOwner(WorkloadKind kind, const cache::Object& object);

/// Whether a change is to make a Job of a CronJob: whoever has suspended one does not expect it to
/// run, unless the annotation kRunSuspended says so.
bool IsToRun(bool is_suspended, const Annotations& annotations);

/// Whether the status of a Job, as JSON conditions or typed ones, says that no pods follow.
bool IsFinalJobCondition(std::string_view type, std::string_view status);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_MODEL_WORKLOAD_DECODE_H_
