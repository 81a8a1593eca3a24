/// @file
/// What OpenAPI documents say, in words, of the fields that every object has.
#ifndef KUBEXX_APISERVER_ENDPOINTS_DISCOVERY_OPENAPI_DESCRIPTIONS_H_
#define KUBEXX_APISERVER_ENDPOINTS_DISCOVERY_OPENAPI_DESCRIPTIONS_H_

#include <string_view>

namespace kubexx::apiserver {

/// Of the field of a type, "meta.v1.ObjectMeta", or of the type itself when `field` is empty; ""
/// for most. What an object has beside its spec and status is that of "meta.v1.TypeMeta".
std::string_view DescriptionOf(std::string_view type, std::string_view field);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_DISCOVERY_OPENAPI_DESCRIPTIONS_H_
