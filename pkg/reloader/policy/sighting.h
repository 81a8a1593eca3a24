/// @file
/// Converts a workload to what the gate of reload policies sees.
#ifndef KUBEXX_RELOADER_POLICY_SIGHTING_H_
#define KUBEXX_RELOADER_POLICY_SIGHTING_H_

#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloadpolicy/gate.h"

namespace kubexx::reloader {

/// The workload as the gate sees it. The hash of the pod template is set only if the record of a
/// rollout is on the workload, because one write changes both. A Deployment that the operator has
/// paused itself (the annotation `keys.pause_period`) waits: its rollout begins when the operator
/// resumes it, which asks no gate, so that it keeps its place until then.
reloadpolicy::Sighting SightingOf(const Workload& workload, const AnnotationKeys& keys);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_POLICY_SIGHTING_H_
