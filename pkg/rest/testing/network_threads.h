/// @file
/// Waits for cpprestsdk's thread pool.
#ifndef KUBEXX_REST_TESTING_NETWORK_THREADS_H_
#define KUBEXX_REST_TESTING_NETWORK_THREADS_H_

namespace kubexx::rest::testing {

/// Blocks until the network threads have finished what is queued, and what that queues in turn.
/// The pool dies with the process: what is still queued then would show up as a leak. The test
/// programs of packages that are marked NETWORK (cmake/kubexx_package.cmake) do this at their end
/// without asking.
void DrainNetworkThreads();

}  // namespace kubexx::rest::testing

#endif  // KUBEXX_REST_TESTING_NETWORK_THREADS_H_
