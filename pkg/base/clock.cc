#include "kubexx/base/clock.h"

namespace kubexx::base {
namespace {

class RealClock final : public Clock {
 public:
  TimePoint Now() const override { return std::chrono::steady_clock::now(); }
  WallTime Wall() const override { return std::chrono::system_clock::now(); }

  Wake WaitUntil(Mutex& mu, CondVar& cv, const std::stop_token& stop, TimePoint deadline) override {
    // True from the second look on: one wait, whatever woke it. The caller tests its own condition.
    auto waited = [looks = 0]() mutable { return looks++ > 0; };
    if (deadline == TimePoint::max()) {
      cv.wait(mu, stop, waited);
    } else {
      cv.wait_until(mu, stop, deadline, waited);
    }
    if (stop.stop_requested()) {
      return Wake::kStopped;
    }
    return Now() >= deadline ? Wake::kTimeout : Wake::kNotified;
  }
};

}  // namespace

bool Clock::SleepFor(Duration d, const std::stop_token& stop) {
  Mutex mu;
  CondVar cv;
  const TimePoint deadline = Now() + d;
  MutexLock lock(mu);
  while (Now() < deadline) {
    if (WaitUntil(mu, cv, stop, deadline) == Wake::kStopped) {
      return false;
    }
  }
  return !stop.stop_requested();
}

Clock& Clock::Real() {
  static RealClock clock;
  return clock;
}

}  // namespace kubexx::base
