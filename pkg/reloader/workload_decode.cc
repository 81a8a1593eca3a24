#include "kubexx/reloader/workload_decode.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "kubexx/api/apps/v1/schema.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/batch/v1/schema.gen.h"
#include "kubexx/api/batch/v1/types.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/meta/v1/schema.gen.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/rollout_phase.h"

namespace kubexx::reloader {
namespace {

namespace apps = api::apps::v1;
namespace batch = api::batch::v1;
namespace core = api::core::v1;
namespace meta = api::meta::v1;
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

template <class T>
Result<PodOwner> DecodeAs(const cache::Object& object) {
  KX_ASSIGN_OR_RETURN(T full, codec::Decode<T>(object.encoding, object.bytes));
  const reloadpolicy::Phase phase = PhaseOf(full);
  return PodOwner{
      .metadata = std::move(full.metadata), .pods = std::move(full.spec.template_), .phase = phase};
}

Result<PodOwner> DecodeCronJob(const cache::Object& object) {
  KX_ASSIGN_OR_RETURN(batch::CronJob full,
                      codec::Decode<batch::CronJob>(object.encoding, object.bytes));
  const bool over = full.metadata.deletion_timestamp.has_value();
  return PodOwner{.metadata = std::move(full.metadata),
                  .pods = std::move(full.spec.job_template.spec.template_),
                  .over = over};
}

Result<PodOwner> DecodeJob(const cache::Object& object) {
  KX_ASSIGN_OR_RETURN(batch::Job full, codec::Decode<batch::Job>(object.encoding, object.bytes));
  const bool over =
      full.metadata.deletion_timestamp.has_value() ||
      std::ranges::any_of(full.status.conditions, [](const batch::JobCondition& condition) {
        return IsFinalJobCondition(condition.type, condition.status);
      });
  return PodOwner{
      .metadata = std::move(full.metadata), .pods = std::move(full.spec.template_), .over = over};
}

/// The member at `path` as a T; a T without content when there is none.
template <class T>
Result<T> Part(const JsonTree& tree, std::initializer_list<std::string_view> path) {
  const JsonTree* part = tree.At(path);
  if (part == nullptr || part->IsNull()) {
    return T{};
  }
  return codec::DecodeJson<T>(part->ToJson());
}

std::int64_t Number(const JsonTree& tree, std::initializer_list<std::string_view> path,
                    std::int64_t otherwise) {
  const JsonTree* value = tree.At(path);
  return value == nullptr ? otherwise : value->AsInt().value_or(otherwise);
}

// Argo's controller sums a Rollout up in one word.
reloadpolicy::Phase PhaseOfRollout(const JsonTree& tree) {
  const JsonTree* status = tree.Find("status");
  const std::string_view phase = status == nullptr ? "" : status->TextAt("phase");
  return phase == "Progressing" ? reloadpolicy::Phase::kUpdating
         : phase == "Degraded"  ? reloadpolicy::Phase::kFailed
                                : reloadpolicy::Phase::kComplete;
}

// As of a Deployment.
reloadpolicy::Phase PhaseOfConfig(const JsonTree& tree) {
  const std::int64_t wanted = Number(tree, {"spec", "replicas"}, 1);
  if (const JsonTree* paused = tree.At({"spec", "paused"});
      paused != nullptr && paused->AsBool().value_or(false)) {
    return reloadpolicy::Phase::kComplete;
  }
  if (Number(tree, {"status", "observedGeneration"}, 0) <
          Number(tree, {"metadata", "generation"}, 0) ||
      Number(tree, {"status", "updatedReplicas"}, 0) < wanted) {
    return reloadpolicy::Phase::kUpdating;
  }
  return Number(tree, {"status", "availableReplicas"}, 0) < wanted
             ? reloadpolicy::Phase::kUnavailable
             : reloadpolicy::Phase::kComplete;
}

// Custom resources come as JSON, and only these parts of them have a type here.
Result<PodOwner> DecodeCustom(WorkloadKind kind, const cache::Object& object) {
  if (object.encoding != codec::Encoding::kJson) {
    return Fail(Reason::kMalformed, "a custom resource that is not JSON");
  }
  KX_ASSIGN_OR_RETURN(const JsonTree tree, JsonTree::Parse(object.bytes));
  PodOwner owner;
  KX_ASSIGN_OR_RETURN(owner.metadata, Part<meta::ObjectMeta>(tree, {"metadata"}));
  KX_ASSIGN_OR_RETURN(owner.pods, Part<core::PodTemplateSpec>(tree, {"spec", "template"}));
  if (const JsonTree* ref = tree.At({"spec", "workloadRef"}); ref != nullptr && ref->IsObject()) {
    owner.template_ref =
        TemplateRef{std::string(ref->TextAt("kind")), std::string(ref->TextAt("name"))};
  }
  if (const JsonTree* status = tree.Find("status"); status != nullptr && status->IsObject()) {
    owner.phase = kind == WorkloadKind::kRollout ? PhaseOfRollout(tree) : PhaseOfConfig(tree);
  }
  return owner;
}

}  // namespace

Result<PodOwner> DecodePodOwner(WorkloadKind kind, const cache::Object& object) {
  switch (kind) {
    case WorkloadKind::kDeployment:
      return DecodeAs<apps::Deployment>(object);
    case WorkloadKind::kDaemonSet:
      return DecodeAs<apps::DaemonSet>(object);
    case WorkloadKind::kStatefulSet:
      return DecodeAs<apps::StatefulSet>(object);
    case WorkloadKind::kCronJob:
      return DecodeCronJob(object);
    case WorkloadKind::kJob:
      return DecodeJob(object);
    case WorkloadKind::kRollout:
    case WorkloadKind::kDeploymentConfig:
      return DecodeCustom(kind, object);
  }
  return Fail(Reason::kInternalError, "unknown kind of workload");
}

bool IsFinalJobCondition(std::string_view type, std::string_view status) {
  // The last two say that it is about to.
  return status == "True" && (type == "Complete" || type == "Failed" ||
                              type == "SuccessCriteriaMet" || type == "FailureTarget");
}

}  // namespace kubexx::reloader
