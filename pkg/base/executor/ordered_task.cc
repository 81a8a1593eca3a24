#include "kubexx/base/executor/ordered_task.h"

#include <algorithm>
#include <utility>

namespace kubexx::base {

OrderedTask::OrderedTask(std::shared_ptr<Executor> executor, Step step)
    : executor_(std::move(executor)), step_(std::move(step)) {}

OrderedTask::~OrderedTask() { Stop(); }

void OrderedTask::Start() {
  const MutexLock lock(executor_->mu_);
  is_open_ = true;
  woken_ = false;
}

void OrderedTask::RequestStop() {
  const MutexLock lock(executor_->mu_);
  is_open_ = false;
  if (state_ == State::kReady) {
    std::erase(executor_->ready_, this);
    state_ = State::kIdle;
  }
}

void OrderedTask::Stop() {
  RequestStop();
  if (IsCurrent()) {
    return;
  }
  const Executor::Waiting waiting;
  const MutexLock lock(executor_->mu_);
  ++awaited_by_;
  while (state_ == State::kRunning) {
    executor_->step_ended_.wait(executor_->mu_);
  }
  --awaited_by_;
}

// A step that begins after the exchange sees what was done before it: see Executor::Next.
void OrderedTask::Wake(Hurry hurry) {
  Executor::Worker* const self =
      Executor::current_ != nullptr && Executor::current_->executor == executor_.get()
          ? Executor::current_
          : nullptr;
  const bool later = hurry == Hurry::kAfterThisStep && self != nullptr && !self->waits;
  // What the caller has woken for later may have to come sooner.
  if (woken_.exchange(true) && (later || self == nullptr || !self->defers)) {
    return;
  }
  Executor::Worker* called = nullptr;
  {
    const MutexLock lock(executor_->mu_);
    executor_->EnqueueLocked(*this);
    if (later) {
      self->defers = true;
    } else if (state_ == State::kReady) {
      called = executor_->CallLocked();
    }
  }
  Executor::Notify(called);
}

bool OrderedTask::IsCurrent() const {
  return Executor::current_ != nullptr && Executor::current_->running == this;
}

bool OrderedTask::IsRunning() const {
  const MutexLock lock(executor_->mu_);
  return state_ == State::kRunning;
}

}  // namespace kubexx::base
