/// @file
/// Whether a text is JSON, whatever its depth.
#ifndef KUBEXX_APISERVER_ENDPOINTS_CHECKS_JSON_SYNTAX_H_
#define KUBEXX_APISERVER_ENDPOINTS_CHECKS_JSON_SYNTAX_H_

#include <string_view>

namespace kubexx::apiserver {

/// Whether `text` is an object in JSON, or null, as Go's encoding/json takes it for a map: nested
/// up to 10,000 levels, which is more than JsonTree has. Uses a byte for each level, no stack.
bool IsJsonMap(std::string_view text);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CHECKS_JSON_SYNTAX_H_
