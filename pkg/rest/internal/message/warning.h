/// @file
/// ParseWarnings: parses the warnings that the API server sends with a response, for example about
/// deprecated versions and unknown fields.
#ifndef KUBEXX_REST_INTERNAL_MESSAGE_WARNING_H_
#define KUBEXX_REST_INTERNAL_MESSAGE_WARNING_H_

#include <string_view>
#include <vector>

#include "kubexx/rest/warning_handler.h"

namespace kubexx::rest::internal {

/// Returns the entries of a Warning header: `299 agent "text" ["date"]`, comma-separated (RFC 7234,
/// section 5.5). Parsing ends at an entry that is malformed, or whose text has control characters.
std::vector<Warning> ParseWarnings(std::string_view header);

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_MESSAGE_WARNING_H_
