/// @file
/// The discovery of groups, versions and resources.
#ifndef KUBEXX_APISERVER_ENDPOINTS_DISCOVERY_DISCOVERY_H_
#define KUBEXX_APISERVER_ENDPOINTS_DISCOVERY_DISCOVERY_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/http/message.h"

namespace kubexx::apiserver {

/// Answers /, with the paths below it, /api, /apis, /api/v1, /apis/GROUP and /apis/GROUP/VERSION,
/// the first two also in the aggregated form (apidiscovery.k8s.io/v2) for clients that accept it.
/// Returns std::nullopt for other paths and for groups of which `types` has no type.
std::optional<http::Response> Discover(const http::Request& request,
                                       const std::vector<ResourceTypeRef>& types);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_DISCOVERY_DISCOVERY_H_
