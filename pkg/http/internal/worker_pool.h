/// @file
/// A bounded queue of jobs and the threads that do them.
#ifndef KUBEXX_HTTP_INTERNAL_WORKER_POOL_H_
#define KUBEXX_HTTP_INTERNAL_WORKER_POOL_H_

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"

namespace kubexx::http::internal {

/// As many jobs run at once as were asked for, besides those that wait for others. Of large ones a
/// quarter do, so that the others need not wait for them. Jobs begin in the order in which they
/// came, but for large ones that have to wait. Thread-safe.
class WorkerPool {
 public:
  using Job = std::move_only_function<void()>;

  /// So much of a request makes a job large.
  static constexpr std::size_t kLargeBytes = 64 << 10;

  /// At most so many jobs wait for a thread, and the large ones among them have at most so many
  /// bytes; at most `max_waiting` that have one wait for others.
  explicit WorkerPool(std::size_t max_queued, std::size_t max_queued_bytes = 128 << 20,
                      std::size_t max_waiting = 256)
      : max_queued_(max_queued), max_queued_bytes_(max_queued_bytes), max_waiting_(max_waiting) {}
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool() { Stop(); }

  void Start(std::size_t threads);

  /// False when the queue is full. Jobs do not throw. `bytes` is the size of the request that the
  /// job is for.
  bool Push(Job job, std::size_t bytes = 0);

  /// Called by a job that is about to wait for somebody who may need another job to be done:
  /// another thread takes its place until EndWait. False when as many wait already as may: then the
  /// job must do without, and must not call EndWait. `bytes` as in Push.
  [[nodiscard]] bool BeginWait(std::size_t bytes = 0);
  /// Called by the same job; it goes on at once.
  void EndWait(std::size_t bytes = 0);

  /// Drops what has not begun and waits for what has.
  void Stop();

 private:
  struct Queued {
    Job job{};
    std::size_t bytes = 0;
    std::size_t number = 0;  // in the order of coming
  };

  void Run(const std::stop_token& stop);
  void AddThreadLocked() KX_REQUIRES(mu_);
  /// The queue of the job that may begin next; null when none may.
  std::deque<Queued>* NextLocked() KX_REQUIRES(mu_);
  std::size_t LargeAtOnceLocked() const KX_REQUIRES(mu_);

  const std::size_t max_queued_;
  const std::size_t max_queued_bytes_;
  const std::size_t max_waiting_;
  base::Mutex mu_;
  base::CondVar changed_;
  std::deque<Queued> jobs_ KX_GUARDED_BY(mu_);
  std::deque<Queued> large_jobs_ KX_GUARDED_BY(mu_);
  std::size_t large_bytes_ KX_GUARDED_BY(mu_) = 0;  // of those that wait
  std::size_t pushed_ KX_GUARDED_BY(mu_) = 0;
  std::size_t at_once_ KX_GUARDED_BY(mu_) = 0;
  std::size_t running_ KX_GUARDED_BY(mu_) = 0;  // without those that wait
  std::size_t large_running_ KX_GUARDED_BY(mu_) = 0;
  std::size_t waiting_ KX_GUARDED_BY(mu_) = 0;
  bool stopped_ KX_GUARDED_BY(mu_) = false;
  std::vector<std::jthread> threads_ KX_GUARDED_BY(mu_);
};

/// The place of a job among those that wait: several parts of it may do so at the same time, on
/// threads of their own. Thread-safe.
class WaitPlace {
 public:
  /// See WorkerPool::BeginWait.
  WaitPlace(WorkerPool& pool, std::size_t bytes) : pool_(pool), bytes_(bytes) {}

  [[nodiscard]] bool Begin();
  void End();

 private:
  WorkerPool& pool_;
  const std::size_t bytes_;
  std::atomic<int> parts_ = 0;
};

}  // namespace kubexx::http::internal

#endif  // KUBEXX_HTTP_INTERNAL_WORKER_POOL_H_
