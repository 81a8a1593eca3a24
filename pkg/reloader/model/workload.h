/// @file
/// The part of a workload that matters for its reloads.
#ifndef KUBEXX_RELOADER_MODEL_WORKLOAD_H_
#define KUBEXX_RELOADER_MODEL_WORKLOAD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/time.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/model/stamps.h"
#include "kubexx/reloader/model/used_keys.h"
#include "kubexx/reloader/model/workload_kind.h"
#include "kubexx/reloadpolicy/phase.h"

namespace kubexx::reloader {

/// Identifies one workload.
struct WorkloadId {
  WorkloadKind kind = WorkloadKind::kDeployment;
  apimachinery::ObjectKey key{};
  auto operator<=>(const WorkloadId&) const = default;
};

/// A reference of a workload to a source in the same namespace.
struct Reference {
  SourceType type = SourceType::kConfigMap;
  std::string name{};
  bool operator==(const Reference&) const = default;
};

struct EnvVar {
  std::string name{};
  std::string value{};
  bool operator==(const EnvVar&) const = default;
};

struct Volume {
  std::string name{};
  std::vector<Reference> references{};
  bool operator==(const Volume&) const = default;
};

struct Container {
  std::string name{};
  std::vector<std::string> mounts{};    ///< names of mounted volumes
  std::vector<Reference> references{};  ///< in env and envFrom
  std::vector<EnvVar> variables{};      ///< those with kEnvVarPrefix, in order
  bool operator==(const Container&) const = default;
};

/// The workload whose pod template another workload uses: spec.workloadRef of a Rollout.
struct TemplateRef {
  std::string kind{};
  std::string name{};
  bool operator==(const TemplateRef&) const = default;
};

/// Distinguishes pod templates. A digest alone would not be enough: a default that a newer API
/// server fills in changes the digest, but starts no new pods.
struct TemplateVersion {
  std::int64_t generation = 0;  ///< metadata.generation, which changes with every change below spec
  std::string digest{};         ///< of spec.template; empty: not known
  bool operator==(const TemplateVersion&) const = default;
};

/// What the operator knows of a workload, whichever kind it is of; WorkloadFrom reads it from the
/// projection that the informers store. A value type.
struct Workload {
  WorkloadId id{};
  std::string uid{};
  Annotations annotations{};
  Annotations template_annotations{};
  std::vector<Volume> volumes{};
  std::vector<Container> containers{};
  std::vector<Container> init_containers{};
  UsedKeys used_keys{};  ///< of the containers and init containers
  /// The workload whose template makes the pods. Then `volumes` and `containers` are empty until
  /// Caches::GetWorkload fills them in.
  std::optional<TemplateRef> template_ref{};
  /// Changes whenever the pod template does.
  TemplateVersion template_version{};
  /// Somebody else wrote the baseline on the workload, for example by `kubectl rollout undo`, which
  /// restores an older one: when that was. Zero: the time is not known.
  std::optional<apimachinery::Time> baseline_restored{};
  /// Somebody other than the operator wrote the baseline on the workload: no replica has recorded
  /// it.
  bool baseline_is_foreign = false;
  /// The operator has created the object, a Job in place of another, together with the baseline on
  /// it: see IsMadeWithBaseline.
  bool is_made_with_baseline = false;
  /// Who wrote the variables and annotations of rollouts in the pod template.
  Stampers stampers{};
  /// When somebody other than the operator last wrote the pod template, other than to undo a
  /// rollout: see TemplateWrittenAt.
  std::optional<apimachinery::Time> template_written{};
  /// When the operator last wrote the object with the pod template, if it has written the template,
  /// or made a Job of the CronJob: see OwnWrittenAt.
  std::optional<apimachinery::Time> own_written{};
  /// When a command that undoes rollouts last wrote the pod template or the baseline.
  std::optional<apimachinery::Time> undone{};
  /// When the workload itself was created, in whole seconds: only where a Deployment's template,
  /// which may be older, makes its pods.
  std::optional<apimachinery::Time> created{};
  std::string release{};  ///< see ReleaseOf
  /// How far the workload's rollout is.
  reloadpolicy::Phase phase = reloadpolicy::Phase::kComplete;
  /// See CustomPhase::presumed.
  std::optional<reloadpolicy::Phase> presumed{};
  /// With kFailed: nevertheless no pod is of an earlier template.
  bool failed_alone = false;
  /// With kUpdating: the pods are being reloaded in place. By the status, the rollout is through.
  bool reloads_alone = false;
  /// When the rollout ended, well or not, as the status tells it. Only for a workload with
  /// kHistoryAnnotation, or with a rollout that is followed, whose kind tells.
  std::optional<apimachinery::Time> ended{};
  /// With `ended`: it made no progress for too long, whatever the phase is by now.
  bool timed_out = false;
  /// How many pods the workload is to have. Only for one with a rollout that is followed, whose
  /// kind tells.
  std::optional<std::int64_t> wanted{};
  /// spec.paused, for kinds that have it: changes of the template start no new pods for now.
  bool paused = false;
  /// spec.replicas, for kinds that have it, but for custom kinds; std::nullopt also where it is not
  /// set, which is one.
  std::optional<std::int32_t> replicas{};
  /// The workload is a CronJob for which a change starts no Job (see IsToRun).
  bool suspended = false;
  /// The resource versions of the object that this was read from, and of the Deployment whose
  /// template it uses. The projection does not have them: whoever has the object sets them. Empty:
  /// not known.
  std::string resource_version{};
  std::string template_resource_version{};
  /// Only of a Job that was read from the API server: see JobContentOf.
  std::string content{};
  bool operator==(const Workload&) const = default;
};

/// Whether the workload is the keeper of a Job (see KeeperFor). A keeper is never rolled itself.
inline bool IsKeeper(const Workload& workload) {
  return workload.id.kind == WorkloadKind::kJob && Find(workload.annotations, kKeeperOf) != nullptr;
}

/// Whether the workload's pods are made from a Deployment's template.
bool IsOfDeployment(const Workload& workload);
/// Copies the template of `deployment` to `workload`, for which IsOfDeployment is true.
void TakeTemplateOf(Workload deployment, Workload& workload);

/// Whether no pod is of an earlier template than the present one, according to the status.
bool AllPodsAreReplaced(const Workload& workload);

/// Whether the status tells that pods begin one after the other, or may tell so soon, as it is of
/// an earlier generation. False while the workload is paused.
bool BeginsPods(const Workload& workload);

/// Whether a workload that tells how many pods it wants wants more of them `now`. They begin also
/// while it is paused.
bool HasMoreReplicas(const Workload& before, const Workload& now);

/// Whether the pod template has changed between two states of one workload.
bool HasOtherTemplate(const Workload& before, const Workload& now);

/// All sources that volumes, containers and init containers reference, sorted and without
/// duplicates.
std::vector<SourceId> ReferencedSources(const Workload& workload);

/// The index in `containers` of the container that gets the variable of the source; std::nullopt
/// when the workload must not be rolled for it. The first of these that exists is chosen: the
/// container that mounts the first volume with the source; containers[0] if only an init container
/// mounts that volume; the first container that references the source in env or envFrom;
/// containers[0] if an init container does; containers[0] for an explicit match. The rules are
/// stakater/Reloader's.
std::optional<std::size_t> ChooseContainer(const Workload& workload, SourceType type,
                                           std::string_view source_name, bool explicit_match);

/// Returns the value of the first variable called `name`, or null.
const std::string* FindVariable(const Container& container, std::string_view name);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_MODEL_WORKLOAD_H_
