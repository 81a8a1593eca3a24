/// @file
/// What goes before the body of a response.
#ifndef KUBEXX_HTTP_INTERNAL_RESPONSE_HEADER_H_
#define KUBEXX_HTTP_INTERNAL_RESPONSE_HEADER_H_

#include <string>
#include <string_view>

#include "kubexx/http/message.h"

namespace kubexx::http::internal {

/// Whether the header can be sent: no field ends a line, or is longer than clients take.
bool IsSendable(const Response& response);

/// The status line and the fields of `response`, then `fields`, whole lines that say how the body
/// ends, and the empty line.
std::string HeaderOf(const Response& response, std::string_view fields);

/// The answer to a request for a WebSocket with that key.
std::string UpgradeHeaderOf(const Response& response, std::string_view key);

}  // namespace kubexx::http::internal

#endif  // KUBEXX_HTTP_INTERNAL_RESPONSE_HEADER_H_
