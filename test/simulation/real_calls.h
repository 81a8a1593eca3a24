/// @file
/// The C library's own functions, where the simulation has one of the same name.
#ifndef KUBEXX_TEST_SIMULATION_REAL_CALLS_H_
#define KUBEXX_TEST_SIMULATION_REAL_CALLS_H_

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>

namespace kubexx::simulation {

/// The function `name` of the next library that has one, kept in `slot`. It does not use what is
/// interposed, nor anything that needs to be initialised: it is called before main.
inline void* RealCall(std::atomic<void*>& slot, const char* name) {
  void* found = slot.load(std::memory_order_relaxed);
  if (found == nullptr) {
    found = ::dlsym(RTLD_NEXT, name);
    if (found == nullptr) {
      std::abort();
    }
    slot.store(found, std::memory_order_relaxed);
  }
  return found;
}

}  // namespace kubexx::simulation

/// The C library's `name`, with the type that its header declares.
#define KX_REAL(name)                                   \
  (reinterpret_cast<decltype(&(name))>([] {             \
    static constinit std::atomic<void*> slot = nullptr; \
    return ::kubexx::simulation::RealCall(slot, #name); \
  }()))

#endif  // KUBEXX_TEST_SIMULATION_REAL_CALLS_H_
