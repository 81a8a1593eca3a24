/// @file
/// BodyToSendOnce: the body of a request for cpprestsdk.
#ifndef KUBEXX_REST_INTERNAL_MESSAGE_REQUEST_BODY_H_
#define KUBEXX_REST_INTERNAL_MESSAGE_REQUEST_BODY_H_

#include <cpprest/astreambuf.h>
#include <cpprest/streams.h>

#include <string_view>

namespace kubexx::rest::internal {

/// Returns a stream over a copy of `body`, which is wiped at the end. The stream can be read once
/// and not rewound. This keeps cpprestsdk from repeating a request: when a reused connection closes
/// before the answer, cpprestsdk sends the request again, whatever its method, although the server
/// may have executed it already. It fails the request instead when it cannot rewind the body, even
/// if that is empty.
Concurrency::streams::istream BodyToSendOnce(std::string_view body);

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_MESSAGE_REQUEST_BODY_H_
