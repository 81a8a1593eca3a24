/// @file
/// What the gate of rollouts is told of a workload.
#ifndef KUBEXX_RELOADER_POLICY_SIGHTING_H_
#define KUBEXX_RELOADER_POLICY_SIGHTING_H_

#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloadpolicy/gate.h"

namespace kubexx::reloader {

/// The workload as the gate sees it. Its pod template counts once the record of a rollout is on the
/// workload: both are of one write.
reloadpolicy::Sighting SightingOf(const Workload& workload);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_POLICY_SIGHTING_H_
