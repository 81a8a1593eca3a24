#include "kubexx/base/mutex.h"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace kubexx::base {
namespace {

constexpr int kLooks = 30;

// Says to the processor that this is a loop that waits.
void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

void Mutex::LockTaken() {
  for (int i = 0; i < kLooks; ++i) {
    Pause();
    if (mu_.try_lock()) {
      return;
    }
  }
  mu_.lock();
}

}  // namespace kubexx::base
