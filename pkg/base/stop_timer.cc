#include "kubexx/base/stop_timer.h"

#include "kubexx/base/after.h"

namespace kubexx::base {

StopTimer::StopTimer(Clock& clock, const std::stop_token& parent, Duration limit)
    : clock_(clock),
      limit_(limit),
      on_parent_(parent, [source = source_]() mutable { source.request_stop(); }),
      deadline_(After(clock.Now(), limit)) {
  if (limit > Duration::zero()) {
    thread_.emplace([this](const std::stop_token& stop) { Run(stop); });
  }
}

void StopTimer::Pause() {
  MutexLock lock(mu_);
  paused_ = true;
}

void StopTimer::Restart() {
  if (limit_ > Duration::zero()) {
    const TimePoint deadline = After(clock_.Now(), limit_);
    MutexLock lock(mu_);
    // The sleeper finds the later deadline when it wakes for the old one: nobody is woken here.
    deadline_ = deadline;
    paused_ = false;
  }
}

bool StopTimer::expired() const {
  MutexLock lock(mu_);
  return expired_;
}

void StopTimer::Run(const std::stop_token& stop) {
  {
    MutexLock lock(mu_);
    for (TimePoint now = clock_.Now(); !stop.stop_requested() && (paused_ || now < deadline_);
         now = clock_.Now()) {
      clock_.WaitUntil(mu_, changed_, stop, paused_ ? After(now, limit_) : deadline_);
    }
    if (stop.stop_requested()) {
      return;
    }
    expired_ = true;
  }
  source_.request_stop();
}

}  // namespace kubexx::base
