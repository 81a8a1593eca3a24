/// @file
/// Functions that run work on cpprestsdk's thread pool, and wait for it.
#ifndef KUBEXX_REST_TESTING_NETWORK_THREADS_H_
#define KUBEXX_REST_TESTING_NETWORK_THREADS_H_

#include <functional>

namespace kubexx::rest::testing {

/// Lets a network thread call `work` after everything that is queued already. A RESTClient must
/// have been made before.
void PostOnNetworkThread(std::function<void()> work);

/// Blocks until the network threads have finished all queued work, including work that this adds.
/// The pool is destroyed with the process, and work that is still queued then would appear as a
/// leak. The test programs of packages that are marked NETWORK (cmake/kubexx_package.cmake) call
/// this at their end by themselves.
void DrainNetworkThreads();

}  // namespace kubexx::rest::testing

#endif  // KUBEXX_REST_TESTING_NETWORK_THREADS_H_
