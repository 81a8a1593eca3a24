/// @file
/// Failure: why the network side of a request failed.
#ifndef KUBEXX_REST_INTERNAL_MESSAGE_FAILURE_H_
#define KUBEXX_REST_INTERNAL_MESSAGE_FAILURE_H_

#include "kubexx/apimachinery/status.h"

namespace kubexx::rest::internal {

/// Why the network side failed.
struct Failure {
  apimachinery::Status status{};
  bool lost_connection = false;
  /// Nothing was sent, because cpprestsdk took a connection from its pool that it had never opened.
  /// The same http_request can be given to the client again.
  bool never_opened = false;
  /// There was no connection to the server, or no TLS on it: perhaps it is not the one that was
  /// meant.
  bool no_connection = false;
};

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_MESSAGE_FAILURE_H_
