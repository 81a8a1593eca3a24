/// @file
/// OpenAPI v2 in protobuf, which older kubectl and client-go's discovery ask for.
#ifndef KUBEXX_APISERVER_ENDPOINTS_DISCOVERY_OPENAPI_MESSAGE_H_
#define KUBEXX_APISERVER_ENDPOINTS_DISCOVERY_OPENAPI_MESSAGE_H_

#include <string>

#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// A Swagger 2.0 document of the form that OpenApiV2 makes, as gnostic's openapi.v2.Document.
/// Members that this message does not know are left out, but for those that begin with "x-".
std::string OpenApiMessage(const codec::JsonTree& document);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_DISCOVERY_OPENAPI_MESSAGE_H_
