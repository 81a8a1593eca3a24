/// @file
/// A thread for which there is no memory left.
#ifndef KUBEXX_BASE_TESTING_SCARCE_MEMORY_SCARCE_MEMORY_H_
#define KUBEXX_BASE_TESTING_SCARCE_MEMORY_SCARCE_MEMORY_H_

#include <thread>

#include "kubexx/base/sanitizers.h"

namespace kubexx::base::testing {

/// While it exists every `new` of one thread throws std::bad_alloc, as in a container at its limit.
/// What the thread holds already stays, and so do the other threads. One at a time. Thread-safe.
///
/// A program that links kubexx_scarce_memory has an `operator new` of its own for this. A sanitizer
/// has one itself, so that tests have to skip where it does not work:
/// `if constexpr (!ScarceMemory::kWorks) { GTEST_SKIP(); }`.
class ScarceMemory {
 public:
  static constexpr bool kWorks = KX_SANITIZED == 0;

  explicit ScarceMemory(std::thread::id thread);
  ~ScarceMemory();
  ScarceMemory(const ScarceMemory&) = delete;
  ScarceMemory& operator=(const ScarceMemory&) = delete;

  /// How many allocations have failed since the construction.
  int failures() const;
};

}  // namespace kubexx::base::testing

#endif  // KUBEXX_BASE_TESTING_SCARCE_MEMORY_SCARCE_MEMORY_H_
