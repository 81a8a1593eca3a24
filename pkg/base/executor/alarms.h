/// @file
/// Alarms: wake the tasks of an executor at times of a Clock.
#ifndef KUBEXX_BASE_EXECUTOR_ALARMS_H_
#define KUBEXX_BASE_EXECUTOR_ALARMS_H_

#include <memory>

#include "kubexx/base/clock.h"

namespace kubexx::base {

class Alarm;
class OrderedTask;

/// What all Alarms with the same clock share; Executor::AlarmsOf has it. Those of the executor's
/// own clock are a matter of the thread that watches over the executor; those of another clock, as
/// tests have, share a thread that ends with its last owner, which must not be a call of the clock.
/// Thread-safe.
class Alarms {
 public:
  Alarms() = default;
  Alarms(const Alarms&) = delete;
  Alarms& operator=(const Alarms&) = delete;
  virtual ~Alarms() = default;

 private:
  friend class Alarm;

  virtual void Set(Alarm& alarm, TimePoint when) = 0;
  virtual void Forget(Alarm& alarm) = 0;
  /// Whether the task is one of the executor that they come from.
  virtual bool MayWake(const OrderedTask& task) const = 0;
};

/// Wakes one task at one time. Once the destructor has returned it wakes it no more. Thread-safe.
class Alarm {
 public:
  /// `task` must outlive it, and be one of the executor that the alarms come from; the program ends
  /// otherwise.
  Alarm(std::shared_ptr<Alarms> alarms, OrderedTask& task);
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;
  ~Alarm() { alarms_->Forget(*this); }

  /// Has the task woken once, at `when`, and no more at the time that was set before;
  /// TimePoint::max() means never. To put the time off costs next to nothing.
  void Set(TimePoint when) { alarms_->Set(*this, when); }

 private:
  friend class DueAlarms;

  const std::shared_ptr<Alarms> alarms_;
  OrderedTask& task_;
  // These are guarded by the mutex of alarms_.
  TimePoint wanted_ = TimePoint::max();
  TimePoint looked_at_ = TimePoint::max();  ///< not after wanted_: when the thread looks
};

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_EXECUTOR_ALARMS_H_
