/// @file
/// Converts a workload to what a reloadpolicy::Arbiter sees.
#ifndef KUBEXX_RELOADER_POLICY_SIGHTING_H_
#define KUBEXX_RELOADER_POLICY_SIGHTING_H_

#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloadpolicy/arbiter.h"

namespace kubexx::reloader {

/// The workload as the arbiter sees it. The hash of the pod template is set only if the record of a
/// rollout is on the workload, because one write changes both.
reloadpolicy::Sighting SightingOf(const Workload& workload);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_POLICY_SIGHTING_H_
