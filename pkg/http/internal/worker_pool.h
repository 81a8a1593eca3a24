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

/// Thread-safe.
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

  /// Drops what has not begun and waits for what has.
  void Stop();

 private:
  void Run(const std::stop_token& stop);

  const std::size_t max_queued_;
  base::Mutex mu_;
  base::CondVar changed_;
  std::deque<Job> jobs_ KX_GUARDED_BY(mu_);
  std::vector<std::jthread> threads_;
};

}  // namespace kubexx::http::internal

#endif  // KUBEXX_HTTP_INTERNAL_WORKER_POOL_H_
