/// @file
/// Calls of the C library by which threads wait for each other, tell the time or get random
/// numbers. A definition in the program comes before the library's, also for other libraries; so
/// these are called in their place. From a thread of a simulation they lead to its Scheduler, from
/// all others to the library.
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <limits>
#include <random>

#include "plain_mutex.h"
#include "real_calls.h"
#include "scheduler.h"

namespace kubexx::simulation {
namespace {

Nanoseconds FromTimespec(const timespec& time) {
  return static_cast<Nanoseconds>(time.tv_sec) * kSecond + time.tv_nsec;
}

timespec ToTimespec(Nanoseconds time) {
  return {.tv_sec = static_cast<std::time_t>(time / kSecond), .tv_nsec = time % kSecond};
}

/// The deadline that is `time` of that clock.
Nanoseconds DeadlineOf(const Scheduler& scheduler, clockid_t clock, const timespec& time) {
  const Nanoseconds then = FromTimespec(time);
  return clock == CLOCK_REALTIME ? then - scheduler.wall() + scheduler.now() : then;
}

int LockMutex(Scheduler& scheduler, pthread_mutex_t* mutex) {
  int result = EBUSY;
  while ((result = TryLockMutex(mutex)) == EBUSY) {
    scheduler.BlockForLock(mutex, "a mutex");
  }
  if (result == 0) {
    scheduler.CountLock(1);
  }
  return result;
}

int UnlockMutex(Scheduler& scheduler, pthread_mutex_t* mutex) {
  const int result = UnlockNow(mutex);
  if (result == 0) {
    scheduler.CountLock(-1);
    scheduler.WakeForLock(mutex, 1);
  }
  return result;
}

template <class Try>
int LockShared(Scheduler& scheduler, pthread_rwlock_t* lock, Try try_lock) {
  scheduler.Point();
  int result = EBUSY;
  while ((result = try_lock(lock)) == EBUSY) {
    scheduler.BlockForLock(lock, "a lock for reading or writing");
  }
  if (result == 0) {
    scheduler.CountLock(1);
  }
  return result;
}

// Nobody else runs between the look at the word and the wait.
long WaitForFutex(Scheduler& scheduler, const std::uint32_t* word, std::uint32_t expected,
                  Nanoseconds deadline) {
  scheduler.Point();
  if (*static_cast<const volatile std::uint32_t*>(word) != expected) {
    errno = EAGAIN;
    return -1;
  }
  if (!scheduler.Block(word, deadline, "a condition", true)) {
    errno = ETIMEDOUT;
    return -1;
  }
  return 0;
}

long Futex(Scheduler& scheduler, std::uint32_t* word, int operation, std::uint32_t value,
           const timespec* time) {
  const clockid_t clock =
      (operation & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
  switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
      return WaitForFutex(scheduler, word, value,
                          time == nullptr ? kNever : scheduler.now() + FromTimespec(*time));
    case FUTEX_WAIT_BITSET:
      return WaitForFutex(scheduler, word, value,
                          time == nullptr ? kNever : DeadlineOf(scheduler, clock, *time));
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET: {
      const int woken = scheduler.Wake(word, static_cast<int>(value));
      scheduler.Point();
      return woken;
    }
    default:
      errno = ENOSYS;
      return -1;
  }
}

int WaitForCondition(Scheduler& scheduler, pthread_cond_t* condition, pthread_mutex_t* mutex,
                     Nanoseconds deadline) {
  if (const int error = UnlockMutex(scheduler, mutex)) {
    return error;
  }
  const bool woken = scheduler.Block(condition, deadline, "a condition", true);
  const int result = LockMutex(scheduler, mutex);
  return result != 0 ? result : woken ? 0 : ETIMEDOUT;
}

int Sleep(Scheduler& scheduler, Nanoseconds until) {
  const char here = 0;
  while (scheduler.now() < until) {
    scheduler.Block(&here, until, "time to pass");
  }
  return 0;
}

void FillRandom(Scheduler& scheduler, void* buffer, std::size_t size) {
  auto* to = static_cast<unsigned char*>(buffer);
  for (std::size_t i = 0; i < size; ++i) {
    to[i] = static_cast<unsigned char>(scheduler.RandomNumber());
  }
}

}  // namespace
}  // namespace kubexx::simulation

using kubexx::simulation::Scheduler;

