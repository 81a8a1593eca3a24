/// @file
/// Poller: one thread that waits for the sockets of all streams of the process.
#ifndef KUBEXX_REST_INTERNAL_STREAM_POLLER_H_
#define KUBEXX_REST_INTERNAL_STREAM_POLLER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <thread>
#include <unordered_map>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/file_descriptor.h"
#include "kubexx/base/mutex.h"

namespace kubexx::rest::internal {

/// Wakes threads and notifies tasks when their sockets become ready. It reads nothing itself. The
/// waiting thread or task reads, so that the bytes are decrypted and parsed on the thread that
/// needs them. Only a Job, for a socket that many requests share, does its work on the poller's
/// thread. Thread-safe.
class Poller {
 public:
  enum class Interest : std::uint8_t { kRead, kWrite, kBoth };

  /// Returns the poller that all streams share. It is made when it is first needed, and is
  /// destroyed with its last owner. Returns kUnavailable when the system has no descriptors left
  /// for it.
  static apimachinery::Result<std::shared_ptr<Poller>> OfProcess();

  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;
  ~Poller();

  /// Waits until the socket `fd` can be read or written, has been closed by the peer, or has
  /// failed. At most one thread may wait for a socket at a time. kNotified may be spurious.
  base::Wake Wait(int fd, Interest interest, base::Clock& clock, const std::stop_token& stop,
                  base::TimePoint deadline);

 private:
  /// A thread that waits, a Signal or a Job. A waiting thread has its Waiter on its stack.
  struct Waiter {
    base::CondVar changed{};
    bool ready = false;            ///< guarded by mu_
    std::function<void()> tell{};  ///< of a Signal; called with mu_ held
    std::function<void()> work{};  ///< of a Job; called without
  };

 public:
  /// Notifies an owner that does not wait when a socket has become ready. After the destructor has
  /// returned there are no notifications any more. Not thread-safe, except that the destructor of
  /// the last owner may run on any thread.
  class Signal {
   public:
    /// The poller's thread calls `tell`, which must neither block, nor throw, nor use the poller.
    Signal(std::shared_ptr<Poller> poller, std::function<void()> tell);
    ~Signal();
    Signal(const Signal&) = delete;
    Signal& operator=(const Signal&) = delete;

    /// Requests one notification under the conditions of Wait. A notification may also come without
    /// a reason. Returns false when the kernel is short of a resource. Then no notification comes,
    /// and the caller has to look at the socket again soon.
    bool Arm(int fd, Interest interest) { return poller_->Arm(fd, interest, id_); }

   private:
    const std::shared_ptr<Poller> poller_;
    Waiter waiter_;
    std::uint64_t id_ = 0;
  };

  /// Something that is done on the poller's thread when a socket has become ready. All sockets wait
  /// meanwhile. Thread-safe.
  class Job {
   public:
    /// `work` must neither block nor throw, nor destroy a Job. It may use Arm.
    Job(std::shared_ptr<Poller> poller, std::function<void()> work);
    /// Waits until a `work` that has begun is done.
    ~Job();
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    /// As Signal::Arm.
    bool Arm(int fd, Interest interest) { return poller_->Arm(fd, interest, id_); }

   private:
    const std::shared_ptr<Poller> poller_;
    Waiter waiter_;
    std::uint64_t id_ = 0;
  };

 private:
  Poller(int epoll, int wake);
  void Run(const std::stop_token& stop);
  void Work(std::uint64_t id);
  std::uint64_t Add(Waiter& waiter);
  /// Asks the kernel for one report. Returns false when the kernel refuses.
  bool Arm(int fd, Interest interest, std::uint64_t id) const;

  const base::FileDescriptor epoll_;
  const base::FileDescriptor wake_;  ///< an eventfd that ends the thread's wait
  base::Mutex mu_;
  std::uint64_t last_id_ KX_GUARDED_BY(mu_) = 0;
  /// The waiters by a number that no other wait or Signal has, so that a late report finds no
  /// waiter.
  std::unordered_map<std::uint64_t, Waiter*> waiters_ KX_GUARDED_BY(mu_);
  std::uint64_t working_ KX_GUARDED_BY(mu_) = 0;  ///< the number of the Job whose work is done now
  base::CondVar worked_;
  std::jthread thread_;
};

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_STREAM_POLLER_H_
