#include "kubexx/controller/internal/deadlines.h"

namespace kubexx::controller::internal {

Deadlines::Deadlines(base::Clock& clock)
    : clock_(clock), thread_([this](const std::stop_token& stop) { Run(stop); }) {}

base::Subscription Deadlines::Arm(std::stop_source source, base::TimePoint at) {
  Entry entry;
  bool is_first = false;
  {
    const base::MutexLock lock(mu_);
    entry = {at, next_++};
    armed_.emplace(entry, std::move(source));
    is_first = armed_.begin()->first == entry;
  }
  if (is_first) {
    changed_.notify_one();
  }
  return base::Subscription([this, entry] {
    bool was_first = false;
    {
      const base::MutexLock lock(mu_);
      was_first = !armed_.empty() && armed_.begin()->first == entry;
      armed_.erase(entry);
    }
    if (was_first) {
      changed_.notify_one();
    }
  });
}

void Deadlines::Run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::stop_source due{std::nostopstate};
    {
      const base::MutexLock lock(mu_);
      if (!armed_.empty() && armed_.begin()->first.first <= clock_.Now()) {
        due = std::move(armed_.begin()->second);
        armed_.erase(armed_.begin());
      } else {
        clock_.WaitUntil(mu_, changed_, stop,
                         armed_.empty() ? base::TimePoint::max() : armed_.begin()->first.first);
      }
    }
    due.request_stop();  // Outside the lock: it runs the callbacks of others.
  }
}

}  // namespace kubexx::controller::internal
