/// @file
/// Base64 for headers.
#ifndef KUBEXX_REST_INTERNAL_BASE64_H_
#define KUBEXX_REST_INTERNAL_BASE64_H_

#include <string>

namespace kubexx::rest::internal {

/// With padding, as basic authentication has it.
std::string Base64(const std::string& text);

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_BASE64_H_
