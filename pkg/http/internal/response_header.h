/// @file
/// Functions that make the bytes before the body of a response.
#ifndef KUBEXX_HTTP_INTERNAL_RESPONSE_HEADER_H_
#define KUBEXX_HTTP_INTERNAL_RESPONSE_HEADER_H_

#include <string>
#include <string_view>

#include "kubexx/http/message.h"

namespace kubexx::http::internal {

/// Whether the header can be sent: no field may contain the end of a line, or be longer than
/// clients accept.
bool IsSendable(const Response& response);

/// Returns the status line and the fields of `response`, then `fields`, which are whole lines that
/// say how the body ends, and the empty line.
std::string HeaderOf(const Response& response, std::string_view fields);

/// Returns the answer to a request for a WebSocket with that key.
std::string UpgradeHeaderOf(const Response& response, std::string_view key);

}  // namespace kubexx::http::internal

#endif  // KUBEXX_HTTP_INTERNAL_RESPONSE_HEADER_H_
