/// @file
/// kube-apiserver's admission plugin DefaultTolerationSeconds, which decides how long a pod stays
/// on a node that is gone.
#ifndef KUBEXX_APISERVER_ENDPOINTS_ADMISSION_DEFAULT_TOLERATIONS_H_
#define KUBEXX_APISERVER_ENDPOINTS_ADMISSION_DEFAULT_TOLERATIONS_H_

#include "kubexx/apiserver/endpoints/call/call.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Whether the request writes a pod.
bool IsPodWrite(const Call& call);

/// Adds tolerations with which a pod stays for five minutes on a node that is not ready or
/// unreachable, unless the pod has its own tolerations for that.
void GiveTolerations(codec::JsonTree& pod);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_ADMISSION_DEFAULT_TOLERATIONS_H_
