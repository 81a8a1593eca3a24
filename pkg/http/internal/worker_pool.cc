#include "kubexx/http/internal/worker_pool.h"

#include <utility>

namespace kubexx::http::internal {

void WorkerPool::Start(std::size_t threads) {
  for (std::size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { Run(stop); });
  }
}

bool WorkerPool::Push(Job job) {
  base::MutexLock lock(mu_);
  if (jobs_.size() >= max_queued_) {
    return false;
  }
  jobs_.push_back(std::move(job));
  changed_.notify_one();
  return true;
}

void WorkerPool::Stop() {
  for (std::jthread& thread : threads_) {
    thread.request_stop();
  }
  threads_.clear();  // joins
  std::deque<Job> dropped;
  base::MutexLock lock(mu_);
  dropped.swap(jobs_);
}

void WorkerPool::Run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    Job job;
    {
      base::MutexLock lock(mu_);
      while (jobs_.empty()) {
        if (base::Clock::Real().WaitUntil(mu_, changed_, stop, base::TimePoint::max()) ==
            base::Wake::kStopped) {
          return;
        }
      }
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job();
  }
}

}  // namespace kubexx::http::internal
