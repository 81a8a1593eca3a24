#include "kubexx/http/internal/worker_pool.h"

#include <algorithm>
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

std::size_t WorkerPool::LargeAtOnceLocked() const { return std::max<std::size_t>(at_once_ / 4, 1); }

bool WorkerPool::Push(Job job, std::size_t bytes) {
  base::MutexLock lock(mu_);
  const bool large = bytes >= kLargeBytes;
  if (jobs_.size() + large_jobs_.size() >= max_queued_ ||
      (large && large_bytes_ + bytes > max_queued_bytes_)) {
    return false;
  }
  (large ? large_jobs_ : jobs_).push_back({std::move(job), bytes, pushed_++});
  large_bytes_ += large ? bytes : 0;
  changed_.notify_one();
  return true;
}

bool WorkerPool::BeginWait(std::size_t bytes) {
  base::MutexLock lock(mu_);
  if (waiting_ >= max_waiting_) {
    return false;
  }
  --running_;
  large_running_ -= bytes >= kLargeBytes ? 1 : 0;
  ++waiting_;
  // Threads that were added stay, so that the next that waits finds them.
  if (!stopped_ && threads_.size() < at_once_ + waiting_) {
    AddThreadLocked();
  }
  changed_.notify_one();
  return true;
}

void WorkerPool::EndWait(std::size_t bytes) {
  base::MutexLock lock(mu_);
  ++running_;
  large_running_ += bytes >= kLargeBytes ? 1 : 0;
  --waiting_;
}

void WorkerPool::Stop() {
  std::vector<std::jthread> threads;
  std::deque<Queued> dropped;
  std::deque<Queued> large_dropped;
  {
    base::MutexLock lock(mu_);
    stopped_ = true;
    threads.swap(threads_);
    dropped.swap(jobs_);
    large_dropped.swap(large_jobs_);
    large_bytes_ = 0;
  }
  for (std::jthread& thread : threads) {
    thread.request_stop();
  }
  threads.clear();  // joins
}

std::deque<WorkerPool::Queued>* WorkerPool::NextLocked() {
  if (running_ >= at_once_) {
    return nullptr;
  }
  const bool large = !large_jobs_.empty() && large_running_ < LargeAtOnceLocked();
  if (large && (jobs_.empty() || large_jobs_.front().number < jobs_.front().number)) {
    return &large_jobs_;
  }
  return jobs_.empty() ? nullptr : &jobs_;
}

void WorkerPool::Run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    Queued next;
    {
      base::MutexLock lock(mu_);
      std::deque<Queued>* queue = NextLocked();
      while (queue == nullptr) {
        if (base::Clock::Real().WaitUntil(mu_, changed_, stop, base::TimePoint::max()) ==
            base::Wake::kStopped) {
          return;
        }
        queue = NextLocked();
      }
      next = std::move(queue->front());
      queue->pop_front();
      ++running_;
      if (queue == &large_jobs_) {
        ++large_running_;
        large_bytes_ -= next.bytes;
      }
    }
    next.job();
    next.job = {};  // What it holds goes before another takes its place.
    base::MutexLock lock(mu_);
    --running_;
    large_running_ -= next.bytes >= kLargeBytes ? 1 : 0;
    if (NextLocked() != nullptr) {
      changed_.notify_one();
    }
  }
}

bool WaitPlace::Begin() {
  int parts = parts_.load();
  while (true) {
    if (parts > 0) {
      if (parts_.compare_exchange_weak(parts, parts + 1)) {
        return true;
      }
      continue;
    }
    if (!pool_.BeginWait(bytes_)) {
      return false;
    }
    if (parts_.compare_exchange_strong(parts, 1)) {
      return true;
    }
    pool_.EndWait(bytes_);  // Another part was faster.
  }
}

void WaitPlace::End() {
  if (parts_.fetch_sub(1) == 1) {
    pool_.EndWait(bytes_);
  }
}

}  // namespace kubexx::http::internal
