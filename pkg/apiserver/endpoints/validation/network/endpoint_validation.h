/// @file
/// Checks of the addresses behind Services.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_NETWORK_ENDPOINT_VALIDATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_NETWORK_ENDPOINT_VALIDATION_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what is wrong with an EndpointSlice. As discovery validation's ValidateEndpointSlice.
void CheckEndpointSlice(const codec::JsonTree& object, FieldCauses& causes);

/// Adds what is wrong with Endpoints. As core validation's ValidateEndpoints.
void CheckEndpoints(const codec::JsonTree& object, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_NETWORK_ENDPOINT_VALIDATION_H_
