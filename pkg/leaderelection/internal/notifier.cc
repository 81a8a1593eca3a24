#include "kubexx/leaderelection/internal/notifier.h"

#include <utility>

#include "kubexx/base/clock.h"
#include "kubexx/leaderelection/internal/call.h"

namespace kubexx::leaderelection::internal {

Notifier::Notifier(std::function<void(const std::string&)> call) : call_(std::move(call)) {
  if (call_) {
    thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
  }
}

void Notifier::Notify(std::string value) {
  if (!call_) {
    return;
  }
  {
    const base::MutexLock lock(mu_);
    due_ = std::move(value);
  }
  cv_.notify_one();
}

void Notifier::Run(const std::stop_token& stop) {
  while (true) {
    std::optional<std::string> value;
    {
      base::MutexLock lock(mu_);
      while (!due_ && !stop.stop_requested()) {
        base::Clock::Real().WaitUntil(mu_, cv_, stop, base::TimePoint::max());
      }
      if (!due_) {
        return;
      }
      value = std::exchange(due_, std::nullopt);
    }
    CallUser("on_new_leader", [this, &value] { call_(*value); });
  }
}

}  // namespace kubexx::leaderelection::internal
