/// @file
/// OrderedTask: work in steps, one after the other, on the threads of an Executor.
#ifndef KUBEXX_BASE_EXECUTOR_ORDERED_TASK_H_
#define KUBEXX_BASE_EXECUTOR_ORDERED_TASK_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "kubexx/base/executor/executor.h"
#include "kubexx/base/mutex.h"

namespace kubexx::base {

/// What an object would do on a thread of its own: a step runs each time that the task was woken,
/// and never two at once, so that its steps see each other's work in order. Between two steps other
/// tasks have their turn. Thread-safe.
class OrderedTask {
 public:
  /// Does some of what there is to do, and returns whether more is left. Must not throw.
  using Step = std::function<bool()>;

  /// When a task that was woken has its turn.
  enum class Hurry : std::uint8_t {
    /// As soon as a thread can be had.
    kNow,
    /// After the running step, on the same thread: for steps that end soon after, so that no other
    /// thread need be woken. The same as kNow where the caller is no task of this executor.
    kAfterThisStep,
  };

  /// The task is stopped at first.
  OrderedTask(std::shared_ptr<Executor> executor, Step step);
  /// Stops. Must not be called by the step.
  ~OrderedTask();
  OrderedTask(const OrderedTask&) = delete;
  OrderedTask& operator=(const OrderedTask&) = delete;

  /// Lets steps begin from now on. What it was woken for before is forgotten: wake it afterwards if
  /// there is something to do.
  void Start();
  /// No further step begins.
  void RequestStop();
  /// Requests the stop and waits for a running step, unless the step itself is the caller.
  void Stop();
  /// Has a step run that begins after this call. Before Start it has no effect.
  void Wake(Hurry hurry = Hurry::kNow);

  /// Whether the running step is the caller.
  bool IsCurrent() const;
  /// Whether a step is running.
  bool IsRunning() const;

 private:
  friend class Executor;
  enum class State : std::uint8_t { kIdle, kReady, kRunning };

  const std::shared_ptr<Executor> executor_;
  const Step step_;
  /// Whether a step is due that has not begun; so that others need not wake it again.
  std::atomic<bool> woken_ = false;
  // These are guarded by the executor's mutex.
  State state_ = State::kIdle;
  bool is_open_ = false;
  std::size_t awaited_by_ = 0;
  const Executor::Worker* last_ = nullptr;  ///< who has run the last step
};

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_EXECUTOR_ORDERED_TASK_H_
