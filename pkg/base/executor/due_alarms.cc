#include "kubexx/base/executor/due_alarms.h"

#include "kubexx/base/executor/alarms.h"

namespace kubexx::base {

bool DueAlarms::Set(Alarm& alarm, TimePoint when) {
  alarm.wanted_ = when;
  if (when >= alarm.looked_at_) {
    return false;  // TakeDue finds the later time
  }
  due_.erase({alarm.looked_at_, &alarm});
  alarm.looked_at_ = when;
  const auto place = due_.emplace(when, &alarm).first;
  return place == due_.begin();
}

void DueAlarms::Forget(Alarm& alarm) { due_.erase({alarm.looked_at_, &alarm}); }

OrderedTask* DueAlarms::TakeDue(TimePoint now) {
  while (Next() <= now) {
    Alarm& alarm = *due_.begin()->second;
    due_.erase(due_.begin());
    alarm.looked_at_ = TimePoint::max();
    if (alarm.wanted_ <= now) {
      alarm.wanted_ = TimePoint::max();
      return &alarm.task_;
    }
    if (alarm.wanted_ != TimePoint::max()) {
      alarm.looked_at_ = alarm.wanted_;
      due_.emplace(alarm.looked_at_, &alarm);
    }
  }
  return nullptr;
}

}  // namespace kubexx::base
