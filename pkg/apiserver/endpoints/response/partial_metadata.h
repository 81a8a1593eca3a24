/// @file
/// meta/v1 PartialObjectMetadata: objects with nothing but their metadata.
#ifndef KUBEXX_APISERVER_ENDPOINTS_RESPONSE_PARTIAL_METADATA_H_
#define KUBEXX_APISERVER_ENDPOINTS_RESPONSE_PARTIAL_METADATA_H_

#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"

namespace kubexx::apiserver {

/// The PartialObjectMetadata of an object of any type, which is in the server's form. `api_version`
/// is "meta.k8s.io/v1" or "meta.k8s.io/v1beta1".
apimachinery::Result<std::string> PartialMetadataJson(std::string_view json,
                                                      std::string_view api_version);

/// The same as a protobuf message without envelope, so without an API version. Also for custom
/// resources.
apimachinery::Result<std::string> PartialMetadataMessage(std::string_view json);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_RESPONSE_PARTIAL_METADATA_H_
