/// @file
/// Keeps requests off connections that were closed while nobody read them.
#ifndef KUBEXX_REST_INTERNAL_TRANSPORT_IDLE_CONNECTION_H_
#define KUBEXX_REST_INTERNAL_TRANSPORT_IDLE_CONNECTION_H_

#include <cpprest/http_client.h>

#include <stdexcept>

namespace kubexx::rest::internal {

/// What a request fails with, before a byte of it is sent, when cpprestsdk took a connection for it
/// that the server has closed, or has said something on that nobody asked for. cpprestsdk has
/// dropped that connection; the same http_request can be given to the client again.
class ClosedWhileIdle final : public std::runtime_error {
 public:
  ClosedWhileIdle() : std::runtime_error("the connection was closed while it was idle") {}
};

/// Makes a client look at each connection before it is used again; `tls` says what its connections
/// are. Not for TLS through a proxy, where cpprestsdk does not tell what it shows.
void LookBeforeUse(web::http::client::http_client_config& config, bool tls);

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_TRANSPORT_IDLE_CONNECTION_H_
