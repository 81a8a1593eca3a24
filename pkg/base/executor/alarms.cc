#include "kubexx/base/executor/alarms.h"

#include <cstdio>
#include <exception>
#include <memory>
#include <stop_token>
#include <thread>
#include <utility>

#include "kubexx/base/executor/due_alarms.h"
#include "kubexx/base/executor/executor.h"
#include "kubexx/base/executor/ordered_task.h"
#include "kubexx/base/mutex.h"

namespace kubexx::base {

// The alarms of an executor's own clock change the state of a task with that executor's mutex,
// which is not the one that guards the task of another executor.
Alarm::Alarm(std::shared_ptr<Alarms> alarms, OrderedTask& task)
    : alarms_(std::move(alarms)), task_(task) {
  if (!alarms_->MayWake(task)) {
    std::fputs("An alarm is to wake a task of another executor than its own\n", stderr);
    std::terminate();
  }
}

/// Alarms of a clock that is not the executor's.
class Executor::OtherAlarms final : public Alarms {
 public:
  OtherAlarms(const Executor& executor, Clock& clock)
      : executor_(&executor),
        clock_(clock),
        thread_([this](const std::stop_token& stop) { Run(stop); }) {}

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

  bool MayWake(const OrderedTask& task) const override { return task.executor_.get() == executor_; }

  void Run(const std::stop_token& stop) {
    const MutexLock lock(mu_);
    while (!stop.stop_requested()) {
      while (OrderedTask* const task = due_.TakeDue(clock_.Now())) {
        task->Wake();
      }
      clock_.WaitUntil(mu_, changed_, stop, due_.Next());
    }
  }

  const Executor* const executor_;  ///< to compare with; it may end before the alarms
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

  bool MayWake(const OrderedTask& task) const override {
    return task.executor_.get() == &executor_;
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
      alarms = std::make_shared<OtherAlarms>(*this, clock);
    }
    alarms_[&clock] = alarms;
  }
  return alarms;
}

}  // namespace kubexx::base
