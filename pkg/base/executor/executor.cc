#include "kubexx/base/executor/executor.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <iterator>
#include <system_error>
#include <utility>

#include "kubexx/base/after.h"
#include "kubexx/base/executor/ordered_task.h"

namespace kubexx::base {
namespace {

constexpr std::size_t kMostProcessors = 16;

// How many of the ready tasks are looked at for one that a thread has run before.
constexpr std::size_t kTasksLookedAt = 16;

// Whether the system has refused a thread for the first time in this process, and that was told.
// The threads that an executor has go on, so nobody gets an error, and all may wait for one that
// has no thread.
enum : int { kNoneFailed, kOneFailed, kFailureTold };
std::atomic<int> failed_thread = kNoneFailed;

void TellOfFailedThread() {
  int failed = kOneFailed;
  if (failed_thread.compare_exchange_strong(failed, kFailureTold)) {
    std::fputs(
        "The system has no further thread for an executor, whose tasks wait for those that it has; "
        "raise the limit of processes, as a container's pids limit\n",
        stderr);
  }
}

ExecutorOptions Completed(ExecutorOptions options) {
  if (options.threads == 0) {
    options.threads =
        std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMostProcessors);
  }
  if (options.max_threads != 0) {
    options.max_threads = std::max(options.max_threads, options.threads);
  }
  return options;
}

}  // namespace

thread_local Executor::Worker* Executor::current_ = nullptr;

Executor::Executor(const ExecutorOptions& options) : options_(Completed(options)) {}

Executor::~Executor() {
  if (current_ != nullptr && current_->executor == this) {
    std::fputs("An executor is destroyed by one of its own tasks, for which it would wait\n",
               stderr);
    std::terminate();
  }
  std::vector<std::thread> threads;
  {
    const MutexLock lock(mu_);
    ending_ = true;
    for (const auto& worker : workers_) {
      worker->wake.notify_all();
      threads.push_back(std::move(worker->thread));
    }
    watch_.notify_all();
    threads.push_back(std::move(watcher_));
  }
  for (std::thread& thread : threads) {
    if (thread.joinable()) {
      thread.join();
    }
  }
}

void Executor::Start() {
  const MutexLock lock(mu_);
  if (!watcher_.joinable()) {
    watcher_ = std::thread([this] { Watch(); });
    watching_ = true;  // tasks may be ready already
  }
  if (threads_ == 0) {
    AddWorkerLocked();
  }
}

std::size_t Executor::threads() const {
  const MutexLock lock(mu_);
  return threads_;
}

bool Executor::OthersAreReady() {
  if (current_ == nullptr) {
    return false;
  }
  Executor& executor = *current_->executor;
  const MutexLock lock(executor.mu_);
  return !executor.ready_.empty();
}

Executor::Waiting::Waiting() {
  Worker* const self = current_;
  if (self == nullptr || self->waits) {
    return;
  }
  executor_ = self->executor;
  Worker* called = nullptr;
  {
    const MutexLock lock(executor_->mu_);
    self->waits = true;
    ++executor_->waiting_;
    called = executor_->ready_.empty() ? nullptr : executor_->CallLocked();
  }
  Notify(called);
}

Executor::Waiting::~Waiting() {
  if (executor_ != nullptr) {
    const MutexLock lock(executor_->mu_);
    current_->waits = false;
    --executor_->waiting_;
  }
}

void Executor::Work(Worker& self) {
  current_ = &self;
  bool more = false;
  while (OrderedTask* const task = Next(self, more)) {
    more = task->step_();
  }
  current_ = nullptr;
}

// The mark that the task was woken is taken away before its step looks at what there is to do: who
// then finds it set does so before the step looks, and whoever sets it again has another step run.
OrderedTask* Executor::Next(Worker& self, bool more) {
  OrderedTask* next = nullptr;
  Worker* called = nullptr;
  {
    const MutexLock lock(mu_);
    FinishLocked(self, more);
    while (ready_.empty() || ending_) {
      if (!IdleLocked(self)) {
        return nullptr;
      }
    }
    next = &TakeLocked(self);
    next->state_ = OrderedTask::State::kRunning;
    next->last_ = &self;
    self.running = next;
    self.defers = false;
    ++self.steps;
    if (std::exchange(self.called, false)) {
      --looking_;
    }
    called = ready_.empty() ? nullptr : CallLocked();
  }
  Notify(called);
  next->woken_.exchange(false);
  return next;
}

// Each in its turn. Only where another thread is there for the first one, a thread goes on with
// what it has run before: that, and the memory that it has taken for it, is in its processor's
// cache.
OrderedTask& Executor::TakeLocked(const Worker& self) {
  auto taken = ready_.begin();
  const std::size_t others = idle_.size() + looking_ - (self.called ? 1 : 0);
  if ((*taken)->last_ != &self && others > 0) {
    const auto end =
        ready_.begin() + static_cast<std::ptrdiff_t>(std::min(ready_.size(), kTasksLookedAt));
    const auto own =
        std::find_if(taken, end, [&self](const OrderedTask* task) { return task->last_ == &self; });
    taken = own == end ? taken : own;
  }
  OrderedTask& task = **taken;
  ready_.erase(taken);
  return task;
}

void Executor::FinishLocked(Worker& self, bool more) {
  OrderedTask* const task = std::exchange(self.running, nullptr);
  if (task == nullptr) {
    return;
  }
  task->state_ = OrderedTask::State::kIdle;
  if (more || task->woken_) {
    EnqueueLocked(*task);
  }
  if (task->awaited_by_ > 0) {
    step_ended_.notify_all();
  }
}

