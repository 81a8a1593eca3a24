/// @file
/// OpenAPI v2 in protobuf, which older versions of kubectl and client-go's discovery request.
#ifndef KUBEXX_APISERVER_ENDPOINTS_DISCOVERY_OPENAPI_MESSAGE_H_
#define KUBEXX_APISERVER_ENDPOINTS_DISCOVERY_OPENAPI_MESSAGE_H_

#include <string>

#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Encodes a Swagger 2.0 document of OpenApiV2 as gnostic's openapi.v2.Document. Leaves out members
/// that this message does not have, except those that begin with "x-".
std::string OpenApiMessage(const codec::JsonTree& document);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_DISCOVERY_OPENAPI_MESSAGE_H_
