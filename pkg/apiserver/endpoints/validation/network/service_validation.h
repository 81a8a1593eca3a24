/// @file
/// What is wrong with a Service.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_NETWORK_SERVICE_VALIDATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_NETWORK_SERVICE_VALIDATION_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what is wrong with `service`, which has its defaults and what the server gives it; `old`,
/// null for a new one, is what it was: addresses that were taken before are taken again. As
/// kube-apiserver's validateService.
void CheckService(const codec::JsonTree* old, const codec::JsonTree& service, FieldCauses& causes);

/// Adds what an update may not change of a Service's spec. As kube-apiserver's
/// ValidateServiceUpdate.
void CheckServiceChange(const codec::JsonTree& before, const codec::JsonTree& after,
                        FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_NETWORK_SERVICE_VALIDATION_H_
