// Runs the passes of a Reflector in a thread that waits for the events of a watch.
#include <stop_token>
#include <utility>

#include "kubexx/base/stop_timer.h"
#include "kubexx/cache/internal/reflector/reflector_pass.h"
#include "kubexx/logging/log.h"

namespace kubexx::cache {

using apimachinery::Result;

void Reflector::Pass::Run() {
  ReflectorAction action = state_.Start();
  while (!stop_.stop_requested()) {
    if (action.backoff && !clock_.SleepFor(DelayOf(action), stop_)) {
      return;
    }
    StartResync();
    const ReflectorInput input = Try(action);
    if (stop_.stop_requested()) {
      return;
    }
    if (const auto failed = FailureOf(input)) {
      owner_.Report(*failed);
    }
    action = state_.Next(input);
  }
}

// When the system has no thread for it, there are no resyncs until a later request gets a thread.
void Reflector::Pass::StartResync() {
  if (resync_ || owner_.options_.resync_period <= base::Duration::zero()) {
    return;
  }
  try {
    resync_.emplace([this](const std::stop_token& own) { owner_.ResyncLoop(own); });
  } catch (...) {
    logging::Warning(
        "Cannot start a thread for resyncs; there are none before the next list or watch",
        {{"reflector", owner_.name_}, {"error", owner_.Thrown()}});
  }
}

ReflectorInput Reflector::Pass::Watch(const ReflectorAction& action) {
  const apimachinery::ListOptions options = BeginWatch(action);
  base::StopTimer watchdog(clock_, stop_, owner_.options_.tuning.watch_idle_timeout);
  const auto take = [this, &watchdog](WatchEvent&& event) -> Result<void> {
    KX_RETURN_IF_ERROR(CheckOrder(event));
    watchdog.Pause();  // the store may hold the source back
    auto stored = Store([&] { return Apply(std::move(event)); });
    watchdog.Restart();
    KX_RETURN_IF_ERROR(std::move(stored));
    return CheckComplete();
  };
  auto result =
      owner_.Guard([&] { return owner_.source_->Watch(options, take, watchdog.token()); });
  return EndWatch(std::move(result), watchdog.expired());
}

}  // namespace kubexx::cache
