/// @file
/// kube-apiserver's admission plugin Priority, which applies the PriorityClass of a pod.
#ifndef KUBEXX_APISERVER_ENDPOINTS_ADMISSION_PRIORITY_ADMISSION_H_
#define KUBEXX_APISERVER_ENDPOINTS_ADMISSION_PRIORITY_ADMISSION_H_

#include <stop_token>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/call/call.h"
#include "kubexx/apiserver/endpoints/registry/type_registry.h"
#include "kubexx/apiserver/endpoints/store/object_store.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Creates the two PriorityClasses that every cluster has, unless they exist. Returns errors of the
/// store.
apimachinery::Result<void> MakePriorityClasses(const TypeRegistry& types, ObjectStore& objects,
                                               const std::stop_token& stop);

/// Gives a new pod the priority and the preemption policy of its class, or of the global default
/// class; an updated pod keeps those of `old`. For a PriorityClass, refuses a second global
/// default. Does nothing for other objects and for subresources. Returns kForbidden when the class
/// does not exist, and when the pod's own values differ from those of its class.
apimachinery::Result<void> GivePriority(const Call& call, codec::JsonTree& object,
                                        const codec::JsonTree* old);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_ADMISSION_PRIORITY_ADMISSION_H_
