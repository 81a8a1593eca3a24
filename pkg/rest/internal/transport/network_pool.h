/// @file
/// Functions for cpprestsdk's thread pool, which serves all connections of the process.
#ifndef KUBEXX_REST_INTERNAL_TRANSPORT_NETWORK_POOL_H_
#define KUBEXX_REST_INTERNAL_TRANSPORT_NETWORK_POOL_H_

#include <pplx/pplxtasks.h>

#include <memory>

namespace kubexx::rest::internal {

/// Starts the pool with one thread; further calls do nothing. When other code has started it with
/// more threads, logs that and uses them. This and the other functions here are thread-safe.
void StartNetworkThreads();

/// The number of threads in the pool. It is 0 before StartNetworkThreads, and when other code had
/// started the pool before that.
int NetworkThreads();

/// Cancels a request on the network thread, where no handler of its connection can run at the same
/// time.
void CancelOnNetworkThread(const pplx::cancellation_token_source& source);

/// Destroys idle connections on the network thread. Null is allowed.
void CloseOnNetworkThread(std::shared_ptr<void> connections);

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_TRANSPORT_NETWORK_POOL_H_
