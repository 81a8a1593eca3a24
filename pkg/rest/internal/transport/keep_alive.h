/// @file
/// TCP keepalive on the connections that cpprestsdk makes.
#ifndef KUBEXX_REST_INTERNAL_TRANSPORT_KEEP_ALIVE_H_
#define KUBEXX_REST_INTERNAL_TRANSPORT_KEEP_ALIVE_H_

namespace kubexx::rest::internal {

/// Connections that the calling thread makes from now on, and switches Nagle's algorithm off for,
/// as cpprestsdk does for each as soon as it is there, are probed when they are silent: a peer that
/// vanished without a word is noticed after a minute. As Go's dialer, which probes after 30 s.
///
/// Our own setsockopt(2) does it, since cpprestsdk shows its sockets too early, not all of them,
/// and not what they are; see decision 50. In a program that is linked so that cpprestsdk does not
/// see it, nothing is probed.
void KeepConnectionsOfThisThreadAlive();

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_TRANSPORT_KEEP_ALIVE_H_
