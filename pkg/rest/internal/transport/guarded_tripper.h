/// @file
/// Guarded: a user's RoundTripper whose exceptions are failed requests.
#ifndef KUBEXX_REST_INTERNAL_TRANSPORT_GUARDED_TRIPPER_H_
#define KUBEXX_REST_INTERNAL_TRANSPORT_GUARDED_TRIPPER_H_

#include <memory>

#include "kubexx/rest/round_tripper.h"

namespace kubexx::rest::internal {

/// Returns a RoundTripper that sends through `tripper`, which must not be null. An exception of
/// `tripper` or of its RoundTrips, or a null of its Start, becomes a request that fails with
/// kInternalError, because many requests are made on threads of the library, where an exception
/// would end the process. What a sink throws is the caller's, and goes through. Thread-safe.
std::shared_ptr<RoundTripper> Guarded(std::shared_ptr<RoundTripper> tripper);

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_TRANSPORT_GUARDED_TRIPPER_H_
