#include "kubexx/base/executor/alarms.h"

#include "kubexx/base/executor/executor.h"
#include "kubexx/base/executor/ordered_task.h"

namespace kubexx::base {

Alarms::Alarms(Clock& clock)
    : clock_(clock), thread_([this](const std::stop_token& stop) { Run(stop); }) {}

void Alarms::Set(Alarm& alarm, TimePoint when) {
  const MutexLock lock(mu_);
  alarm.wanted_ = when;
  if (when >= alarm.looked_at_) {
    return;  // the thread finds the later time when it looks
  }
  due_.erase({alarm.looked_at_, &alarm});
  alarm.looked_at_ = when;
  const auto place = due_.emplace(when, &alarm).first;
  if (place == due_.begin()) {
    changed_.notify_all();
  }
}

void Alarms::Forget(Alarm& alarm) {
  const MutexLock lock(mu_);
  due_.erase({alarm.looked_at_, &alarm});
}

void Alarms::Run(const std::stop_token& stop) {
  const MutexLock lock(mu_);
  while (!stop.stop_requested()) {
    const TimePoint next = due_.empty() ? TimePoint::max() : due_.begin()->first;
    const TimePoint now = clock_.Now();
    if (next > now) {
      clock_.WaitUntil(mu_, changed_, stop, next);
      continue;
    }
    Alarm& alarm = *due_.begin()->second;
    due_.erase(due_.begin());
    alarm.looked_at_ = TimePoint::max();
    if (alarm.wanted_ <= now) {
      alarm.wanted_ = TimePoint::max();
      alarm.task_.Wake();
    } else if (alarm.wanted_ != TimePoint::max()) {
      alarm.looked_at_ = alarm.wanted_;
      due_.emplace(alarm.looked_at_, &alarm);
    }
  }
}

std::shared_ptr<Alarms> Executor::AlarmsOf(Clock& clock) {
  const MutexLock lock(alarms_mu_);
  std::erase_if(alarms_, [](const auto& entry) { return entry.second.expired(); });
  std::shared_ptr<Alarms> alarms = alarms_[&clock].lock();
  if (!alarms) {
    alarms = std::make_shared<Alarms>(clock);
    alarms_[&clock] = alarms;
  }
  return alarms;
}

}  // namespace kubexx::base
