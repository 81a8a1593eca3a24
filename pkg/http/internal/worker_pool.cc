#include "kubexx/http/internal/worker_pool.h"

#include <utility>

namespace kubexx::http::internal {

void WorkerPool::Start(std::size_t threads) {
  base::MutexLock lock(mu_);
  at_once_ = threads;
  for (std::size_t i = 0; i < threads; ++i) {
    AddThreadLocked();
  }
}

void WorkerPool::AddThreadLocked() {
  threads_.emplace_back([this](const std::stop_token& stop) { Run(stop); });
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

void WorkerPool::BeginWait() {
  base::MutexLock lock(mu_);
  --running_;
  ++waiting_;
  // Threads that were added stay, so that the next that waits finds them.
  if (!stopped_ && waiting_ <= kMaxWaiting && threads_.size() < at_once_ + waiting_) {
    AddThreadLocked();
  }
  changed_.notify_one();
}

void WorkerPool::EndWait() {
  base::MutexLock lock(mu_);
  ++running_;
  --waiting_;
}

void WorkerPool::Stop() {
  std::vector<std::jthread> threads;
  std::deque<Job> dropped;
  {
    base::MutexLock lock(mu_);
    stopped_ = true;
    threads.swap(threads_);
    dropped.swap(jobs_);
  }
  for (std::jthread& thread : threads) {
    thread.request_stop();
  }
  threads.clear();  // joins
}

void WorkerPool::Run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    Job job;
    {
      base::MutexLock lock(mu_);
      while (jobs_.empty() || running_ >= at_once_) {
        if (base::Clock::Real().WaitUntil(mu_, changed_, stop, base::TimePoint::max()) ==
            base::Wake::kStopped) {
          return;
        }
      }
      job = std::move(jobs_.front());
      jobs_.pop_front();
      ++running_;
    }
    job();
    job = {};  // What it holds goes before another takes its place.
    base::MutexLock lock(mu_);
    --running_;
    if (!jobs_.empty()) {
      changed_.notify_one();
    }
  }
}

}  // namespace kubexx::http::internal
