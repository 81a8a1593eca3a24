/// @file
/// Warnings that the API server sends beside a response: deprecated versions, unknown fields.
#ifndef KUBEXX_REST_INTERNAL_WARNING_H_
#define KUBEXX_REST_INTERNAL_WARNING_H_

#include <string>
#include <string_view>
#include <vector>

namespace kubexx::rest::internal {

/// The texts of code 299 in a Warning header: `299 agent "text" ["date"]`, comma-separated (RFC
/// 7234, section 5.5). An entry that is malformed, or whose text has control characters, ends the
/// header. Empty texts are left out.
std::vector<std::string> ParseWarnings(std::string_view header);

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_WARNING_H_
