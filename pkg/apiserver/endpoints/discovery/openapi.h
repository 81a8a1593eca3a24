/// @file
/// OpenAPI v3: what `kubectl explain` and its checks of manifests need.
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

/// Answers /openapi/v3 and the documents of group versions below it; nothing for other paths. The
/// documents have the schemas of the types, from the codec's tables, with few descriptions, and the
/// paths with what clients look for in them: the parameters of PATCH.
std::optional<http::Response> ServeOpenApi(const http::Request& request,
                                           const std::vector<ResourceTypeRef>& types);

/// Where a document has the operations of one object.
std::string OpenApiPathOf(const ResourceType& type);

/// PATCH of an object, with the parameters that clients look for.
codec::JsonTree PatchOperation(const ResourceType& type, OpenApiVersion version);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_DISCOVERY_OPENAPI_H_
