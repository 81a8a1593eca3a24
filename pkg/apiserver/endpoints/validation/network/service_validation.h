/// @file
/// Checks of Services.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_NETWORK_SERVICE_VALIDATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_NETWORK_SERVICE_VALIDATION_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what is wrong with `service`, which has its defaults and the addresses and ports that the
/// server assigns. `old` is the Service before an update, null for a new one; addresses that it
/// already had are accepted again. As kube-apiserver's validateService.
void CheckService(const codec::JsonTree* old, const codec::JsonTree& service, FieldCauses& causes);

/// Adds causes for changes of a Service's spec that an update may not make. As kube-apiserver's
/// ValidateServiceUpdate.
void CheckServiceChange(const codec::JsonTree& before, const codec::JsonTree& after,
                        FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_NETWORK_SERVICE_VALIDATION_H_
