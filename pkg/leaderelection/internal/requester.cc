#include "kubexx/leaderelection/internal/requester.h"

#include <utility>

#include "kubexx/base/clock.h"
#include "kubexx/base/thrown_text.h"

namespace kubexx::leaderelection::internal {

using apimachinery::Result;

Requester::Requester(Lock& lock, std::function<void(Reply&&)> reply)
    : lock_(lock),
      reply_(std::move(reply)),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

Requester::~Requester() {
  thread_.request_stop();
  std::stop_source running;
  {
    const base::MutexLock lock(mu_);
    waiting_.reset();
    running = running_;
  }
  running.request_stop();
}

void Requester::Start(Action action) {
  {
    const base::MutexLock lock(mu_);
    waiting_.emplace(Job{.action = std::move(action)});
  }
  cv_.notify_one();
}

void Requester::Cancel(std::uint64_t op) {
  std::optional<std::stop_source> running;
  {
    const base::MutexLock lock(mu_);
    if (waiting_ && waiting_->action.op == op) {
      waiting_.reset();
    }
    if (running_op_ == op) {
      running = running_;
    }
  }
  if (running) {
    running->request_stop();  // Without the lock: it calls into the client.
  }
}

void Requester::Run(const std::stop_token& stop) {
  while (true) {
    std::optional<Job> job;
    {
      base::MutexLock lock(mu_);
      while (!waiting_ && !stop.stop_requested()) {
        base::Clock::Real().WaitUntil(mu_, cv_, stop, base::TimePoint::max());
      }
      if (stop.stop_requested()) {
        return;
      }
      job = std::exchange(waiting_, std::nullopt);
      running_op_ = job->action.op;
      running_ = job->stop;
    }
    Result<Lease> lease = Execute(job->action, job->stop.get_token());
    {
      const base::MutexLock lock(mu_);
      running_op_ = 0;
    }
    reply_({.op = job->action.op, .lease = std::move(lease)});
  }
}

// What threw may have been stored, so the error has no code, which would be an answer.
Result<Lease> Requester::Execute(Action& action, const std::stop_token& stop) {
  try {
    switch (action.kind) {
      case Action::Kind::kCreate:
        return lock_.Create(std::move(action.lease), stop);
      case Action::Kind::kUpdate:
        return lock_.Update(action.lease, stop);
      default:
        return lock_.Get(stop);
    }
  } catch (...) {
    return apimachinery::Fail(apimachinery::Reason::kInternalError,
                              "the lock threw: " + base::ThrownText());
  }
}

}  // namespace kubexx::leaderelection::internal
