#include "kubexx/reloader/model/workload_decode.h"

#include <algorithm>
#include <charconv>
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
#include "kubexx/reloader/kinds/custom_phase.h"
#include "kubexx/reloader/kinds/custom_template.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/model/rollout_phase.h"

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

// Keeps as much of the digest as is needed to tell two templates of one workload apart.
TemplateVersion VersionOf(const meta::ObjectMeta& metadata, std::string_view pod_template) {
  constexpr std::size_t kTold = 12;
  return {metadata.generation, DigestOf(pod_template).ToString().substr(0, kTold)};
}

template <class T>
Result<PodOwner> DecodeAs(const cache::Object& object) {
  KX_ASSIGN_OR_RETURN(T full, codec::Decode<T>(object.encoding, object.bytes));
  const reloadpolicy::Phase phase = PhaseOf(full);
  TemplateVersion version = VersionOf(full.metadata, codec::EncodeProtobuf(full.spec.template_));
  bool paused = false;
  if constexpr (requires { full.spec.paused; }) {
    paused = full.spec.paused;
  }
  std::optional<std::int32_t> replicas;
  if constexpr (requires { full.spec.replicas; }) {
    replicas = full.spec.replicas;
  }
  std::optional<apimachinery::Time> ended;
  bool timed_out = false;
  if constexpr (requires { EndOfRollout(full); }) {
    ended = EndOfRollout(full);
    timed_out = HasTimedOut(full);
  }
  std::optional<std::int64_t> wanted;
  if constexpr (requires { full.spec.replicas; }) {
    wanted = full.spec.replicas.value_or(1);
  } else if constexpr (requires { full.status.desired_number_scheduled; }) {
    wanted = full.status.desired_number_scheduled;
  }
  bool failed_alone = false;
  if constexpr (requires { AllPodsAreReplaced(full); }) {
    failed_alone = phase == reloadpolicy::Phase::kFailed && AllPodsAreReplaced(full);
  }
  return PodOwner{.metadata = std::move(full.metadata),
                  .pods = std::move(full.spec.template_),
                  .template_version = std::move(version),
                  .phase = phase,
                  .failed_alone = failed_alone,
                  .ended = ended,
                  .timed_out = timed_out,
                  .wanted = wanted,
                  .paused = paused,
                  .replicas = replicas};
}

Result<PodOwner> DecodeCronJob(const cache::Object& object) {
  KX_ASSIGN_OR_RETURN(batch::CronJob full,
                      codec::Decode<batch::CronJob>(object.encoding, object.bytes));
  const bool over = full.metadata.deletion_timestamp.has_value();
  const bool is_to_run = IsToRun(full.spec.suspend.value_or(false), full.metadata.annotations);
  return PodOwner{.metadata = std::move(full.metadata),
                  .pods = std::move(full.spec.job_template.spec.template_),
                  .suspended = !is_to_run,
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

/// Returns the member at `path` as a T, or an empty T when there is none.
template <class T>
Result<T> Part(const JsonTree& tree, std::initializer_list<std::string_view> path) {
  const JsonTree* part = tree.At(path);
  if (part == nullptr || part->IsNull()) {
    return T{};
  }
  return codec::DecodeJson<T>(part->ToJson());
}

bool IsPaused(const JsonTree& tree) {
  const JsonTree* paused = tree.At({"spec", "paused"});
  return paused != nullptr && paused->AsBool().value_or(false);
}

std::optional<std::int32_t> ReplicasIn(const JsonTree& tree) {
  const JsonTree* replicas = tree.At({"spec", "replicas"});
  const auto number = replicas == nullptr ? std::nullopt : replicas->AsInt();
  return number ? std::optional(static_cast<std::int32_t>(*number)) : std::nullopt;
}

// Custom resources come as JSON, and only these parts of them have types here.
Result<PodOwner> DecodeCustom(WorkloadKind kind, const cache::Object& object) {
  if (object.encoding != codec::Encoding::kJson) {
    return Fail(Reason::kMalformed, "a custom resource that is not JSON");
  }
  KX_ASSIGN_OR_RETURN(JsonTree tree, JsonTree::Parse(object.bytes));
  const CustomKind* custom = CustomKindOf(kind);
  PodOwner owner;
  if (custom != nullptr) {
    // By the object as people know it: rules name its fields.
    const CustomPhase told = PhaseOfCustom(*custom, tree);
    owner.phase = told.phase;
    owner.presumed = told.presumed;
    TakeTemplateHome(*custom, tree);
  }
  KX_ASSIGN_OR_RETURN(owner.metadata, Part<meta::ObjectMeta>(tree, {"metadata"}));
  KX_ASSIGN_OR_RETURN(owner.pods, Part<core::PodTemplateSpec>(tree, {"spec", "template"}));
  if (const JsonTree* ref = tree.At({"spec", "workloadRef"});
      kind == WorkloadKind::kRollout && ref != nullptr && ref->IsObject()) {
    owner.template_ref =
        TemplateRef{std::string(ref->TextAt("kind")), std::string(ref->TextAt("name"))};
  }
  if (const JsonTree* pods = tree.At({"spec", "template"})) {
    owner.template_version = VersionOf(owner.metadata, pods->ToJson());
  }
  if (const JsonTree* replicas = tree.At({"spec", "replicas"})) {
    owner.wanted = replicas->AsInt();
  }
  if (custom != nullptr) {
    return owner;
  }
  owner.paused = IsPaused(tree);
  owner.replicas = ReplicasIn(tree);
  owner.ended = EndOfRollout(tree);
  owner.timed_out = HasTimedOut(tree);
  owner.phase = kind == WorkloadKind::kRollout ? PhaseOfRollout(tree) : PhaseOfConfig(tree);
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
  return DecodeCustom(kind, object);  // one of CustomKinds
}

bool IsToRun(bool is_suspended, const Annotations& annotations) {
  const auto found = annotations.find(kRunSuspended);
  return !is_suspended || (found != annotations.end() && found->second == "true");
}

bool IsFinalJobCondition(std::string_view type, std::string_view status) {
  // The last two reasons say that the Job is about to end.
  return status == "True" && (type == "Complete" || type == "Failed" ||
                              type == "SuccessCriteriaMet" || type == "FailureTarget");
}

}  // namespace kubexx::reloader
