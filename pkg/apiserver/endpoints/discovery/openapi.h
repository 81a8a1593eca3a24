/// @file
/// OpenAPI v3, as far as `kubectl explain` and kubectl's checks of manifests need it.
#ifndef KUBEXX_APISERVER_ENDPOINTS_DISCOVERY_OPENAPI_H_
#define KUBEXX_APISERVER_ENDPOINTS_DISCOVERY_OPENAPI_H_

#include <optional>
#include <string>
#include <vector>

#include "kubexx/apiserver/endpoints/discovery/openapi_schemas.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/http/message.h"

namespace kubexx::apiserver {

/// Answers /openapi/v3 and the documents of group versions below it; returns std::nullopt for other
/// paths. The documents have the schemas of the types, from the codec's tables, with few
/// descriptions. Their paths have only what clients look for: the parameters of PATCH.
std::optional<http::Response> ServeOpenApi(const http::Request& request,
                                           const std::vector<ResourceTypeRef>& types);

/// The path in a document at which the operations of one object are.
std::string OpenApiPathOf(const ResourceType& type);

/// The operation PATCH of an object, with the parameters that clients look for.
codec::JsonTree PatchOperation(const ResourceType& type, OpenApiVersion version);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_DISCOVERY_OPENAPI_H_
