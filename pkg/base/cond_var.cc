#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <optional>
#include <stop_token>

#include "kubexx/base/mutex.h"

namespace kubexx::base {
namespace {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));
static_assert(sizeof(timespec) == 2 * sizeof(long), "SYS_futex takes the kernel's timespec");

long Futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* deadline) {
  return syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, deadline, nullptr,
                 FUTEX_BITSET_MATCH_ANY);
}

// Of the monotonic clock, which is what steady_clock is.
timespec ToTimespec(std::chrono::steady_clock::time_point time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return {.tv_sec = static_cast<std::time_t>(seconds.time_since_epoch().count()),
          .tv_nsec = static_cast<long>(std::chrono::nanoseconds(time - seconds).count())};
}

}  // namespace

// Nothing is lost between giving up `mu` and going to sleep: whoever notifies or stops in between
// has changed the number that the kernel compares.
void CondVar::Wait(Mutex& mu, const std::stop_token& stop,
                   std::chrono::steady_clock::time_point deadline) {
  ++waiters_;
  const std::uint32_t seen = wakes_.load();
  {
    const std::stop_callback wake(stop, [this] { Wake(kEverybody); });
    mu.unlock();
    std::optional<timespec> end;
    if (deadline != kNever) {
      // The kernel takes no time from before the machine was started.
      end = ToTimespec(std::max(deadline, std::chrono::steady_clock::time_point()));
    }
    Futex(wakes_, FUTEX_WAIT_BITSET, seen, end ? &*end : nullptr);
    --waiters_;  // nobody needs to be notified of what is looked at again with the Mutex
  }
  mu.lock();
}

void CondVar::Wake(int how_many) noexcept {
  ++wakes_;
  Futex(wakes_, FUTEX_WAKE_BITSET, static_cast<std::uint32_t>(how_many), nullptr);
}

}  // namespace kubexx::base
