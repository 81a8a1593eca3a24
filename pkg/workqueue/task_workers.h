/// @file
/// TaskWorkers: works off a queue on the threads of an executor.
#ifndef KUBEXX_WORKQUEUE_TASK_WORKERS_H_
#define KUBEXX_WORKQUEUE_TASK_WORKERS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/executor/executor.h"
#include "kubexx/base/executor/ordered_task.h"
#include "kubexx/base/mutex.h"
#include "kubexx/workqueue/queue.h"

namespace kubexx::workqueue {

/// Workers that have a thread only while they work on keys, unlike threads that block in
/// Queue::Get. A worker may wait, as for an answer: it counts as waiting for its executor
/// (Executor::Waiting), so it holds up nobody else. Thread-safe.
class TaskWorkers {
 public:
  /// What the workers do, and with what.
  struct Options {
    /// Null: the workers make one for themselves.
    std::shared_ptr<base::Executor> executor{};
    base::Clock& clock = base::Clock::Real();
    /// How many keys are worked on at the same time at most; at least one.
    int number = 1;
    /// Does the work on one key. May end it by Item::Done or move the item away, as to
    /// Queue::PutBack. Must not throw.
    std::function<void(Queue::Item& item, const std::stop_token& stop)> handle{};
  };

  /// `queue` must outlive this object, and its on_ready must call OnReady.
  TaskWorkers(Queue& queue, Options options);
  /// Stops.
  ~TaskWorkers();
  TaskWorkers(const TaskWorkers&) = delete;
  TaskWorkers& operator=(const TaskWorkers&) = delete;

  /// For Queue::Options::on_ready. Wakes a worker if one has nothing to do.
  void OnReady();
  /// Begins the work. The workers take no further key once `stop` is requested. Call it once only.
  /// Throws std::system_error when the system has not enough threads.
  void Start(const std::stop_token& stop);
  /// Blocks until the queue, which has been shut down, is empty and no worker is at work, or until
  /// `deadline`. Returns whether that is so. Call it between Start and Stop.
  bool AwaitEnd(base::TimePoint deadline);
  /// How many workers are at work, or about to look for it.
  std::size_t busy() const;
  /// Shuts the queue down, and waits for the workers that are at work: each ends the work on its
  /// key, and takes no further one, whether or not the stop that Start was given is requested. What
  /// is queued is dropped. May be called again.
  void Stop();

 private:
  /// Works until there are no more keys. Returns whether to look again.
  bool Step(base::OrderedTask& self);
  /// Marks a worker as one that has nothing to do, unless there may be a key that it has not seen:
  /// `seen` is the number of calls of OnReady before it looked. Returns whether it did.
  bool Rest(base::OrderedTask& self, std::uint64_t seen);
  std::uint64_t calls() const;
  bool HaveEndedLocked() const KX_REQUIRES(mu_);
  /// Whether the workers take no further key.
  bool IsStopping() const { return is_stopped_ || stop_.stop_requested(); }

  Queue& queue_;
  const Options options_;
  std::stop_token stop_;  ///< set by Start, before the first step
  std::atomic<bool> is_stopped_ = false;
  mutable base::Mutex mu_;  ///< taken after the queue's, and before the executor's
  base::CondVar ended_;
  bool is_started_ KX_GUARDED_BY(mu_) = false;
  bool is_over_ KX_GUARDED_BY(mu_) = false;  ///< a worker has found the queue shut down and empty
  std::uint64_t calls_ KX_GUARDED_BY(mu_) = 0;                  ///< of OnReady
  std::vector<base::OrderedTask*> resting_ KX_GUARDED_BY(mu_);  ///< the last one came last
  std::vector<std::unique_ptr<base::OrderedTask>> tasks_;       // last: they use the others
};

}  // namespace kubexx::workqueue

#endif  // KUBEXX_WORKQUEUE_TASK_WORKERS_H_
