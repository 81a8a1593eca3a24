#include "kubexx/base/executor/scheduled_task.h"

#include <optional>
#include <thread>
#include <utility>

#include "kubexx/base/executor/alarms.h"
#include "kubexx/base/executor/ordered_task.h"
#include "kubexx/base/mutex.h"

namespace kubexx::base {

class ScheduledTask::Runner {
 public:
  Runner() = default;
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  virtual ~Runner() = default;

  virtual void Start() = 0;
  virtual void Wake() = 0;
  virtual void RequestStop() = 0;
  virtual void Stop() = 0;
};

class ScheduledTask::OnExecutor final : public Runner {
 public:
  OnExecutor(std::shared_ptr<Executor> executor, Clock& clock, Step step)
      : executor_(std::move(executor)),
        clock_(clock),
        step_(std::move(step)),
        task_(executor_, [this] { return Run(); }) {}

  void Start() override {
    executor_->Start();
    alarm_.emplace(executor_->AlarmsOf(clock_), task_);
    task_.Start();
    task_.Wake();
  }

  void Wake() override { task_.Wake(); }

  void RequestStop() override {
    task_.RequestStop();
    stop_.request_stop();
  }

  void Stop() override {
    RequestStop();
    task_.Stop();
  }

 private:
  bool Run() {
    const TimePoint next = step_(stop_.get_token());
    if (next <= clock_.Now()) {
      return true;
    }
    alarm_->Set(next);
    return false;
  }

  const std::shared_ptr<Executor> executor_;
  Clock& clock_;
  const Step step_;
  std::stop_source stop_;
  OrderedTask task_;
  std::optional<Alarm> alarm_;  ///< set before the first step, and used by steps alone
};

class ScheduledTask::OnThread final : public Runner {
 public:
  OnThread(Clock& clock, Step step) : clock_(clock), step_(std::move(step)) {}

  void Start() override {
    const MutexLock lock(mu_);
    thread_ = std::thread([this] { Run(); });
    is_running_ = true;
  }

  void Wake() override {
    {
      const MutexLock lock(mu_);
      is_woken_ = true;
    }
    changed_.notify_one();
  }

  void RequestStop() override { stop_.request_stop(); }

  void Stop() override {
    RequestStop();
    const Executor::Waiting waiting;
    const MutexLock lock(mu_);
    if (thread_.get_id() == std::this_thread::get_id()) {
      return;  // the step is the caller
    }
    while (is_running_) {
      ended_.wait(mu_);
    }
    if (thread_.joinable()) {
      thread_.join();  // it takes the lock no more
    }
  }

 private:
  void Run() {
    const std::stop_token stop = stop_.get_token();
    while (!stop.stop_requested()) {
      const TimePoint next = step_(stop);
      const MutexLock lock(mu_);
      while (!is_woken_ && !stop.stop_requested() && clock_.Now() < next) {
        clock_.WaitUntil(mu_, changed_, stop, next);
      }
      is_woken_ = false;
    }
    const MutexLock lock(mu_);
    is_running_ = false;
    ended_.notify_all();
  }

  Clock& clock_;
  const Step step_;
  std::stop_source stop_;
  Mutex mu_;
  CondVar changed_;  ///< is_woken_
  CondVar ended_;    ///< is_running_
  bool is_woken_ KX_GUARDED_BY(mu_) = false;
  bool is_running_ KX_GUARDED_BY(mu_) = false;
  std::thread thread_ KX_GUARDED_BY(mu_);  ///< joined by Stop, which the task's destructor calls
};

ScheduledTask::ScheduledTask(std::shared_ptr<Executor> executor, Clock& clock, Step step)
    : runner_(executor ? std::unique_ptr<Runner>(std::make_unique<OnExecutor>(
                             std::move(executor), clock, std::move(step)))
                       : std::make_unique<OnThread>(clock, std::move(step))) {}

ScheduledTask::~ScheduledTask() { Stop(); }
void ScheduledTask::Start() { runner_->Start(); }
void ScheduledTask::Wake() { runner_->Wake(); }
void ScheduledTask::RequestStop() { runner_->RequestStop(); }
void ScheduledTask::Stop() { runner_->Stop(); }

}  // namespace kubexx::base
