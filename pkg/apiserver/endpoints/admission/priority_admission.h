/// @file
/// What the PriorityClass of a pod makes of it: kube-apiserver's admission plugin Priority.
#ifndef KUBEXX_APISERVER_ENDPOINTS_ADMISSION_PRIORITY_ADMISSION_H_
#define KUBEXX_APISERVER_ENDPOINTS_ADMISSION_PRIORITY_ADMISSION_H_

#include <stop_token>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/call/call.h"
#include "kubexx/apiserver/endpoints/registry/type_registry.h"
#include "kubexx/apiserver/endpoints/store/object_store.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Makes the two PriorityClasses that every cluster has, where they are not there. Errors of the
/// store.
apimachinery::Result<void> MakePriorityClasses(const TypeRegistry& types, ObjectStore& objects,
                                               const std::stop_token& stop);

/// Gives a new pod the priority and the preemption policy of its class, or of the class that is the
/// default of all; one that is written again keeps those of `old`. Sees to it that not two classes
/// are the default. Does nothing with other objects and with subresources. kForbidden for a class
/// that is not there, and for a pod that says itself what its class says otherwise.
apimachinery::Result<void> GivePriority(const Call& call, codec::JsonTree& object,
                                        const codec::JsonTree* old);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_ADMISSION_PRIORITY_ADMISSION_H_
