/// @file
/// meta/v1 PartialObjectMetadata: objects without all but their metadata.
#ifndef KUBEXX_APISERVER_ENDPOINTS_RESPONSE_PARTIAL_METADATA_H_
#define KUBEXX_APISERVER_ENDPOINTS_RESPONSE_PARTIAL_METADATA_H_

#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"

namespace kubexx::apiserver {

/// Of an object of any type in the server's form. `api_version` is "meta.k8s.io/v1" or v1beta1's.
apimachinery::Result<std::string> PartialMetadataJson(std::string_view json,
                                                      std::string_view api_version);

/// The same as a protobuf message without envelope, which has no version. Also of custom resources.
apimachinery::Result<std::string> PartialMetadataMessage(std::string_view json);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_RESPONSE_PARTIAL_METADATA_H_
