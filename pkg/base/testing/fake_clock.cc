#include "kubexx/base/testing/fake_clock.h"

#include <algorithm>
#include <vector>

namespace kubexx::base::testing {

TimePoint FakeClock::Now() const {
  MutexLock lock(mu_);
  return now_;
}

WallTime FakeClock::Wall() const {
  MutexLock lock(mu_);
  return wall_;
}

// Lock order: the caller's mutex, then mu_. Advance therefore must not hold mu_ while it takes a
// caller's mutex.
Wake FakeClock::WaitUntil(Mutex& mu, CondVar& cv, const std::stop_token& stop, TimePoint deadline) {
  std::size_t id = 0;
  {
    MutexLock lock(mu_);
    if (now_ >= deadline) {
      return stop.stop_requested() ? Wake::kStopped : Wake::kTimeout;
    }
    id = next_id_++;
    waiters_.emplace(id, Waiter{&mu, &cv, deadline, stop});
    changed_.notify_all();
  }
  cv.wait_until(mu, stop, TimePoint::max());
  MutexLock lock(mu_);
  waiters_.erase(id);
  changed_.notify_all();
  if (stop.stop_requested()) {
    return Wake::kStopped;
  }
  return now_ >= deadline ? Wake::kTimeout : Wake::kNotified;
}

void FakeClock::Advance(Duration d) {
  MutexLock lock(mu_);
  now_ += d;
  wall_ += std::chrono::duration_cast<WallTime::duration>(d);
  // A waiter registers itself with its own mutex held and gives it up only inside the wait, so a
  // notification sent between the two would be lost. Notify again until each due waiter has left.
  std::vector<std::size_t> due;
  for (const auto& [id, waiter] : waiters_) {
    if (waiter.deadline <= now_) {
      due.push_back(id);
    }
  }
  for (bool waiting = true; waiting;) {
    waiting = false;
    for (const std::size_t id : due) {
      if (const auto found = waiters_.find(id); found != waiters_.end()) {
        found->second.cv->notify_all();
        waiting = true;
      }
    }
    if (waiting) {
      changed_.wait_for(mu_, std::chrono::milliseconds(1));
    }
  }
}

void FakeClock::AwaitSleepers(std::size_t n) {
  MutexLock lock(mu_);
  while (SleepersLocked() < n) {
    changed_.wait(mu_);
  }
}

std::size_t FakeClock::Sleepers() const {
  MutexLock lock(mu_);
  return SleepersLocked();
}

std::size_t FakeClock::SleepersLocked() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(waiters_, [](const auto& entry) { return entry.second.IsAsleep(); }));
}

void FakeClock::AdvanceToSleeper(Duration d) {
  {
    MutexLock lock(mu_);
    while (std::ranges::none_of(waiters_, [end = now_ + d](const auto& entry) {
      return entry.second.IsAsleep() && entry.second.deadline >= end;
    })) {
      changed_.wait(mu_);
    }
  }
  Advance(d);
}

}  // namespace kubexx::base::testing
