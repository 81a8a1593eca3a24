#include "kubexx/cache/stop_timer.h"

namespace kubexx::cache {

StopTimer::StopTimer(base::Clock& clock, const std::stop_token& parent, base::Duration limit)
    : clock_(clock),
      limit_(limit),
      on_parent_(parent, [source = source_]() mutable { source.request_stop(); }),
      deadline_(clock.Now() + limit) {
  if (limit > base::Duration::zero()) {
    thread_.emplace([this](const std::stop_token& stop) { Run(stop); });
  }
}

void StopTimer::Pause() {
  base::MutexLock lock(mu_);
  paused_ = true;
}

void StopTimer::Restart() {
  if (limit_ > base::Duration::zero()) {
    const base::TimePoint deadline = clock_.Now() + limit_;
    base::MutexLock lock(mu_);
    // The sleeper finds the later deadline when it wakes for the old one: nobody is woken here.
    deadline_ = deadline;
    paused_ = false;
  }
}

bool StopTimer::expired() const {
  base::MutexLock lock(mu_);
  return expired_;
}

void StopTimer::Run(const std::stop_token& stop) {
  {
    base::MutexLock lock(mu_);
    for (base::TimePoint now = clock_.Now(); !stop.stop_requested() && (paused_ || now < deadline_);
         now = clock_.Now()) {
      clock_.WaitUntil(mu_, changed_, stop, paused_ ? now + limit_ : deadline_);
    }
    if (stop.stop_requested()) {
      return;
    }
    expired_ = true;
  }
  source_.request_stop();
}

}  // namespace kubexx::cache
