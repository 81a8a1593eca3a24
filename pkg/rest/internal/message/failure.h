/// @file
/// Failure: the reason why the network side of a request failed.
#ifndef KUBEXX_REST_INTERNAL_MESSAGE_FAILURE_H_
#define KUBEXX_REST_INTERNAL_MESSAGE_FAILURE_H_

#include "kubexx/apimachinery/status.h"

namespace kubexx::rest::internal {

/// The reason why the network side of a request failed.
struct Failure {
  apimachinery::Status status{};
  bool lost_connection = false;
  /// Whether nothing was sent, because cpprestsdk took a connection from its pool that it had never
  /// opened. Then the same http_request can be given to the client again.
  bool never_opened = false;
  /// Whether there was no connection to the server, or no TLS session on it. The configured server
  /// may be the wrong one.
  bool no_connection = false;
};

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_MESSAGE_FAILURE_H_
