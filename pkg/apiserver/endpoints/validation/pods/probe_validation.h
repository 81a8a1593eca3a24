/// @file
/// Checks of the probes and lifecycle hooks of containers.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_PROBE_VALIDATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_PROBE_VALIDATION_H_

#include <cstdint>

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/endpoints/checks/field_path.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what is wrong with the probes and the lifecycle hooks of a container that runs all the
/// time. As core validation's validateProbe and validateLifecycle. `grace_seconds` is the
/// termination grace period of the pod.
void CheckProbes(const codec::JsonTree& container, std::int64_t grace_seconds,
                 const FieldPath& path, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_PROBE_VALIDATION_H_
