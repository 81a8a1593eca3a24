#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include "kubexx/api/apps/v1/schema.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/codec/codec.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/baseline_owner.h"
#include "kubexx/reloader/model/env_var.h"
#include "kubexx/reloader/model/projection.h"
#include "kubexx/reloader/model/stamps.h"
#include "kubexx/reloader/model/used_keys.h"
#include "kubexx/reloader/model/workload_decode.h"
#include "kubexx/reloadpolicy/rollout_record.h"

namespace kubexx::reloader {
namespace {

namespace core = api::core::v1;
namespace apps = api::apps::v1;
using apimachinery::Result;

/// Label of a projection: the phase of the rollout. It is absent when the rollout is complete, so
/// that workloads that do not change take no memory for it.
constexpr char kPhase[] = "rollout-phase";
/// Label of a projection: Workload::presumed.
constexpr char kPresumed[] = "presumed-phase";
/// Label of a projection: Workload::failed_alone.
constexpr char kFailedAlone[] = "failed-alone";
/// Label of a projection: Workload::reloads_alone.
constexpr char kReloadsAlone[] = "reloads-alone";
/// Label of a projection: whose template the workload's pods are made from, as "Kind/name".
constexpr char kTemplateRef[] = "template-ref";
/// Label of a projection: the object whose template the workload's pods are made from, as
/// "Kind/name".
constexpr char kSuspended[] = "suspended";
/// Labels of a projection: TemplateVersion as "generation.digest"; the time when the baseline was
/// restored, in seconds since 1970; Workload::is_made_with_baseline.
constexpr char kTemplateVersion[] = "template";
constexpr char kBaselineRestored[] = "baseline-restored";
constexpr char kBaselineForeign[] = "baseline-foreign";
constexpr char kMadeWithBaseline[] = "made-with-baseline";
/// Labels of a projection: Workload::stampers; Workload::template_written, Workload::own_written,
/// Workload::undone and Workload::created, as seconds since 1970.
constexpr char kStampers[] = "stampers";
constexpr char kTemplateWritten[] = "template-written";
constexpr char kOwnWritten[] = "own-written";
constexpr char kUndone[] = "undone";
constexpr char kCreated[] = "created";
/// Labels of a projection: Workload::ended, as seconds since 1970; timed_out, wanted and release.
constexpr char kEnded[] = "rollout-ended";
constexpr char kRolloutTimedOut[] = "rollout-timed-out";
constexpr char kWanted[] = "wanted";
constexpr char kRelease[] = "release";
/// Label of a projection: Workload::used_keys. It is absent when all keys are used.
constexpr char kUsedKeys[] = "used-keys";
/// The attribute that names the SecretProviderClass in a volume of the Secrets Store CSI driver.
constexpr char kProviderClassAttribute[] = "secretProviderClass";

Annotations Concerning(const Annotations& annotations, const AnnotationKeys& keys) {
  Annotations kept;
  for (const auto& [key, value] : annotations) {
    if (keys.ConcernsWorkload(key)) {
      kept.emplace(key, value);
    }
  }
  return kept;
}

/// Parses a number that std::to_string has written.
std::int64_t NumberFrom(std::string_view text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// ---- Conversion from the API's types.

std::vector<Reference> ReferencesOf(const core::VolumeSource& volume) {
  std::vector<Reference> references;
  if (volume.config_map) {
    references.push_back({SourceType::kConfigMap, volume.config_map->local_object_reference.name});
  }
  if (volume.secret) {
    references.push_back({SourceType::kSecret, volume.secret->secret_name});
  }
  if (volume.csi) {
    const auto& attributes = volume.csi->volume_attributes;
    if (const auto name = attributes.find(kProviderClassAttribute); name != attributes.end()) {
      references.push_back({SourceType::kSecretProviderClass, name->second});
    }
  }
  if (volume.projected) {
    for (const core::VolumeProjection& source : volume.projected->sources) {
      if (source.config_map) {
        references.push_back(
            {SourceType::kConfigMap, source.config_map->local_object_reference.name});
      }
      if (source.secret) {
        references.push_back({SourceType::kSecret, source.secret->local_object_reference.name});
      }
    }
  }
  return references;
}

std::vector<Reference> ReferencesOf(const core::EnvVar& variable) {
  std::vector<Reference> references;
  if (variable.value_from && variable.value_from->config_map_key_ref) {
    references.push_back({SourceType::kConfigMap,
                          variable.value_from->config_map_key_ref->local_object_reference.name});
  }
  if (variable.value_from && variable.value_from->secret_key_ref) {
    references.push_back(
        {SourceType::kSecret, variable.value_from->secret_key_ref->local_object_reference.name});
  }
  return references;
}

std::vector<Reference> ReferencesOf(const core::EnvFromSource& from) {
  std::vector<Reference> references;
  if (from.config_map_ref) {
    references.push_back(
        {SourceType::kConfigMap, from.config_map_ref->local_object_reference.name});
  }
  if (from.secret_ref) {
    references.push_back({SourceType::kSecret, from.secret_ref->local_object_reference.name});
  }
  return references;
}

void Append(std::vector<Reference>& to, std::vector<Reference> from) {
  std::ranges::move(from, std::back_inserter(to));
}

Container ContainerFrom(const core::Container& container) {
  Container result{.name = container.name};
  for (const core::VolumeMount& mount : container.volume_mounts) {
    result.mounts.push_back(mount.name);
  }
  for (const core::EnvVar& variable : container.env) {
    Append(result.references, ReferencesOf(variable));
    if (variable.name.starts_with(kEnvVarPrefix)) {
      result.variables.push_back({variable.name, variable.value});
    }
  }
  for (const core::EnvFromSource& from : container.env_from) {
    Append(result.references, ReferencesOf(from));
  }
  return result;
}

Workload From(WorkloadKind kind, const PodOwner& owner) {
  const core::PodTemplateSpec& pod = owner.pods;
  Workload workload{.id = {kind, {owner.metadata.namespace_, owner.metadata.name}},
                    .uid = owner.metadata.uid};
  if (const std::string* of = Find(owner.metadata.annotations, kKeeperOf);
      of != nullptr && kind == WorkloadKind::kJob) {
    workload.annotations[std::string(kKeeperOf)] = *of;
    return workload;
  }
  if (owner.over) {
    return workload;  // the Job is over, so nothing rolls it any more
  }
  workload.annotations = owner.metadata.annotations;
  workload.release = ReleaseOf(workload.annotations);
  workload.template_annotations = pod.metadata.annotations;
  workload.template_ref = owner.template_ref;
  workload.template_version = owner.template_version;
  workload.phase = owner.phase;
  workload.presumed = owner.presumed;
  workload.failed_alone = owner.failed_alone;
  workload.paused = owner.paused;
  workload.replicas = owner.replicas;
  workload.suspended = owner.suspended;
  for (const core::Volume& volume : pod.spec.volumes) {
    workload.volumes.push_back({volume.name, ReferencesOf(volume.volume_source)});
  }
  for (const core::Container& container : pod.spec.containers) {
    workload.containers.push_back(ContainerFrom(container));
  }
  for (const core::Container& container : pod.spec.init_containers) {
    workload.init_containers.push_back(ContainerFrom(container));
  }
  return workload;
}

// ---- Conversion back to the API's types, without the other fields.

core::VolumeProjection ProjectionOf(const Reference& reference) {
  core::VolumeProjection projection;
  if (reference.type == SourceType::kConfigMap) {
    projection.config_map.emplace().local_object_reference.name = reference.name;
  } else {
    projection.secret.emplace().local_object_reference.name = reference.name;
  }
  return projection;
}

core::EnvFromSource EnvFromOf(const Reference& reference) {
  core::EnvFromSource from;
  if (reference.type == SourceType::kConfigMap) {
    from.config_map_ref.emplace().local_object_reference.name = reference.name;
  } else {
    from.secret_ref.emplace().local_object_reference.name = reference.name;
  }
  return from;
}

core::Container ContainerOf(const Container& container, const std::vector<Volume>& volumes) {
  core::Container result;
  result.name = container.name;
  for (const std::string& mount : container.mounts) {
    if (std::ranges::find(volumes, mount, &Volume::name) != volumes.end()) {
      result.volume_mounts.push_back({.name = mount});
    }
  }
  std::vector<Reference> seen;
  for (const Reference& reference : container.references) {
    if (std::ranges::find(seen, reference) == seen.end()) {
      seen.push_back(reference);
      result.env_from.push_back(EnvFromOf(reference));
    }
  }
  for (const EnvVar& variable : container.variables) {
    result.env.push_back({.name = variable.name, .value = variable.value});
  }
  return result;
}

// The projections of all kinds are Deployments.
apps::Deployment ObjectOf(const Workload& workload, const AnnotationKeys& keys) {
  apps::Deployment object{};
  object.metadata.namespace_ = workload.id.key.namespace_;
  object.metadata.name = workload.id.key.name;
  object.metadata.uid = workload.uid;
  object.metadata.annotations = Concerning(workload.annotations, keys);
  if (workload.phase != reloadpolicy::Phase::kComplete) {
    object.metadata.labels[kPhase] = ToString(workload.phase);
  }
  if (workload.presumed) {
    object.metadata.labels[kPresumed] = ToString(*workload.presumed);
  }
  if (workload.failed_alone) {
    object.metadata.labels[kFailedAlone] = "";
  }
  if (workload.reloads_alone) {
    object.metadata.labels[kReloadsAlone] = "";
  }
  if (workload.template_ref) {
    object.metadata.labels[kTemplateRef] =
        workload.template_ref->kind + "/" + workload.template_ref->name;
  }
  if (workload.suspended) {
    object.metadata.labels[kSuspended] = "true";
  }
  if (!workload.release.empty()) {
    object.metadata.labels[kRelease] = workload.release;
  }
  if (const TemplateVersion& version = workload.template_version; !version.digest.empty()) {
    object.metadata.labels[kTemplateVersion] =
        std::to_string(version.generation) + "." + version.digest;
  }
  if (workload.baseline_restored) {
    object.metadata.labels[kBaselineRestored] = std::to_string(workload.baseline_restored->seconds);
  }
  if (workload.baseline_is_foreign) {
    object.metadata.labels[kBaselineForeign] = "";
  }
  if (workload.is_made_with_baseline) {
    object.metadata.labels[kMadeWithBaseline] = "";
  }
  if (!workload.stampers.empty()) {
    object.metadata.labels[kStampers] = TextOf(workload.stampers, workload);
  }
  if (workload.template_written) {
    object.metadata.labels[kTemplateWritten] = std::to_string(workload.template_written->seconds);
  }
  if (workload.own_written) {
    object.metadata.labels[kOwnWritten] = std::to_string(workload.own_written->seconds);
  }
  if (workload.undone) {
    object.metadata.labels[kUndone] = std::to_string(workload.undone->seconds);
  }
  if (workload.created) {
    object.metadata.labels[kCreated] = std::to_string(workload.created->seconds);
  }
  if (workload.ended) {
    object.metadata.labels[kEnded] = std::to_string(workload.ended->seconds);
  }
  if (workload.timed_out) {
    object.metadata.labels[kRolloutTimedOut] = "";
  }
  if (workload.wanted) {
    object.metadata.labels[kWanted] = std::to_string(*workload.wanted);
  }
  if (!workload.used_keys.empty()) {
    object.metadata.labels[kUsedKeys] = TextOf(workload.used_keys);
  }
  object.spec.paused = workload.paused;
  object.spec.replicas = workload.replicas;
  core::PodTemplateSpec& pod = object.spec.template_;
  pod.metadata.annotations = Concerning(workload.template_annotations, keys);
  std::vector<Volume> volumes = workload.volumes;
  std::erase_if(volumes, [](const Volume& volume) { return volume.references.empty(); });
  for (const Volume& volume : volumes) {
    core::Volume& kept = pod.spec.volumes.emplace_back();
    kept.name = volume.name;
    if (volume.references.front().type == SourceType::kSecretProviderClass) {
      kept.volume_source.csi.emplace().volume_attributes[kProviderClassAttribute] =
          volume.references.front().name;
      continue;
    }
    core::ProjectedVolumeSource& projected = kept.volume_source.projected.emplace();
    std::ranges::transform(volume.references, std::back_inserter(projected.sources), ProjectionOf);
  }
  for (const Container& container : workload.containers) {
    pod.spec.containers.push_back(ContainerOf(container, volumes));
  }
  for (const Container& container : workload.init_containers) {
    pod.spec.init_containers.push_back(ContainerOf(container, volumes));
  }
  return object;
}

/// Whether the pod template shows a rollout by this operator or by stakater/Reloader.
bool IsStamped(const Workload& workload) {
  const auto has_variable = [](const Container& container) { return !container.variables.empty(); };
  return workload.template_annotations.contains(std::string(kLastReloadedFrom)) ||
         workload.template_annotations.contains(std::string(kRestartedFor)) ||
         std::ranges::any_of(workload.containers, has_variable);
}

}  // namespace

Result<void> ProjectWorkload(WorkloadKind kind, const AnnotationKeys& keys, cache::Object& object) {
  KX_ASSIGN_OR_RETURN(const PodOwner owner, DecodePodOwner(kind, object));
  Workload workload = From(kind, owner);
  if (IsThrough(workload.phase) && IsReloadingInPlace(workload.annotations, workload.uid)) {
    workload.phase = reloadpolicy::Phase::kUpdating;  // it takes its place under limits
    workload.reloads_alone = true;
  }
  if (workload.annotations.contains(std::string(kBaselineAnnotation))) {
    workload.baseline_restored = BaselineRestoredAt(owner.metadata, IsStamped(workload));
    workload.baseline_is_foreign = IsBaselineForeign(owner.metadata);
    workload.is_made_with_baseline =
        kind == WorkloadKind::kJob && IsMadeWithBaseline(owner.metadata);
  }
  const auto record = reloadpolicy::RecordOf(workload.annotations, workload.uid);
  const bool is_followed = record && reloadpolicy::IsOpen(*record);
  if (is_followed || workload.annotations.contains(std::string(kHistoryAnnotation))) {
    workload.ended = owner.ended;
    workload.timed_out = owner.timed_out;
  }
  workload.wanted = is_followed ? owner.wanted : std::nullopt;
  if (!owner.over && !IsKeeper(workload)) {
    workload.used_keys = UsedKeysOf(owner.pods.spec);
  }
  if (!workload.template_version.digest.empty()) {
    workload.stampers = StampersOf(workload, owner.metadata);
    workload.template_written = TemplateWrittenAt(owner.metadata);
    workload.own_written = OwnWrittenAt(owner.metadata);
    workload.undone = UndoneAt(owner.metadata);
  } else if (kind == WorkloadKind::kCronJob) {
    workload.own_written = OwnWrittenAt(owner.metadata);
  }
  if (IsOfDeployment(workload) && !owner.metadata.creation_timestamp.IsZero()) {
    workload.created = owner.metadata.creation_timestamp;
  }
  object.encoding = codec::Encoding::kProtobuf;
  object.bytes = codec::EncodeProtobuf(ObjectOf(workload, keys));
  return {};
}

std::function<Result<void>(cache::Object&)> TransformFor(WorkloadKind kind, AnnotationKeys keys) {
  return [kind, keys = std::move(keys)](cache::Object& object) {
    return ProjectWorkload(kind, keys, object);
  };
}

Result<Workload> WorkloadFrom(WorkloadKind kind, const cache::Object& object) {
  KX_ASSIGN_OR_RETURN(apps::Deployment projection,
                      codec::Decode<apps::Deployment>(object.encoding, object.bytes));
  PodOwner owner{.metadata = std::move(projection.metadata),
                 .pods = std::move(projection.spec.template_),
                 .paused = projection.spec.paused,
                 .replicas = projection.spec.replicas};
  owner.failed_alone = owner.metadata.labels.contains(kFailedAlone);
  owner.suspended = owner.metadata.labels.contains(kSuspended);
  if (const auto ref = owner.metadata.labels.find(kTemplateRef);
      ref != owner.metadata.labels.end()) {
    const std::size_t slash = ref->second.find('/');
    owner.template_ref = TemplateRef{ref->second.substr(0, slash), ref->second.substr(slash + 1)};
  }
  if (const auto phase = owner.metadata.labels.find(kPhase); phase != owner.metadata.labels.end()) {
    owner.phase = reloadpolicy::ParsePhase(phase->second).value_or(reloadpolicy::Phase::kComplete);
  }
  if (const auto presumed = owner.metadata.labels.find(kPresumed);
      presumed != owner.metadata.labels.end()) {
    owner.presumed = reloadpolicy::ParsePhase(presumed->second);
  }
  const auto& labels = owner.metadata.labels;
  if (const auto version = labels.find(kTemplateVersion); version != labels.end()) {
    const std::string_view text = version->second;
    const std::size_t dot = text.find('.');
    owner.template_version = {NumberFrom(text.substr(0, dot)), std::string(text.substr(dot + 1))};
  }
  Workload workload = From(kind, owner);
  if (const auto restored = labels.find(kBaselineRestored); restored != labels.end()) {
    workload.baseline_restored = apimachinery::Time{.seconds = NumberFrom(restored->second)};
  }
  workload.reloads_alone = labels.contains(kReloadsAlone);
  workload.baseline_is_foreign = labels.contains(kBaselineForeign);
  workload.is_made_with_baseline = labels.contains(kMadeWithBaseline);
  if (const auto release = labels.find(kRelease); release != labels.end()) {
    workload.release = release->second;
  }
  if (const auto used = labels.find(kUsedKeys); used != labels.end()) {
    workload.used_keys = UsedKeysFrom(used->second);
  }
  if (const auto stampers = labels.find(kStampers); stampers != labels.end()) {
    workload.stampers = StampersFrom(stampers->second, workload);
  }
  if (const auto written = labels.find(kTemplateWritten); written != labels.end()) {
    workload.template_written = apimachinery::Time{.seconds = NumberFrom(written->second)};
  }
  if (const auto ended = labels.find(kEnded); ended != labels.end()) {
    workload.ended = apimachinery::Time{.seconds = NumberFrom(ended->second)};
  }
  workload.timed_out = labels.contains(kRolloutTimedOut);
  if (const auto wanted = labels.find(kWanted); wanted != labels.end()) {
    workload.wanted = NumberFrom(wanted->second);
  }
  if (const auto written = labels.find(kOwnWritten); written != labels.end()) {
    workload.own_written = apimachinery::Time{.seconds = NumberFrom(written->second)};
  }
  if (const auto undone = labels.find(kUndone); undone != labels.end()) {
    workload.undone = apimachinery::Time{.seconds = NumberFrom(undone->second)};
  }
  if (const auto created = labels.find(kCreated); created != labels.end()) {
    workload.created = apimachinery::Time{.seconds = NumberFrom(created->second)};
  }
  return workload;
}

}  // namespace kubexx::reloader
