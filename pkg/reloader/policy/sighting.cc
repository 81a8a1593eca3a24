#include "kubexx/reloader/policy/sighting.h"

#include <string>

#include "kubexx/reloadpolicy/rollout_record.h"

namespace kubexx::reloader {

reloadpolicy::Sighting SightingOf(const Workload& workload, const AnnotationKeys& keys) {
  const auto record = reloadpolicy::RecordOf(workload.annotations, workload.uid);
  const bool is_followed = record && reloadpolicy::IsOpen(*record);
  const std::string* paused_at = Find(workload.annotations, keys.paused_at);
  const bool is_own_pause =
      workload.phase == reloadpolicy::Phase::kPaused && paused_at != nullptr && !paused_at->empty();
  return {workload.uid, workload.annotations,
          is_own_pause ? reloadpolicy::Phase::kWaiting : workload.phase,
          is_followed ? workload.template_version.digest : std::string()};
}

}  // namespace kubexx::reloader
