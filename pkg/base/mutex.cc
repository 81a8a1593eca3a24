#include "kubexx/base/mutex.h"

#include <atomic>

#include "kubexx/base/mutex_pauses.h"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace kubexx::base {
namespace {

// About as long as going to sleep and being woken takes: some 16 microseconds in all, looks after
// 2, 7 and 16 of them where a pause has 23 ns. So that whoever has the lock can take it many times
// in a row: asking all the time takes its cache line away, and handing it over, with all that is
// done under it, costs more than most of that.
constexpr int kLooks = 3;
constexpr int kPauses = 100;  // before the first look, and twice as many before each further one

constinit std::atomic<bool> omits_pauses = false;

// Says to the processor that this is a loop that waits.
void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

void OmitMutexPauses() { omits_pauses.store(true, std::memory_order_relaxed); }

void Mutex::LockTaken() {
  int pauses = omits_pauses.load(std::memory_order_relaxed) ? 0 : kPauses;
  for (int i = 0; i < kLooks; ++i, pauses *= 2) {
    for (int pause = 0; pause < pauses; ++pause) {
      Pause();
    }
    if (mu_.try_lock()) {
      return;
    }
  }
  mu_.lock();
}

}  // namespace kubexx::base