bool Executor::IdleLocked(Worker& self) {
  if (std::exchange(self.called, false)) {
    --looking_;  // somebody else has taken what it was called for
  }
  idle_.push_back(&self);
  TimePoint until = TimePoint::max();
  if (idle_.size() > options_.threads) {
    until = After(options_.clock.Now(), options_.keep_idle);
  }
  while (!ending_ && !self.called) {
    if (until != TimePoint::max() && options_.clock.Now() >= until) {
      if (idle_.size() > options_.threads) {
        break;
      }
      until = TimePoint::max();  // others have gone, and it stays
    }
    options_.clock.WaitUntil(mu_, self.wake, {}, until);
  }
  if (!ending_ && self.called) {
    return true;
  }
  std::erase(idle_, &self);
  self.alive = false;
  --threads_;
  CallWatcherLocked();  // which joins it
  return false;
}

void Executor::EnqueueLocked(OrderedTask& task) {
  if (task.is_open_ && task.state_ == OrderedTask::State::kIdle) {
    task.state_ = OrderedTask::State::kReady;
    ready_.push_back(&task);
  }
}

Executor::Worker* Executor::CallLocked() {
  if (looking_ > 0 || !watcher_.joinable()) {
    return nullptr;  // whoever looks calls the next one when it finds more than it can do
  }
  if (!idle_.empty()) {
    auto place = ready_.empty() ? idle_.end() : std::ranges::find(idle_, ready_.front()->last_);
    place = place == idle_.end() ? idle_.end() - 1 : place;
    Worker* const called = *place;
    idle_.erase(place);
    called->called = true;
    ++looking_;
    return called;
  }
  if (threads_ - waiting_ >= options_.threads || !TryAddWorkerLocked()) {
    CallWatcherLocked();
  }
  return nullptr;
}

void Executor::CallWatcherLocked() {
  if (!std::exchange(watching_, true)) {
    watch_.notify_all();
  }
}

bool Executor::MayAddLocked() const {
  return !ending_ && (options_.max_threads == 0 || threads_ < options_.max_threads);
}

void Executor::AddWorkerLocked() {
  auto place = std::ranges::find_if(workers_, [](const std::unique_ptr<Worker>& worker) {
    return !worker->alive && !worker->thread.joinable();
  });
  if (place == workers_.end()) {
    place = workers_.insert(place, std::make_unique<Worker>());
  }
  Worker& worker = **place;
  worker.executor = this;
  worker.thread = std::thread([this, &worker] { Work(worker); });
  worker.alive = true;
  worker.called = true;
  ++looking_;
  ++threads_;
}

bool Executor::TryAddWorkerLocked() {
  if (!MayAddLocked()) {
    return false;
  }
  try {
    AddWorkerLocked();
    return true;
  } catch (const std::exception&) {  // the watcher tries again, and tells of it
    int none = kNoneFailed;
    failed_thread.compare_exchange_strong(none, kOneFailed);
    return false;
  }
}

void Executor::Watch() {
  while (true) {
    std::vector<std::thread> ended = AwaitTrouble();
    for (std::thread& thread : ended) {
      thread.join();
    }
    TellOfFailedThread();
    const MutexLock lock(mu_);
    if (ending_) {
      return;
    }
    ReplaceLocked();
  }
}

std::vector<std::thread> Executor::AwaitTrouble() {
  const MutexLock lock(mu_);
  while (!ending_ && !HasEndedLocked() && (!watching_ || ready_.empty())) {
    watching_ = false;
    WaitAndWakeLocked(TimePoint::max());
  }
  watching_ = true;
  for (const auto& worker : workers_) {
    worker->seen = worker->steps;
  }
  const TimePoint until = After(options_.clock.Now(), options_.patience);
  while (!ending_ && !ready_.empty() && options_.clock.Now() < until) {
    WaitAndWakeLocked(until);
  }
  return ending_ ? std::vector<std::thread>() : TakeEndedLocked();
}

void Executor::WaitAndWakeLocked(TimePoint until) {
  options_.clock.WaitUntil(mu_, watch_, {}, std::min(until, due_.Next()));
  const TimePoint now = options_.clock.Now();
  while (OrderedTask* const task = due_.TakeDue(now)) {
    if (task->woken_.exchange(true)) {
      continue;
    }
    EnqueueLocked(*task);
    if (task->state_ == OrderedTask::State::kReady) {
      Notify(CallLocked());
    }
  }
}

bool Executor::HasEndedLocked() const {
  return std::ranges::any_of(workers_, [](const std::unique_ptr<Worker>& worker) {
    return !worker->alive && worker->thread.joinable();
  });
}

std::vector<std::thread> Executor::TakeEndedLocked() {
  std::vector<std::thread> ended;
  for (const auto& worker : workers_) {
    if (!worker->alive && worker->thread.joinable()) {
      ended.push_back(std::move(worker->thread));
    }
  }
  return ended;
}

// While nobody at all goes on there is one thread more for each that waits, so that many tasks that
// wait one after the other are soon seen through.
void Executor::ReplaceLocked() {
  if (ready_.empty() || looking_ > 0) {
    return;
  }
  if (!idle_.empty()) {
    Notify(CallLocked());
    return;
  }
  const auto stuck =
      static_cast<std::size_t>(std::ranges::count_if(workers_, [](const auto& worker) {
        return worker->alive && (worker->waits || worker->steps == worker->seen);
      }));
  const std::size_t going_on = threads_ - std::min(threads_, stuck);
  if (going_on >= options_.threads) {
    return;
  }
  const std::size_t missing =
      going_on == 0 ? std::max(options_.threads, stuck) : options_.threads - going_on;
  for (std::size_t i = 0; i < std::min(missing, ready_.size()) && TryAddWorkerLocked(); ++i) {
  }
}

}  // namespace kubexx::base
