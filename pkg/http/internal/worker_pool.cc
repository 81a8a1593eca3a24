#include "kubexx/http/internal/worker_pool.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "kubexx/logging/log.h"

namespace kubexx::http::internal {

void WorkerPool::Start(std::size_t of_one_client) {
  base::MutexLock lock(mu_);
  of_one_client_ = of_one_client;
  at_once_ = of_one_client > 0 ? of_one_client + 1 : 0;
  for (std::size_t i = 0; i < at_once_; ++i) {
    AddThreadLocked();
  }
}

void WorkerPool::AddThreadLocked() {
  threads_.emplace_back([this](const std::stop_token& stop) { Run(stop); });
}

std::size_t WorkerPool::LargeAtOnceLocked() const {
  return std::max<std::size_t>(of_one_client_ / 4, 1);
}

namespace {

bool IsLarge(const JobOrigin& origin) { return origin.bytes >= WorkerPool::kLargeBytes; }

void CountDown(std::map<std::string, std::size_t>& counts, const std::string& client) {
  const auto found = counts.find(client);
  if (--found->second == 0) {
    counts.erase(found);
  }
}

}  // namespace

std::size_t WorkerPool::ShareOfOne(std::size_t all) const {
  return one_client_ ? all : std::max<std::size_t>(all / 2, 1);
}

bool WorkerPool::IsFullLocked(const std::string& client) const {
  const std::size_t share = ShareOfOne(max_queued_);
  const std::size_t all = jobs_.size() + large_jobs_.size();
  // Whose they are is looked up only where one may have too many.
  return all >= max_queued_ ||
         (all >= share && jobs_.CountOf(client) + large_jobs_.CountOf(client) >= share);
}

bool WorkerPool::Push(Job job, JobOrigin origin) {
  base::MutexLock lock(mu_);
  const bool large = IsLarge(origin);
  const std::size_t bytes = large ? origin.bytes : 0;
  if (IsFullLocked(origin.client) || (large && large_bytes_ + bytes > max_queued_bytes_)) {
    return false;
  }
  (large ? large_jobs_ : jobs_).Push({std::move(job), std::move(origin), pushed_++});
  large_bytes_ += bytes;
  changed_.notify_one();
  return true;
}

void WorkerPool::BeginLocked(const JobOrigin& origin) {
  // Of those of one client that have come back from waiting there may be more.
  running_ += running_of_client_[origin.client]++ < of_one_client_ ? 1 : 0;
  large_running_ += IsLarge(origin) ? 1 : 0;
}

void WorkerPool::EndLocked(const JobOrigin& origin) {
  running_ -= running_of_client_[origin.client] <= of_one_client_ ? 1 : 0;
  CountDown(running_of_client_, origin.client);
  large_running_ -= IsLarge(origin) ? 1 : 0;
}

bool WorkerPool::BeginWait(JobOrigin origin) {
  base::MutexLock lock(mu_);
  const auto of_client = waiting_of_client_.find(origin.client);
  if (waiting_ >= max_waiting_ ||
      (of_client != waiting_of_client_.end() && of_client->second >= ShareOfOne(max_waiting_))) {
    return false;
  }
  // Threads that were added stay, so that the next that waits finds them.
  if (!stopped_ && threads_.size() < at_once_ + waiting_ + 1) {
    try {
      AddThreadLocked();
    } catch (const std::exception& e) {  // The system has no more of them, or no memory.
      logging::Warning("Cannot start a thread for other requests while a request waits",
                       {{"error", e.what()}});
      return false;
    }
  }
  ++waiting_of_client_[origin.client];  // First what may fail for want of memory.
  EndLocked(origin);
  ++waiting_;
  changed_.notify_one();
  return true;
}

void WorkerPool::EndWait(JobOrigin origin) {
  base::MutexLock lock(mu_);
  BeginLocked(origin);
  --waiting_;
  CountDown(waiting_of_client_, origin.client);
}

void WorkerPool::Stop() {
  std::vector<std::jthread> threads;
  JobQueue dropped;
  JobQueue large_dropped;
  {
    base::MutexLock lock(mu_);
    stopped_ = true;
    threads.swap(threads_);
    std::swap(dropped, jobs_);
    std::swap(large_dropped, large_jobs_);
    large_bytes_ = 0;
  }
  for (std::jthread& thread : threads) {
    thread.request_stop();
  }
  threads.clear();  // joins
}

const QueuedJob* WorkerPool::NextLocked() const {
  if (running_ >= at_once_) {
    return nullptr;
  }
  const std::map<std::string, std::size_t>* const running = &running_of_client_;
  const auto may_begin = [running, most = of_one_client_](const std::string& client) {
    const auto found = running->find(client);
    return found == running->end() || found->second < most;
  };
  const QueuedJob* const next = jobs_.Next(may_begin);
  const QueuedJob* const large =
      large_running_ < LargeAtOnceLocked() ? large_jobs_.Next(may_begin) : nullptr;
  if (large == nullptr || next == nullptr) {
    return large == nullptr ? next : large;
  }
  // Those of one client in the order of coming, and else in turns.
  const bool is_large =
      large->origin.client == next->origin.client ? large->number < next->number : !was_large_;
  return is_large ? large : next;
}

void WorkerPool::Run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    QueuedJob next;
    {
      base::MutexLock lock(mu_);
      const QueuedJob* chosen = NextLocked();
      while (chosen == nullptr) {
        if (base::Clock::Real().WaitUntil(mu_, changed_, stop, base::TimePoint::max()) ==
            base::Wake::kStopped) {
          return;
        }
        chosen = NextLocked();
      }
      const bool large = IsLarge(chosen->origin);
      next = (large ? large_jobs_ : jobs_).Take(chosen->origin.client);
      large_bytes_ -= large ? next.origin.bytes : 0;
      was_large_ = large;
      BeginLocked(next.origin);
    }
    next.job();
    next.job = {};  // What it holds goes before another takes its place.
    base::MutexLock lock(mu_);
    EndLocked(next.origin);
    if (NextLocked() != nullptr) {
      changed_.notify_one();
    }
  }
}

bool WaitPlace::Begin() {
  base::MutexLock lock(mu_);
  if (parts_ == 0 && !pool_.BeginWait(origin_)) {
    return false;
  }
  ++parts_;
  return true;
}

void WaitPlace::End() {
  base::MutexLock lock(mu_);
  if (--parts_ == 0) {
    pool_.EndWait(origin_);
  }
}

}  // namespace kubexx::http::internal
