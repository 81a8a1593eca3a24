/// @file
/// OpenAPI v3: what `kubectl explain` and its checks of manifests need.
#ifndef KUBEXX_APISERVER_ENDPOINTS_OPENAPI_H_
#define KUBEXX_APISERVER_ENDPOINTS_OPENAPI_H_

#include <optional>
#include <vector>

#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/http/message.h"

namespace kubexx::apiserver {

/// Answers /openapi/v3 and the documents of group versions below it; nothing for other paths. The
/// documents have the schemas of the types, from the codec's tables, without descriptions, and the
/// paths with what clients look for in them: the parameters of PATCH.
std::optional<http::Response> ServeOpenApi(const http::Request& request,
                                           const std::vector<ResourceTypeRef>& types);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_OPENAPI_H_
