#include "kubexx/controller/internal/deadlines.h"

#include <system_error>

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
    if (due.stop_possible()) {
      Request(due);  // the lock is released, because this runs callbacks of other code
    }
  }
}

void Deadlines::Request(const std::stop_source& due) {
  requests_.remove_if([](const StopRequest& request) { return request.done.load(); });
  StopRequest& request = requests_.emplace_back();
  try {
    request.thread = std::jthread([source = due, &request]() mutable {
      source.request_stop();
      request.done = true;
    });
  } catch (const std::system_error&) {  // the system has no thread left
    requests_.pop_back();
    std::stop_source(due).request_stop();
  }
}

}  // namespace kubexx::controller::internal
