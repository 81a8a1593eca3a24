/// @file
/// Checks of what kubelet does to see whether a container works, and when it starts and ends.
#ifndef KUBEXX_APISERVER_ENDPOINTS_PROBE_VALIDATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_PROBE_VALIDATION_H_

#include <cstdint>
#include <string_view>

#include "kubexx/apiserver/endpoints/field_causes.h"
#include "kubexx/apiserver/endpoints/field_path.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// What of a pod its containers' probes and handlers depend on.
struct HandlerContext {
  std::int64_t grace_seconds;  ///< spec.terminationGracePeriodSeconds
  std::string_view os;         ///< spec.os.name, "" when there is none
};

/// Adds what is wrong with the probes and the lifecycle of a container that runs all the time. As
/// core validation's validateProbe and validateLifecycle.
void CheckProbes(const codec::JsonTree& container, const HandlerContext& pod,
                 const FieldPath& path, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_PROBE_VALIDATION_H_
