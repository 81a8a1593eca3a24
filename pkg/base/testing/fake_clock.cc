#include "kubexx/base/testing/fake_clock.h"

#include <algorithm>
#include <chrono>

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

void FakeClock::Advance(Duration d, const Where& where) {
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
  if (due.empty()) {
    return;
  }
  Patience patience("the waits to return whose deadline has come", where);
  for (bool waiting = true; waiting;) {
    waiting = false;
    for (const std::size_t id : due) {
      if (const auto found = waiters_.find(id); found != waiters_.end()) {
        found->second.cv->notify_all();
        waiting = true;
      }
    }
    if (waiting) {
      patience.WaitFor(std::chrono::milliseconds(1), changed_, mu_, DescribeLocked());
    }
  }
}

void FakeClock::AwaitSleepers(std::size_t n, const Where& where) {
  MutexLock lock(mu_);
  Patience patience("threads in a wait with a deadline, " + std::to_string(n) + " or more", where);
  while (SleepersLocked() < n) {
    patience.Wait(changed_, mu_, DescribeLocked());
  }
}

std::vector<std::string> FakeClock::DescribeLocked() const {
  std::vector<std::string> lines;
  for (const auto& [id, waiter] : waiters_) {
    const std::chrono::duration<double> left = waiter.deadline - now_;
    lines.push_back(waiter.deadline == TimePoint::max()
                        ? "a wait without a deadline"
                        : "a wait for " + Shown(left.count()) + " s");
    if (waiter.stop.stop_requested()) {
      lines.back() += " that is stopped";
    }
  }
  return lines;
}

std::size_t FakeClock::Sleepers() const {
  MutexLock lock(mu_);
  return SleepersLocked();
}

std::size_t FakeClock::SleepersLocked() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(waiters_, [](const auto& entry) { return entry.second.IsAsleep(); }));
}

void FakeClock::AdvanceToSleeper(Duration d, const Where& where) {
  {
    MutexLock lock(mu_);
    const std::chrono::duration<double> wanted = d;
    Patience patience("a wait for " + Shown(wanted.count()) + " s or longer", where);
    while (std::ranges::none_of(waiters_, [end = now_ + d](const auto& entry) {
      return entry.second.IsAsleep() && entry.second.deadline >= end;
    })) {
      patience.Wait(changed_, mu_, DescribeLocked());
    }
  }
  Advance(d, where);
}

}  // namespace kubexx::base::testing
