/// @file
/// How long a pod stays on a node that has gone: kube-apiserver's admission plugin
/// DefaultTolerationSeconds.
#ifndef KUBEXX_APISERVER_ENDPOINTS_ADMISSION_DEFAULT_TOLERATIONS_H_
#define KUBEXX_APISERVER_ENDPOINTS_ADMISSION_DEFAULT_TOLERATIONS_H_

#include "kubexx/apiserver/endpoints/call/call.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Whether the request writes a pod.
bool HasDefaultTolerations(const Call& call);

/// Lets a pod stay for five minutes on a node that is not ready or cannot be reached, unless it has
/// tolerations of its own for that.
void GiveTolerations(codec::JsonTree& pod);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_ADMISSION_DEFAULT_TOLERATIONS_H_
