/// @file
/// Mutex, scoped lock and condition variable that carry clang's thread-safety annotations, so that
/// an unguarded access to shared state is a compile error under -Wthread-safety. They are used as
/// std::mutex, std::lock_guard and std::condition_variable_any are.
#ifndef KUBEXX_BASE_MUTEX_H_
#define KUBEXX_BASE_MUTEX_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <stop_token>

/// @cond
#if defined(__clang__)
#define KX_THREAD_ANNOTATION(...) __attribute__((__VA_ARGS__))
#define KX_LIFETIME_BOUND [[clang::lifetimebound]]
#else
#define KX_THREAD_ANNOTATION(...)
#define KX_LIFETIME_BOUND
#endif
#if defined(__SANITIZE_THREAD__)
#define KX_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KX_THREAD_SANITIZER 1
#endif
#endif
#ifndef KX_THREAD_SANITIZER
#define KX_THREAD_SANITIZER 0
#endif
/// @endcond

/// The member may be accessed only while this mutex is held, which clang's thread-safety analysis
/// checks.
#define KX_GUARDED_BY(...) KX_THREAD_ANNOTATION(guarded_by(__VA_ARGS__))
/// The function may be called only while these mutexes are held.
#define KX_REQUIRES(...) KX_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
/// The function may be called only while none of these mutexes is held.
#define KX_EXCLUDES(...) KX_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))

namespace kubexx::base {

/// A mutual exclusion lock that is not recursive. A thread that finds it locked first tries again
/// for about as long as it would take to go to sleep and to be woken, because most locks are held
/// for a shorter time. Only then does the thread sleep.
class KX_THREAD_ANNOTATION(capability("mutex")) Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  void lock() KX_THREAD_ANNOTATION(acquire_capability()) {
#if KX_THREAD_SANITIZER
    mu_.lock();  // with try_lock the sanitizer would learn no lock order
#else
    if (!mu_.try_lock()) {
      LockTaken();
    }
#endif
  }
  void unlock() KX_THREAD_ANNOTATION(release_capability()) { mu_.unlock(); }

 private:
  void LockTaken();

  std::mutex mu_;
};

/// Holds a Mutex for the lifetime of the scope.
class KX_THREAD_ANNOTATION(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mu) KX_THREAD_ANNOTATION(acquire_capability(mu)) : mu_(mu) {
    mu_.lock();
  }
  ~MutexLock() KX_THREAD_ANNOTATION(release_capability()) { mu_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mu_;
};

/// A condition variable for Mutex. Waits with a deadline or a stop token should use
/// Clock::WaitUntil, so that time can be injected. Every wait may end without a reason. It may be
/// destroyed once all waits have returned; std::condition_variable may already be destroyed once
/// all waiting threads have been notified.
///
/// It is a futex, whereas std::condition_variable_any consists of a mutex and glibc's condition
/// variable. A woken thread waits for nobody but the holder of its own Mutex, a notification
/// without waiting threads makes no system call, and glibc's lost wake-up (its bug 25847) cannot
/// happen. As with the standard's, the condition must be changed while the Mutex is held; notifying
/// is cheaper without it.
class CondVar {
 public:
  CondVar() = default;
  CondVar(const CondVar&) = delete;
  CondVar& operator=(const CondVar&) = delete;

  void notify_one() noexcept { Notify(1); }
  void notify_all() noexcept { Notify(kEverybody); }

  void wait(Mutex& mu) KX_REQUIRES(mu) { Wait(mu, {}, kNever); }
  void wait_for(Mutex& mu, std::chrono::nanoseconds time) KX_REQUIRES(mu) {
    Wait(mu, {}, std::chrono::steady_clock::now() + time);
  }
  /// Waits as wait does, but also ends when `stop` is requested or `deadline` has passed;
  /// time_point::max() means no deadline. The thread that requests the stop may hold `mu`.
  void wait_until(Mutex& mu, const std::stop_token& stop,
                  std::chrono::steady_clock::time_point deadline) KX_REQUIRES(mu) {
    Wait(mu, stop, deadline);
  }

 private:
  static constexpr std::chrono::steady_clock::time_point kNever =
      std::chrono::steady_clock::time_point::max();
  static constexpr int kEverybody = 0x7fffffff;

  void Wait(Mutex& mu, const std::stop_token& stop, std::chrono::steady_clock::time_point deadline)
      KX_THREAD_ANNOTATION(no_thread_safety_analysis);
  void Notify(int how_many) noexcept {
    // A waiting thread was counted before it unlocked the Mutex under which the condition was
    // changed.
    if (waiters_.load() != 0) {
      Wake(how_many);
    }
  }
  void Wake(int how_many) noexcept;

  std::atomic<std::uint32_t> wakes_ = 0;  ///< the futex: counts the wake-ups
  std::atomic<std::uint32_t> waiters_ = 0;
};

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_MUTEX_H_
