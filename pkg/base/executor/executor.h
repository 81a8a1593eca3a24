/// @file
/// Executor: few threads that run the tasks of many objects.
#ifndef KUBEXX_BASE_EXECUTOR_EXECUTOR_H_
#define KUBEXX_BASE_EXECUTOR_EXECUTOR_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/executor/due_alarms.h"
#include "kubexx/base/mutex.h"

namespace kubexx::base {

class Alarms;
class OrderedTask;

/// Settings of an Executor.
struct ExecutorOptions {
  /// How many tasks run at a time as long as none of them waits. Zero means as many as the machine
  /// has processors, and at most 16.
  std::size_t threads = 0;
  /// The most threads that run tasks, including those whose tasks wait; at least `threads`. Zero
  /// means no limit but the number of the tasks. When all of them wait, the other tasks wait, too.
  std::size_t max_threads = 0;
  /// When a task has run for this long, and others are ready, another thread runs these.
  Duration patience = std::chrono::milliseconds(10);
  /// How long a thread that was added for others stays when it has nothing to do.
  Duration keep_idle = std::chrono::seconds(1);
  /// The clock of both. How long a task takes is a matter of real time, so only tests of an
  /// executor set another one.
  Clock& clock = Clock::Real();
};

/// Runs OrderedTasks, which take turns, on about as many threads as there are processors. A task
/// may wait: another thread then takes the place of its thread, so that it holds up no other task
/// for much longer than the patience of the options. So there are never more threads than
/// `threads`, one for each task that waits, and one that watches over them; when the waits are over
/// their number goes back to `threads`. They are started when they are first needed.
///
/// The tasks share in owning their executor. The threads end with it, so whatever may end on its
/// own, such as a simulated process, has an executor of its own. No task may be the last owner.
/// Thread-safe.
class Executor {
 public:
  explicit Executor(const ExecutorOptions& options = {});
  /// Waits for the threads. There are no tasks any more.
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Starts the first thread, and the one that watches, if they do not run yet. Throws
  /// std::system_error when the system has not enough threads; call it again then. Tasks that are
  /// woken before that run after it.
  void Start();

  /// How many threads run tasks, or could.
  std::size_t threads() const;

  /// The alarms by this clock, with which tasks of this executor are woken at times, after Start.
  /// All callers share them as long as anybody has them. Those of another clock than the executor's
  /// need a thread: throws std::system_error when there is none.
  std::shared_ptr<Alarms> AlarmsOf(Clock& clock);

  /// Whether the caller is a task of any executor: it should not wait for what another task does,
  /// for which there may be no thread.
  static bool IsTask() { return current_ != nullptr; }
  /// Whether the caller is a task, and others of its executor are ready and have no thread.
  static bool OthersAreReady();

  /// Says that the running task, if the caller is one of any executor, is going to wait for others:
  /// another thread takes its place at once, without the patience.
  class Waiting {
   public:
    Waiting();
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    Executor* executor_ = nullptr;  ///< null when the caller is no task, or has said it already
  };

 private:
  friend class OrderedTask;
  class OtherAlarms;
  class OwnAlarms;

  /// A thread, or the place of one that has ended.
  struct Worker {
    Executor* executor = nullptr;
    OrderedTask* running = nullptr;  ///< written by its own thread, with the lock
    std::uint64_t steps = 0;         ///< that it has begun
    std::uint64_t seen = 0;          ///< the steps at the watcher's last look
    bool called = false;             ///< to look for a task
    bool waits = false;              ///< see Waiting
    bool defers = false;  ///< its step has woken tasks for later; used by its own thread alone
    bool alive = false;
    CondVar wake{};
    std::thread thread{};
  };

  /// Called when the lock has been released; null: nobody is to be woken.
  static void Notify(Worker* worker) {
    if (worker != nullptr) {
      worker->wake.notify_one();
    }
  }
  static thread_local Worker* current_;

  void Work(Worker& self);
  /// Ends the task that has run, and takes the next one. Null when the thread is to end.
  OrderedTask* Next(Worker& self, bool more);
  OrderedTask& TakeLocked(const Worker& self) KX_REQUIRES(mu_);
  void FinishLocked(Worker& self, bool more) KX_REQUIRES(mu_);
  /// Waits until it is called. False when the thread is to end.
  bool IdleLocked(Worker& self) KX_REQUIRES(mu_);
  /// Adds a task to those that are ready.
  void EnqueueLocked(OrderedTask& task) KX_REQUIRES(mu_);
  /// Sees to it that somebody looks for a ready task. The result is to be woken.
  Worker* CallLocked() KX_REQUIRES(mu_);
  void CallWatcherLocked() KX_REQUIRES(mu_);
  bool MayAddLocked() const KX_REQUIRES(mu_);
  /// Throws std::system_error, and adds nothing.
  void AddWorkerLocked() KX_REQUIRES(mu_);
  bool TryAddWorkerLocked() KX_REQUIRES(mu_);

  void Watch();
  /// Waits until some tasks have been ready for the time of the patience while nobody was idle, or
  /// some threads have ended, which it returns. Ends early when the executor does.
  std::vector<std::thread> AwaitTrouble();
  /// Waits until somebody calls the watcher, or `until`, and wakes the tasks whose alarms go off.
  void WaitAndWakeLocked(TimePoint until) KX_REQUIRES(mu_);
  bool HasEndedLocked() const KX_REQUIRES(mu_);
  std::vector<std::thread> TakeEndedLocked() KX_REQUIRES(mu_);
  void ReplaceLocked() KX_REQUIRES(mu_);

  const ExecutorOptions options_;
  mutable Mutex mu_;  ///< taken last of all: nothing is called while it is held
  std::deque<OrderedTask*> ready_ KX_GUARDED_BY(mu_);
  std::vector<std::unique_ptr<Worker>> workers_ KX_GUARDED_BY(mu_);
  /// Those that wait to be called: who has run the task before, or the one that came last.
  std::vector<Worker*> idle_ KX_GUARDED_BY(mu_);
  std::size_t threads_ KX_GUARDED_BY(mu_) = 0;
  std::size_t looking_ KX_GUARDED_BY(mu_) = 0;  ///< that were called, and have no task yet
  std::size_t waiting_ KX_GUARDED_BY(mu_) = 0;  ///< see Waiting
  bool watching_ KX_GUARDED_BY(mu_) = false;    ///< the watcher was called, or looks
  bool ending_ KX_GUARDED_BY(mu_) = false;
  CondVar watch_;
  DueAlarms due_ KX_GUARDED_BY(mu_);
  CondVar step_ended_;  ///< of a task that somebody waits for
  std::thread watcher_ KX_GUARDED_BY(mu_);

  Mutex alarms_mu_;
  std::map<Clock*, std::weak_ptr<Alarms>> alarms_ KX_GUARDED_BY(alarms_mu_);
};

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_EXECUTOR_EXECUTOR_H_