extern "C" {

int pthread_create(pthread_t* handle, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) {
  Scheduler* const scheduler = Scheduler::Current();
  return scheduler == nullptr ? KX_REAL(pthread_create)(handle, attributes, start, argument)
                              : scheduler->CreateThread(handle, attributes, start, argument);
}

int pthread_join(pthread_t handle, void** result) {
  Scheduler* const scheduler = Scheduler::Current();
  return scheduler == nullptr ? KX_REAL(pthread_join)(handle, result)
                              : scheduler->JoinThread(handle, result);
}

int pthread_detach(pthread_t handle) noexcept {
  Scheduler* const scheduler = Scheduler::Current();
  return scheduler == nullptr ? KX_REAL(pthread_detach)(handle) : scheduler->DetachThread(handle);
}

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  Scheduler* const scheduler = Scheduler::Current();
  if (scheduler == nullptr) {
    return KX_REAL(pthread_mutex_lock)(mutex);
  }
  scheduler->Point();
  return kubexx::simulation::LockMutex(*scheduler, mutex);
}

int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  Scheduler* const scheduler = Scheduler::Current();
  if (scheduler == nullptr) {
    return KX_REAL(pthread_mutex_trylock)(mutex);
  }
  scheduler->Point();
  const int result = kubexx::simulation::TryLockMutex(mutex);
  if (result == 0) {
    scheduler->CountLock(1);
  } else {
    scheduler->Yield();  // Whoever asks again at once lets the holder go on first.
  }
  return result;
}

int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  Scheduler* const scheduler = Scheduler::Current();
  if (scheduler == nullptr) {
    return KX_REAL(pthread_mutex_unlock)(mutex);
  }
  const int result = kubexx::simulation::UnlockMutex(*scheduler, mutex);
  scheduler->Point();
  return result;
}

int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  Scheduler* const scheduler = Scheduler::Current();
  return scheduler == nullptr
             ? KX_REAL(pthread_rwlock_rdlock)(lock)
             : kubexx::simulation::LockShared(*scheduler, lock, KX_REAL(pthread_rwlock_tryrdlock));
}

int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  Scheduler* const scheduler = Scheduler::Current();
  return scheduler == nullptr
             ? KX_REAL(pthread_rwlock_wrlock)(lock)
             : kubexx::simulation::LockShared(*scheduler, lock, KX_REAL(pthread_rwlock_trywrlock));
}

int pthread_rwlock_unlock(pthread_rwlock_t* lock) noexcept {
  Scheduler* const scheduler = Scheduler::Current();
  const int result = KX_REAL(pthread_rwlock_unlock)(lock);
  if (scheduler != nullptr && result == 0) {
    scheduler->CountLock(-1);
    scheduler->WakeForLock(lock, std::numeric_limits<int>::max());
    scheduler->Point();
  }
  return result;
}

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  Scheduler* const scheduler = Scheduler::Current();
  return scheduler == nullptr ? KX_REAL(pthread_cond_wait)(condition, mutex)
                              : kubexx::simulation::WaitForCondition(*scheduler, condition, mutex,
                                                                     kubexx::simulation::kNever);
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                           const timespec* time) {
  Scheduler* const scheduler = Scheduler::Current();
  return scheduler == nullptr
             ? KX_REAL(pthread_cond_timedwait)(condition, mutex, time)
             : kubexx::simulation::WaitForCondition(
                   *scheduler, condition, mutex,
                   kubexx::simulation::DeadlineOf(*scheduler, CLOCK_REALTIME, *time));
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* time) {
  Scheduler* const scheduler = Scheduler::Current();
  return scheduler == nullptr ? KX_REAL(pthread_cond_clockwait)(condition, mutex, clock, time)
                              : kubexx::simulation::WaitForCondition(
                                    *scheduler, condition, mutex,
                                    kubexx::simulation::DeadlineOf(*scheduler, clock, *time));
}

int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  Scheduler* const scheduler = Scheduler::Current();
  if (scheduler == nullptr) {
    return KX_REAL(pthread_cond_signal)(condition);
  }
  scheduler->Wake(condition, 1);
  scheduler->Point();
  return 0;
}

int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  Scheduler* const scheduler = Scheduler::Current();
  if (scheduler == nullptr) {
    return KX_REAL(pthread_cond_broadcast)(condition);
  }
  scheduler->Wake(condition, std::numeric_limits<int>::max());
  scheduler->Point();
  return 0;
}

// The states of the word are those of the C library: 0, being done, done.
int pthread_once(pthread_once_t* once, void (*routine)()) {
  constexpr int kBegun = 1;
  constexpr int kDone = 2;
  Scheduler* const scheduler = Scheduler::Current();
  if (scheduler == nullptr) {
    return KX_REAL(pthread_once)(once, routine);
  }
  while (*once != kDone) {
    if (*once == 0) {
      *once = kBegun;
      scheduler->CountLock(1);
      try {
        routine();
      } catch (...) {
        *once = 0;
        scheduler->CountLock(-1);
        scheduler->Wake(once, std::numeric_limits<int>::max());
        throw;
      }
      *once = kDone;
      scheduler->CountLock(-1);
      scheduler->Wake(once, std::numeric_limits<int>::max());
    } else {
      scheduler->Block(once, kubexx::simulation::kNever, "what is done once");
    }
  }
  return 0;
}

