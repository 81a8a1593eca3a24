/// @file
/// Warnings that the API server sends beside a response: deprecated versions, unknown fields.
#ifndef KUBEXX_REST_INTERNAL_MESSAGE_WARNING_H_
#define KUBEXX_REST_INTERNAL_MESSAGE_WARNING_H_

#include <string_view>
#include <vector>

#include "kubexx/rest/warning_handler.h"

namespace kubexx::rest::internal {

/// The entries of a Warning header: `299 agent "text" ["date"]`, comma-separated (RFC 7234, section
/// 5.5). An entry that is malformed, or whose text has control characters, ends the header.
std::vector<Warning> ParseWarnings(std::string_view header);

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_MESSAGE_WARNING_H_
