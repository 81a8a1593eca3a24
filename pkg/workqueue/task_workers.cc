#include "kubexx/workqueue/task_workers.h"

#include <optional>
#include <utility>

namespace kubexx::workqueue {
namespace {

TaskWorkers::Options WithExecutor(TaskWorkers::Options options) {
  if (!options.executor) {
    options.executor = std::make_shared<base::Executor>(base::ExecutorOptions{.threads = 1});
  }
  return options;
}

}  // namespace

TaskWorkers::TaskWorkers(Queue& queue, Options options)
    : queue_(queue), options_(WithExecutor(std::move(options))) {
  for (int i = 0; i < options_.number; ++i) {
    auto& task = tasks_.emplace_back();
    task = std::make_unique<base::OrderedTask>(
        options_.executor, [this, place = tasks_.size() - 1] { return Step(*tasks_[place]); });
  }
}

TaskWorkers::~TaskWorkers() { Stop(); }

void TaskWorkers::Start(const std::stop_token& stop) {
  options_.executor->Start();
  stop_ = stop;
  {
    const base::MutexLock lock(mu_);
    is_started_ = true;
  }
  for (const auto& task : tasks_) {
    task->Start();
    task->Wake();  // there may be keys already
  }
}

void TaskWorkers::OnReady() {
  base::OrderedTask* called = nullptr;
  {
    const base::MutexLock lock(mu_);
    ++calls_;
    if (!resting_.empty()) {
      called = resting_.back();
      resting_.pop_back();
    }
  }
  if (called != nullptr) {
    called->Wake();
  }
}

std::uint64_t TaskWorkers::calls() const {
  const base::MutexLock lock(mu_);
  return calls_;
}

bool TaskWorkers::Step(base::OrderedTask& self) {
  std::optional<base::Executor::Waiting> waiting;
  std::uint64_t seen = calls();
  Queue::Item item = IsStopping() ? Queue::Item() : queue_.TryNext({});
  while (item) {
    if (!waiting) {
      waiting.emplace();
    }
    options_.handle(item, stop_);
    seen = calls();
    item = IsStopping() ? Queue::Item() : queue_.TryNext(std::move(item));
  }
  return !Rest(self, seen);
}

bool TaskWorkers::Rest(base::OrderedTask& self, std::uint64_t seen) {
  const bool is_over = queue_.IsOver();
  const base::MutexLock lock(mu_);
  if (calls_ != seen && !IsStopping()) {
    return false;
  }
  is_over_ = is_over_ || is_over;
  resting_.push_back(&self);
  ended_.notify_all();
  return true;
}

bool TaskWorkers::AwaitEnd(base::TimePoint deadline) {
  const base::MutexLock lock(mu_);
  while (!HaveEndedLocked()) {
    if (options_.clock.WaitUntil(mu_, ended_, {}, deadline) == base::Wake::kTimeout) {
      return HaveEndedLocked();
    }
  }
  return true;
}

bool TaskWorkers::HaveEndedLocked() const { return is_over_ && resting_.size() == tasks_.size(); }

std::size_t TaskWorkers::busy() const {
  const base::MutexLock lock(mu_);
  return is_started_ ? tasks_.size() - resting_.size() : 0;
}

void TaskWorkers::Stop() {
  is_stopped_ = true;  // the step of a worker goes on as long as there are keys
  queue_.ShutDown();
  for (const auto& task : tasks_) {
    task->RequestStop();
  }
  for (const auto& task : tasks_) {
    task->Stop();
  }
}

}  // namespace kubexx::workqueue