// As the library's, whose arguments beyond those that a call has are not looked at.
long syscall(long number, ...) noexcept {
  std::va_list list;
  va_start(list, number);
  long arguments[6];
  for (long& each : arguments) {
    each = va_arg(list, long);
  }
  va_end(list);
  if (Scheduler* const scheduler = Scheduler::Current(); scheduler != nullptr) {
    if (number == SYS_futex) {
      return kubexx::simulation::Futex(*scheduler, reinterpret_cast<std::uint32_t*>(arguments[0]),
                                       static_cast<int>(arguments[1]),
                                       static_cast<std::uint32_t>(arguments[2]),
                                       reinterpret_cast<const timespec*>(arguments[3]));
    }
    if (number == SYS_getrandom) {
      kubexx::simulation::FillRandom(*scheduler, reinterpret_cast<void*>(arguments[0]),
                                     static_cast<std::size_t>(arguments[1]));
      return arguments[1];
    }
  }
  return KX_REAL(syscall)(number, arguments[0], arguments[1], arguments[2], arguments[3],
                          arguments[4], arguments[5]);
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  Scheduler* const scheduler = Scheduler::Current();
  if (scheduler == nullptr) {
    return KX_REAL(clock_gettime)(clock, time);
  }
  scheduler->Point();
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
      *time = kubexx::simulation::ToTimespec(scheduler->wall());
      return 0;
    case CLOCK_THREAD_CPUTIME_ID:
    case CLOCK_PROCESS_CPUTIME_ID:
      *time = kubexx::simulation::ToTimespec(scheduler->thread_time());
      return 0;
    default:
      *time = kubexx::simulation::ToTimespec(scheduler->now());
      return 0;
  }
}

int gettimeofday(timeval* time, void* zone) noexcept {
  Scheduler* const scheduler = Scheduler::Current();
  if (scheduler == nullptr) {
    return KX_REAL(gettimeofday)(time, zone);
  }
  const timespec now = kubexx::simulation::ToTimespec(scheduler->wall());
  *time = {.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
  return 0;
}

std::time_t time(std::time_t* to) noexcept {
  Scheduler* const scheduler = Scheduler::Current();
  if (scheduler == nullptr) {
    return KX_REAL(time)(to);
  }
  const std::time_t now = kubexx::simulation::ToTimespec(scheduler->wall()).tv_sec;
  if (to != nullptr) {
    *to = now;
  }
  return now;
}

int nanosleep(const timespec* time, timespec* left) {
  Scheduler* const scheduler = Scheduler::Current();
  return scheduler == nullptr
             ? KX_REAL(nanosleep)(time, left)
             : kubexx::simulation::Sleep(
                   *scheduler, scheduler->now() + kubexx::simulation::FromTimespec(*time));
}

int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  Scheduler* const scheduler = Scheduler::Current();
  if (scheduler == nullptr) {
    return KX_REAL(clock_nanosleep)(clock, flags, time, left);
  }
  return kubexx::simulation::Sleep(
      *scheduler, (flags & TIMER_ABSTIME) != 0
                      ? kubexx::simulation::DeadlineOf(*scheduler, clock, *time)
                      : scheduler->now() + kubexx::simulation::FromTimespec(*time));
}

int sched_yield() noexcept {
  Scheduler* const scheduler = Scheduler::Current();
  if (scheduler == nullptr) {
    return KX_REAL(sched_yield)();
  }
  scheduler->Point();
  scheduler->Yield();
  return 0;
}

/// The same on any machine, so that a seed gives the same run.
int get_nprocs() noexcept {
  constexpr int kProcessors = 2;
  return Scheduler::Current() == nullptr ? KX_REAL(get_nprocs)() : kProcessors;
}

ssize_t getrandom(void* buffer, std::size_t size, unsigned flags) {
  Scheduler* const scheduler = Scheduler::Current();
  if (scheduler == nullptr) {
    return KX_REAL(getrandom)(buffer, size, flags);
  }
  kubexx::simulation::FillRandom(*scheduler, buffer, size);
  return static_cast<ssize_t>(size);
}

}  // extern "C"

/// In place of the standard library's, which asks the processor.
std::random_device::result_type std::random_device::_M_getval() {
  if (Scheduler* const scheduler = Scheduler::Current(); scheduler != nullptr) {
    return static_cast<result_type>(scheduler->RandomNumber());
  }
  static constinit std::atomic<void*> slot = nullptr;
  using Next = result_type (*)(std::random_device*);
  return reinterpret_cast<Next>(
      kubexx::simulation::RealCall(slot, "_ZNSt13random_device9_M_getvalEv"))(this);
}
