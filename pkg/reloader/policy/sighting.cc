#include "kubexx/reloader/policy/sighting.h"

#include <string>

#include "kubexx/reloadpolicy/rollout_record.h"

namespace kubexx::reloader {

reloadpolicy::Sighting SightingOf(const Workload& workload) {
  const auto record = reloadpolicy::RecordOf(workload.annotations, workload.uid);
  const bool is_followed = record && reloadpolicy::IsOpen(*record);
  return {workload.uid, workload.annotations, workload.phase,
          is_followed ? workload.template_version.digest : std::string()};
}

}  // namespace kubexx::reloader
