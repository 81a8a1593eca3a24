/// @file
/// A bounded queue of jobs and the threads that do them.
#ifndef KUBEXX_HTTP_INTERNAL_WORKER_POOL_H_
#define KUBEXX_HTTP_INTERNAL_WORKER_POOL_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"

namespace kubexx::http::internal {

/// As many jobs run at once as were asked for, besides those that wait for others. Thread-safe.
class WorkerPool {
 public:
  using Job = std::move_only_function<void()>;

  explicit WorkerPool(std::size_t max_queued) : max_queued_(max_queued) {}
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool() { Stop(); }

  void Start(std::size_t threads);

  /// False when the queue is full. Jobs do not throw.
  bool Push(Job job);

  /// Called by a job that is about to wait for somebody who may need another job to be done:
  /// another thread takes its place until EndWait. Beyond `kMaxWaiting` such jobs none does.
  void BeginWait();
  /// Called by the same job; it goes on at once.
  void EndWait();

  /// Drops what has not begun and waits for what has.
  void Stop();

 private:
  static constexpr std::size_t kMaxWaiting = 256;

  void Run(const std::stop_token& stop);
  void AddThreadLocked() KX_REQUIRES(mu_);

  const std::size_t max_queued_;
  base::Mutex mu_;
  base::CondVar changed_;
  std::deque<Job> jobs_ KX_GUARDED_BY(mu_);
  std::size_t at_once_ KX_GUARDED_BY(mu_) = 0;
  std::size_t running_ KX_GUARDED_BY(mu_) = 0;  // without those that wait
  std::size_t waiting_ KX_GUARDED_BY(mu_) = 0;
  bool stopped_ KX_GUARDED_BY(mu_) = false;
  std::vector<std::jthread> threads_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::http::internal

#endif  // KUBEXX_HTTP_INTERNAL_WORKER_POOL_H_
