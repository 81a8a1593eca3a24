/// @file
/// ScheduledTask: work that is done at times and when it is asked for.
#ifndef KUBEXX_BASE_EXECUTOR_SCHEDULED_TASK_H_
#define KUBEXX_BASE_EXECUTOR_SCHEDULED_TASK_H_

#include <functional>
#include <memory>
#include <stop_token>

#include "kubexx/base/clock.h"
#include "kubexx/base/executor/executor.h"

namespace kubexx::base {

/// Does what an object would do on a thread that sleeps most of the time: a step runs when its time
/// has come or when the task was woken, and never two at once. Steps run on the threads of an
/// executor, which many tasks share, or without one on a thread of the task's own. Thread-safe.
class ScheduledTask {
 public:
  /// Does what is due, and returns when it wants to run next: TimePoint::max() when only Wake makes
  /// it run, and a time that has come when more is left to do. It may also run earlier without a
  /// reason. A step that waits, for example for an answer, should say so with Executor::Waiting.
  /// `stop` is requested when the task is stopped. Must not throw.
  using Step = std::function<TimePoint(const std::stop_token& stop)>;

  /// The times are those of `clock`, which must outlive the task. `executor` may be null.
  ScheduledTask(std::shared_ptr<Executor> executor, Clock& clock, Step step);
  /// Stops. Must not be called by the step.
  ~ScheduledTask();
  ScheduledTask(const ScheduledTask&) = delete;
  ScheduledTask& operator=(const ScheduledTask&) = delete;

  /// Has the first step run. Call it once only. Throws std::system_error when the system has not
  /// enough threads.
  void Start();
  /// Has a step run that begins after this call. Has no effect before Start and after a stop.
  void Wake();
  /// No further step begins, and a running one is told to stop.
  void RequestStop();
  /// Requests the stop and waits for a running step, unless the step itself is the caller. May be
  /// called again, also by several threads at once.
  void Stop();

 private:
  class Runner;
  class OnExecutor;
  class OnThread;

  const std::unique_ptr<Runner> runner_;
};

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_EXECUTOR_SCHEDULED_TASK_H_
