/// @file
/// Converts requests and responses to and from cpprestsdk's messages.
#ifndef KUBEXX_REST_INTERNAL_TRANSPORT_HTTP_MESSAGE_H_
#define KUBEXX_REST_INTERNAL_TRANSPORT_HTTP_MESSAGE_H_

#include <cpprest/http_msg.h>

#include "kubexx/rest/internal/message/failure.h"
#include "kubexx/rest/round_tripper.h"
#include "kubexx/rest/url.h"

namespace kubexx::rest::internal {

/// Returns cpprestsdk's message for sending `request` to `server`. Its body can be sent only once.
web::http::http_request ToMessage(const HttpRequest& request, const ServerUrl& server);

HttpHead HeadOf(const web::http::http_response& response);

/// The failure of a request to which the server has sent an interim response. cpprestsdk takes a
/// response of 102 or 103 for the final one, and would take the final one for the response to the
/// next request on this connection.
Failure InterimAnswer(int code);

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_TRANSPORT_HTTP_MESSAGE_H_
