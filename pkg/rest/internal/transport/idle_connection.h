/// @file
/// LookBeforeUse: keeps requests away from connections that the server closed while they were idle.
#ifndef KUBEXX_REST_INTERNAL_TRANSPORT_IDLE_CONNECTION_H_
#define KUBEXX_REST_INTERNAL_TRANSPORT_IDLE_CONNECTION_H_

#include <cpprest/http_client.h>

#include <stdexcept>

namespace kubexx::rest::internal {

/// The error of a request that failed before any byte was sent, because cpprestsdk took a
/// connection for it on which the server has closed or sent unexpected data. cpprestsdk has dropped
/// that connection; the same http_request can be given to the client again.
class ClosedWhileIdle final : public std::runtime_error {
 public:
  ClosedWhileIdle() : std::runtime_error("the connection was closed while it was idle") {}
};

/// Makes a client check each connection before reusing it; `tls` tells whether its connections use
/// TLS. Must not be used with a proxy, where cpprestsdk does not tell which connection it passes.
void LookBeforeUse(web::http::client::http_client_config& config, bool tls);

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_TRANSPORT_IDLE_CONNECTION_H_
