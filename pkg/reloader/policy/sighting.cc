#include "kubexx/reloader/policy/sighting.h"

#include <optional>
#include <string>

#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/workload_kind.h"
#include "kubexx/reloadpolicy/rollout_record.h"

namespace kubexx::reloader {
namespace {

std::optional<reloadpolicy::Presumed> PresumedOf(const Workload& workload) {
  const CustomKind* kind = CustomKindOf(workload.id.kind);
  return kind != nullptr && workload.presumed
             ? std::optional(reloadpolicy::Presumed{*workload.presumed, kind->settled_for})
             : std::nullopt;
}

}  // namespace

reloadpolicy::Sighting SightingOf(const Workload& workload) {
  const auto record = reloadpolicy::RecordOf(workload.annotations, workload.uid);
  const bool is_followed = record && reloadpolicy::IsOpen(*record);
  return {.uid = workload.uid,
          .annotations = workload.annotations,
          .phase = workload.phase,
          .template_hash = is_followed ? workload.template_version.digest : std::string(),
          .is_in_place = IsReloadingInPlace(workload.annotations, workload.uid),
          .undone = workload.undone ? reloadpolicy::RolloutTimeOf(*workload.undone) : std::nullopt,
          .rolled = workload.own_written ? reloadpolicy::RolloutTimeOf(*workload.own_written)
                                         : std::nullopt,
          .presumed = PresumedOf(workload),
          .template_without_status = CustomKindOf(workload.id.kind) != nullptr
                                         ? workload.template_version.digest
                                         : std::string(),
          .version = VersionNumber(workload.resource_version),
          .wanted = workload.wanted,
          .completed = workload.ended && !workload.timed_out &&
                               workload.phase != reloadpolicy::Phase::kFailed
                           ? reloadpolicy::RolloutTimeOf(*workload.ended)
                           : std::nullopt};
}

}  // namespace kubexx::reloader
