/// @file
/// Mutex, scoped lock and condition variable that carry clang's thread-safety annotations, so that
/// an unguarded access to shared state is a compile error under -Wthread-safety. Same behaviour as
/// the std types they wrap.
#ifndef KUBEXX_BASE_MUTEX_H_
#define KUBEXX_BASE_MUTEX_H_

#include <condition_variable>
#include <mutex>

/// @cond
#if defined(__clang__)
#define KX_THREAD_ANNOTATION(x) __attribute__((x))
#define KX_LIFETIME_BOUND [[clang::lifetimebound]]
#else
#define KX_THREAD_ANNOTATION(x)
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

/// What clang's thread-safety analysis checks: reads and writes hold `mu`.
#define KX_GUARDED_BY(mu) KX_THREAD_ANNOTATION(guarded_by(mu))
/// The caller holds these.
#define KX_REQUIRES(...) KX_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
/// The caller holds none of these.
#define KX_EXCLUDES(...) KX_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))

namespace kubexx::base {

/// A mutual exclusion lock. Not recursive. Whoever finds it taken looks again for about as long as
/// it takes to go to sleep and to be woken before doing that: most locks are held for less.
class KX_THREAD_ANNOTATION(capability("mutex")) Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  void lock() KX_THREAD_ANNOTATION(acquire_capability()) {
#if KX_THREAD_SANITIZER
    mu_.lock();  // of locks that were tried it learns no order
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

/// A condition variable for Mutex. Waits go through Clock::WaitUntil so that time can be injected.
using CondVar = std::condition_variable_any;

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_MUTEX_H_
