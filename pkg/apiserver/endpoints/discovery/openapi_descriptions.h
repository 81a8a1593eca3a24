/// @file
/// The descriptions in OpenAPI documents of the fields that every object has.
#ifndef KUBEXX_APISERVER_ENDPOINTS_DISCOVERY_OPENAPI_DESCRIPTIONS_H_
#define KUBEXX_APISERVER_ENDPOINTS_DISCOVERY_OPENAPI_DESCRIPTIONS_H_

#include <string_view>

namespace kubexx::apiserver {

/// The description of a field of a type such as "meta.v1.ObjectMeta", or of the type itself when
/// `field` is empty. "" for most fields. The descriptions of apiVersion, kind and metadata are
/// those of the type "meta.v1.TypeMeta".
std::string_view DescriptionOf(std::string_view type, std::string_view field);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_DISCOVERY_OPENAPI_DESCRIPTIONS_H_
