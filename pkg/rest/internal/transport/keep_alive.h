/// @file
/// Enables TCP keepalive on the connections that cpprestsdk makes.
#ifndef KUBEXX_REST_INTERNAL_TRANSPORT_KEEP_ALIVE_H_
#define KUBEXX_REST_INTERNAL_TRANSPORT_KEEP_ALIVE_H_

namespace kubexx::rest::internal {

/// Enables TCP keepalive for connections that the calling thread makes from now on: the system
/// probes them while they are silent, so that a peer that vanished is noticed after a minute. (Go's
/// dialer probes after 30 s.) This happens when cpprestsdk disables Nagle's algorithm, as it does
/// for each new connection.
///
/// For this, the library overrides setsockopt(2), because cpprestsdk gives access to its sockets
/// too early and not to all of them, and does not say what they are; see decision 50. In a program
/// that is linked so that cpprestsdk does not call this override, keepalive stays off.
void KeepConnectionsOfThisThreadAlive();

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_TRANSPORT_KEEP_ALIVE_H_
