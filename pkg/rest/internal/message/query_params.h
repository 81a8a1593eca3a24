/// @file
/// QueryParams: turns options objects into query parameters.
#ifndef KUBEXX_REST_INTERNAL_MESSAGE_QUERY_PARAMS_H_
#define KUBEXX_REST_INTERNAL_MESSAGE_QUERY_PARAMS_H_

#include <string>
#include <utility>
#include <vector>

#include "kubexx/codec/schema.h"

namespace kubexx::rest::internal {

/// Returns the set fields of an options object (PodLogOptions, CreateOptions, ...) under their JSON
/// names. A list gives one parameter for each element; fields that are objects or maps are left
/// out. Semantics: apimachinery conversion/queryparams Convert.
std::vector<std::pair<std::string, std::string>> QueryParams(const codec::TypeSchema& schema,
                                                             const void* object);

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_MESSAGE_QUERY_PARAMS_H_
