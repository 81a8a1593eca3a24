/// @file
/// ScarceThreads: a system that has no threads left.
#ifndef KUBEXX_BASE_TESTING_SCARCE_THREADS_SCARCE_THREADS_H_
#define KUBEXX_BASE_TESTING_SCARCE_THREADS_SCARCE_THREADS_H_

#include "kubexx/base/sanitizers.h"

namespace kubexx::base::testing {

/// While it exists, the process can start only `threads` threads. Every further start fails, as in
/// a container at its pids limit. Only one may exist at a time. Thread-safe.
///
/// A program that links kubexx_scarce_threads has its own pthread_create for this. A sanitizer also
/// has its own, so it does not work there, and tests have to skip: `if constexpr
/// (!ScarceThreads::kWorks) { GTEST_SKIP(); }`.
class ScarceThreads {
 public:
  static constexpr bool kWorks = KX_SANITIZED == 0;

  explicit ScarceThreads(int threads);
  ~ScarceThreads();
  ScarceThreads(const ScarceThreads&) = delete;
  ScarceThreads& operator=(const ScarceThreads&) = delete;
};

}  // namespace kubexx::base::testing

#endif  // KUBEXX_BASE_TESTING_SCARCE_THREADS_SCARCE_THREADS_H_
