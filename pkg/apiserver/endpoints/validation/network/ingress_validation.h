/// @file
/// Checks of Ingresses and IngressClasses.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_NETWORK_INGRESS_VALIDATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_NETWORK_INGRESS_VALIDATION_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what is wrong with an Ingress; `old` is null for a new one. As networking validation's
/// ValidateIngressCreate and -Update.
void CheckIngress(const codec::JsonTree* old, const codec::JsonTree& object, FieldCauses& causes);

/// Adds what is wrong with the spec of an IngressClass.
void CheckIngressClass(const codec::JsonTree& spec, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_NETWORK_INGRESS_VALIDATION_H_
