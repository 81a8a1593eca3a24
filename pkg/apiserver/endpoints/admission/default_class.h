/// @file
/// kube-apiserver's admission plugins DefaultStorageClass and DefaultIngressClass.
#ifndef KUBEXX_APISERVER_ENDPOINTS_ADMISSION_DEFAULT_CLASS_H_
#define KUBEXX_APISERVER_ENDPOINTS_ADMISSION_DEFAULT_CLASS_H_

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/call/call.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Gives a new PersistentVolumeClaim or Ingress that says nothing of its class the one that an
/// annotation makes the default: of several the newest, and of those of the same second the first
/// by name. Does nothing for other objects, for subresources, and when there is no default. Returns
/// errors of the store.
apimachinery::Result<void> GiveDefaultClass(const Call& call, codec::JsonTree& object);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_ADMISSION_DEFAULT_CLASS_H_
