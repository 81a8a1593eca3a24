/// @file
/// Alarms: one thread that wakes the tasks of many objects at times of a Clock.
#ifndef KUBEXX_BASE_EXECUTOR_ALARMS_H_
#define KUBEXX_BASE_EXECUTOR_ALARMS_H_

#include <memory>
#include <set>
#include <stop_token>
#include <thread>
#include <utility>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"

namespace kubexx::base {

class Alarm;
class OrderedTask;

/// The thread that all Alarms with the same clock share; Executor::AlarmsOf has it. Ends with its
/// last owner, which must not be a call of the clock. Thread-safe.
class Alarms {
 public:
  /// Starts the thread. `clock` must outlive it. Throws std::system_error when the system has no
  /// thread left.
  explicit Alarms(Clock& clock);
  Alarms(const Alarms&) = delete;
  Alarms& operator=(const Alarms&) = delete;

 private:
  friend class Alarm;

  void Run(const std::stop_token& stop);
  void Set(Alarm& alarm, TimePoint when);
  void Forget(Alarm& alarm);

  Clock& clock_;
  Mutex mu_;  ///< held while tasks are woken, so taken before an executor's
  CondVar changed_;
  std::set<std::pair<TimePoint, Alarm*>> due_ KX_GUARDED_BY(mu_);
  std::jthread thread_;  // last: ends first
};

/// Wakes one task at one time. Once the destructor has returned it wakes it no more. Thread-safe.
class Alarm {
 public:
  /// `task` must outlive it.
  Alarm(std::shared_ptr<Alarms> alarms, OrderedTask& task)
      : alarms_(std::move(alarms)), task_(task) {}
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;
  ~Alarm() { alarms_->Forget(*this); }

  /// Has the task woken once, at `when`, and no more at the time that was set before;
  /// TimePoint::max() means never. To put the time off costs next to nothing.
  void Set(TimePoint when) { alarms_->Set(*this, when); }

 private:
  friend class Alarms;

  const std::shared_ptr<Alarms> alarms_;
  OrderedTask& task_;
  // These are guarded by the mutex of alarms_.
  TimePoint wanted_ = TimePoint::max();
  TimePoint looked_at_ = TimePoint::max();  ///< not after wanted_: when the thread looks
};

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_EXECUTOR_ALARMS_H_
