#include "kubexx/base/mutex.h"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace kubexx::base {
namespace {

// About as long as going to sleep and being woken takes. Between two looks comes a microsecond, so
// that whoever has the lock can take it several times in a row: asking all the time takes its cache
// line away, and handing it over costs more than most of what is done under it.
constexpr int kLooks = 8;
constexpr int kPauses = 40;

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
    for (int pause = 0; pause < kPauses; ++pause) {
      Pause();
    }
    if (mu_.try_lock()) {
      return;
    }
  }
  mu_.lock();
}

}  // namespace kubexx::base
