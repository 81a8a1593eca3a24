/// @file
/// kube-apiserver's admission plugin RuntimeClass, which applies the RuntimeClass of a pod.
#ifndef KUBEXX_APISERVER_ENDPOINTS_ADMISSION_RUNTIME_CLASS_ADMISSION_H_
#define KUBEXX_APISERVER_ENDPOINTS_ADMISSION_RUNTIME_CLASS_ADMISSION_H_

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/call/call.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Gives a new pod the overhead, the node selector and the tolerations of its RuntimeClass. Returns
/// kForbidden when there is no such class, and when the pod says something else than its class.
/// Does nothing for other objects, for subresources, and for pods that name no class.
apimachinery::Result<void> GiveRuntimeClass(const Call& call, codec::JsonTree& object);

/// Returns kForbidden when a new pod, as it is about to be stored, has another overhead than its
/// class, or one without a class that has it.
apimachinery::Result<void> CheckOverhead(const Call& call, const codec::JsonTree& object);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_ADMISSION_RUNTIME_CLASS_ADMISSION_H_
