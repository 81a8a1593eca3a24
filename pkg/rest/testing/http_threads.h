/// @file
/// StartHttpThreads: keeps the HTTP library's threads out of the check for leaks.
#ifndef KUBEXX_REST_TESTING_HTTP_THREADS_H_
#define KUBEXX_REST_TESTING_HTTP_THREADS_H_

namespace kubexx::rest::testing {

/// Makes a request, with which the HTTP library starts the threads that it keeps until the process
/// ends, and takes these as not leaked. Checks what was held before for leaks. Call it in
/// SetUpTestSuite of tests that make requests, in packages whose other tests make none.
void StartHttpThreads();

}  // namespace kubexx::rest::testing

#endif  // KUBEXX_REST_TESTING_HTTP_THREADS_H_
