/// @file
/// The body of a request as cpprestsdk reads it.
#ifndef KUBEXX_REST_INTERNAL_MESSAGE_REQUEST_BODY_H_
#define KUBEXX_REST_INTERNAL_MESSAGE_REQUEST_BODY_H_

#include <cpprest/astreambuf.h>
#include <cpprest/streams.h>

#include <string_view>

namespace kubexx::rest::internal {

/// A stream of a copy of `body`, which is wiped at its end. It can be read once and not rewound:
/// cpprestsdk sends a request again by itself, whatever its method, when a connection that has
/// served others closes before the answer, though the server may have done what was asked. It does
/// not when it cannot rewind the body, even an empty one, and fails the request instead.
Concurrency::streams::istream BodyToSendOnce(std::string_view body);

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_MESSAGE_REQUEST_BODY_H_
