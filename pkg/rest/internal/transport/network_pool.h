/// @file
/// cpprestsdk's thread pool, which does the work of all connections of the process.
#ifndef KUBEXX_REST_INTERNAL_TRANSPORT_NETWORK_POOL_H_
#define KUBEXX_REST_INTERNAL_TRANSPORT_NETWORK_POOL_H_

#include <pplx/pplxtasks.h>

#include <memory>

namespace kubexx::rest::internal {

/// Starts the pool with one thread, the first time. When other code has started it with more, that
/// is logged and theirs are used. Thread-safe, as all of these.
void StartNetworkThreads();

/// How many threads the pool has; 0 before StartNetworkThreads, and when other code had started it
/// already.
int NetworkThreads();

/// Cancels a request where no handler of its connection runs at the same time.
void CancelOnNetworkThread(const pplx::cancellation_token_source& source);

/// Lets go of idle connections on the thread that works on them. Null is allowed.
void CloseOnNetworkThread(std::shared_ptr<void> connections);

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_TRANSPORT_NETWORK_POOL_H_
