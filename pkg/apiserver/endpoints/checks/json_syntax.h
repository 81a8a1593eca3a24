/// @file
/// Checks the syntax of JSON texts of any depth.
#ifndef KUBEXX_APISERVER_ENDPOINTS_CHECKS_JSON_SYNTAX_H_
#define KUBEXX_APISERVER_ENDPOINTS_CHECKS_JSON_SYNTAX_H_

#include <string_view>

namespace kubexx::apiserver {

/// Whether `text` is a JSON object or null, which Go's encoding/json accepts for a map. It may be
/// nested up to 10,000 levels, which is more than JsonTree supports. Uses one byte of memory for
/// each level and no recursion.
bool IsJsonMap(std::string_view text);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CHECKS_JSON_SYNTAX_H_
