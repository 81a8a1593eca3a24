/// @file
/// DueAlarms: the times of alarms, in order.
#ifndef KUBEXX_BASE_EXECUTOR_DUE_ALARMS_H_
#define KUBEXX_BASE_EXECUTOR_DUE_ALARMS_H_

#include <set>
#include <utility>

#include "kubexx/base/clock.h"

namespace kubexx::base {

class Alarm;
class OrderedTask;

/// Which alarms are set, and for when. Not thread-safe: whoever wakes their tasks has a mutex for
/// it.
class DueAlarms {
 public:
  /// Sets an alarm that may be set already; TimePoint::max() means never. Returns whether Next is
  /// earlier than before. To put an alarm off costs next to nothing, as its place stays the same
  /// until its earlier time has come.
  bool Set(Alarm& alarm, TimePoint when);
  void Forget(Alarm& alarm);
  /// When to call TakeDue; TimePoint::max() when no alarm is set.
  TimePoint Next() const { return due_.empty() ? TimePoint::max() : due_.begin()->first; }
  /// Takes the alarm that is to go off first, and returns its task; null when none is due at `now`.
  OrderedTask* TakeDue(TimePoint now);

 private:
  std::set<std::pair<TimePoint, Alarm*>> due_;
};

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_EXECUTOR_DUE_ALARMS_H_
