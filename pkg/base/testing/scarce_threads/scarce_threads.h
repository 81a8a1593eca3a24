/// @file
/// A system that has no threads left.
#ifndef KUBEXX_BASE_TESTING_SCARCE_THREADS_SCARCE_THREADS_H_
#define KUBEXX_BASE_TESTING_SCARCE_THREADS_SCARCE_THREADS_H_

#include "kubexx/base/sanitizers.h"

namespace kubexx::base::testing {

/// While it exists the process can start only so many threads; every further start fails as it does
/// in a container at its pids limit. One at a time. Thread-safe.
///
/// A program that links kubexx_scarce_threads has a pthread_create of its own for this. A sanitizer
/// has one itself, so that tests have to skip where it does not work:
/// `if constexpr (!ScarceThreads::kWorks) { GTEST_SKIP(); }`.
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
