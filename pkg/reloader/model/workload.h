/// @file
/// The part of a workload that decides about its reloads.
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
#include "kubexx/reloader/model/workload_kind.h"
#include "kubexx/reloadpolicy/phase.h"

namespace kubexx::reloader {

/// Names one workload.
struct WorkloadId {
  WorkloadKind kind = WorkloadKind::kDeployment;
  apimachinery::ObjectKey key{};
  auto operator<=>(const WorkloadId&) const = default;
};

/// A mention of a source; the namespace is the workload's.
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
  std::vector<Reference> references{};  ///< env and envFrom
  std::vector<EnvVar> variables{};      ///< those with kEnvVarPrefix, in order
  bool operator==(const Container&) const = default;
};

/// The workload whose pod template another one runs: spec.workloadRef of a Rollout.
struct TemplateRef {
  std::string kind{};
  std::string name{};
  bool operator==(const TemplateRef&) const = default;
};

/// Tells pod templates apart. With a digest alone a default that a newer API server fills in would
/// pass for a change, which makes no new pods.
struct TemplateVersion {
  std::int64_t generation = 0;  ///< metadata.generation: changes with anything below spec
  std::string digest{};         ///< of spec.template; empty: not known
  bool operator==(const TemplateVersion&) const = default;
};

/// A workload's projection. A value type.
struct Workload {
  WorkloadId id{};
  std::string uid{};
  Annotations annotations{};
  Annotations template_annotations{};
  std::vector<Volume> volumes{};
  std::vector<Container> containers{};
  std::vector<Container> init_containers{};
  /// Its pods are made from that workload's template; volumes and containers are empty then until
  /// Caches::GetWorkload fills them in.
  std::optional<TemplateRef> template_ref{};
  /// Changes whenever its pod template does.
  TemplateVersion template_version{};
  /// Somebody else wrote the baseline that is on it, such as an older one that `kubectl rollout
  /// undo` brings back: when. Zero: not known when.
  std::optional<apimachinery::Time> baseline_restored{};
  /// The baseline that is on it is not the operator's, whoever wrote it: no replica has recorded
  /// that.
  bool baseline_is_foreign = false;
  /// Who gave the variables and annotations of rollouts in the pod template their values.
  Stampers stampers{};
  /// When a command that undoes rollouts last wrote the pod template, or the baseline.
  std::optional<apimachinery::Time> undone{};
  std::string release{};  ///< see ReleaseOf
  /// How far its rollout is.
  reloadpolicy::Phase phase = reloadpolicy::Phase::kComplete;
  /// With kFailed: all the same no pod is of an earlier template.
  bool failed_alone = false;
  /// spec.paused, of kinds that have it: a change of the template makes no new pods for now.
  bool paused = false;
  /// A CronJob that a change does not run (see IsToRun).
  bool suspended = false;
  /// Of the object that it was read from, and of the Deployment whose template it has. No part of
  /// the projection; empty: not known.
  std::string resource_version{};
  std::string template_resource_version{};
  bool operator==(const Workload&) const = default;
};

/// Whether the workload is the keeper of a Job (see KeeperFor): it is never rolled itself.
inline bool IsKeeper(const Workload& workload) {
  return workload.id.kind == WorkloadKind::kJob && Find(workload.annotations, kKeeperOf) != nullptr;
}

/// Whether its pods are made from a Deployment's template.
bool IsOfDeployment(const Workload& workload);
/// Fills in what IsOfDeployment leaves empty.
void TakeTemplateOf(Workload deployment, Workload& workload);

/// Whether no pod is of an earlier template than the present one, by the status.
bool AllPodsAreReplaced(const Workload& workload);

/// Whether the pod template was changed between two states of one workload.
bool HasOtherTemplate(const Workload& before, const Workload& now);

/// All sources that volumes, containers and init containers mention, ascending, each once.
std::vector<SourceId> ReferencedSources(const Workload& workload);

/// The index in `containers` of the one that carries the variable of `source`; nothing when the
/// workload is not to roll for it. In order: the first container that mounts the first volume
/// showing the source; containers[0] when only an init container mounts that volume; the first
/// container naming the source in env or envFrom; containers[0] when an init container does;
/// containers[0] for an explicit match. As stakater/Reloader.
std::optional<std::size_t> ChooseContainer(const Workload& workload, SourceType type,
                                           std::string_view source_name, bool explicit_match);

/// The value of the first variable called `name`, or null.
const std::string* FindVariable(const Container& container, std::string_view name);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_MODEL_WORKLOAD_H_
