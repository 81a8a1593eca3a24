/// @file
/// Works on cpprestsdk's thread pool, and waits for it.
#ifndef KUBEXX_REST_TESTING_NETWORK_THREADS_H_
#define KUBEXX_REST_TESTING_NETWORK_THREADS_H_

#include <functional>

namespace kubexx::rest::testing {

/// Has a network thread call `work` after what is queued already. A RESTClient must have been made.
void PostOnNetworkThread(std::function<void()> work);

/// Blocks until the network threads have finished what is queued, and what that queues in turn.
/// The pool dies with the process: what is still queued then would show up as a leak. The test
/// programs of packages that are marked NETWORK (cmake/kubexx_package.cmake) do this at their end
/// without asking.
void DrainNetworkThreads();

}  // namespace kubexx::rest::testing

#endif  // KUBEXX_REST_TESTING_NETWORK_THREADS_H_
