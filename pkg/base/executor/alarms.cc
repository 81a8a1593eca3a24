#include "kubexx/base/executor/alarms.h"

#include <memory>
#include <stop_token>
#include <thread>

#include "kubexx/base/executor/due_alarms.h"
#include "kubexx/base/executor/executor.h"
#include "kubexx/base/executor/ordered_task.h"
#include "kubexx/base/mutex.h"

namespace kubexx::base {

/// Alarms of a clock that is not the executor's.
class Executor::OtherAlarms final : public Alarms {
 public:
  explicit OtherAlarms(Clock& clock)
      : clock_(clock), thread_([this](const std::stop_token& stop) { Run(stop); }) {}

 private:
  void Set(Alarm& alarm, TimePoint when) override {
    const MutexLock lock(mu_);
    if (due_.Set(alarm, when)) {
      changed_.notify_all();
    }
  }

  void Forget(Alarm& alarm) override {
    const MutexLock lock(mu_);
    due_.Forget(alarm);
  }

  void Run(const std::stop_token& stop) {
    const MutexLock lock(mu_);
    while (!stop.stop_requested()) {
      while (OrderedTask* const task = due_.TakeDue(clock_.Now())) {
        task->Wake();
      }
      clock_.WaitUntil(mu_, changed_, stop, due_.Next());
    }
  }

  Clock& clock_;
  Mutex mu_;  ///< held while tasks are woken, so taken before an executor's
  CondVar changed_;
  DueAlarms due_ KX_GUARDED_BY(mu_);
  std::jthread thread_;  // last: ends first
};

/// Alarms of the executor's own clock. Its tasks keep the executor, and outlive their alarms.
class Executor::OwnAlarms final : public Alarms {
 public:
  explicit OwnAlarms(Executor& executor) : executor_(executor) {}

 private:
  void Set(Alarm& alarm, TimePoint when) override {
    const MutexLock lock(executor_.mu_);
    if (executor_.due_.Set(alarm, when)) {
      executor_.watch_.notify_all();
    }
  }

  void Forget(Alarm& alarm) override {
    const MutexLock lock(executor_.mu_);
    executor_.due_.Forget(alarm);
  }

  Executor& executor_;
};

std::shared_ptr<Alarms> Executor::AlarmsOf(Clock& clock) {
  const MutexLock lock(alarms_mu_);
  std::erase_if(alarms_, [](const auto& entry) { return entry.second.expired(); });
  std::shared_ptr<Alarms> alarms = alarms_[&clock].lock();
  if (!alarms) {
    if (&clock == &options_.clock) {
      alarms = std::make_shared<OwnAlarms>(*this);
    } else {
      alarms = std::make_shared<OtherAlarms>(clock);
    }
    alarms_[&clock] = alarms;
  }
  return alarms;
}

}  // namespace kubexx::base
