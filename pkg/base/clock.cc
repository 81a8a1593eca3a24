#include "kubexx/base/clock.h"

#include "kubexx/base/after.h"

namespace kubexx::base {
namespace {

class RealClock final : public Clock {
 public:
  TimePoint Now() const override { return std::chrono::steady_clock::now(); }
  WallTime Wall() const override { return std::chrono::system_clock::now(); }

  Wake WaitUntil(Mutex& mu, CondVar& cv, const std::stop_token& stop, TimePoint deadline) override
      KX_REQUIRES(mu) {
    cv.wait_until(mu, stop, deadline);
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
  const TimePoint deadline = After(Now(), d);
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
