#include "kubexx/controller/internal/runnable_group.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "kubexx/logging/log.h"

namespace kubexx::controller::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

// How long a destructor waits before it says so.
constexpr base::Duration kQuietWait = std::chrono::seconds(5);

template <class F>
Result<void> Guarded(const F& call) {
  try {
    return call();
  } catch (const std::exception& error) {
    return Fail(Reason::kInternalError, std::string("threw: ") + error.what());
  } catch (...) {
    return Fail(Reason::kInternalError, "threw what is no std::exception");
  }
}

}  // namespace

RunnableGroup::RunnableGroup(base::Clock& clock,
                             std::function<void(apimachinery::Status)> on_failure)
    : clock_(clock), on_failure_(std::move(on_failure)) {}

RunnableGroup::~RunnableGroup() {
  RequestStop();
  if (Running().empty() || Await(clock_.Now() + kQuietWait)) {
    return;  // most often there is nothing to wait for, and perhaps no clock any more
  }
  std::string names;
  for (const std::string& name : Running()) {
    names += (names.empty() ? "" : ", ") + name;
  }
  logging::Warning(
      "a manager is destroyed and waits for what still runs; it waits for ever where that is what "
      "destroys it",
      {{"running", names}});
  Await(base::TimePoint::max());
}

void RunnableGroup::Add(std::shared_ptr<Runnable> runnable) {
  const base::MutexLock lock(mu_);
  Member& member = members_.emplace_back(Member{.runnable = std::move(runnable)});
  if (started_) {
    StartLocked(member);
  }
}

void RunnableGroup::Start() {
  const base::MutexLock lock(mu_);
  if (!std::exchange(started_, true)) {
    for (Member& member : members_) {
      StartLocked(member);
    }
  }
}

void RunnableGroup::StartLocked(Member& member) {
  if (!stop_.stop_requested()) {
    member.running = true;
    member.thread = std::jthread([this, &member] { Run(member); });
  }
}

void RunnableGroup::Run(Member& member) {
  const Result<void> result =
      Guarded([this, &member] { return member.runnable->Run(stop_.get_token()); });
  if (!result) {
    on_failure_(result.status().WithContext(member.runnable->Name()));
  }
  const base::MutexLock lock(mu_);
  member.running = false;
  ended_.notify_all();
}

Result<void> RunnableGroup::Warmup(const std::stop_token& stop) {
  std::vector<std::shared_ptr<Runnable>> runnables;
  {
    const base::MutexLock lock(mu_);
    for (const Member& member : members_) {
      runnables.push_back(member.runnable);
    }
  }
  for (const std::shared_ptr<Runnable>& runnable : runnables) {
    SetWarming(runnable);
    const Result<void> result = Guarded([&] { return runnable->Warmup(stop); });
    SetWarming(nullptr);
    if (!result) {
      return Fail(result.status().WithContext(runnable->Name() + ": warm-up"));
    }
  }
  return {};
}

void RunnableGroup::SetWarming(std::shared_ptr<Runnable> runnable) {
  const base::MutexLock lock(mu_);
  warming_ = std::move(runnable);
}

void RunnableGroup::RequestStop() { stop_.request_stop(); }

bool RunnableGroup::AnyRunningLocked() const {
  return std::ranges::any_of(members_, &Member::running);
}

bool RunnableGroup::Await(base::TimePoint deadline, const std::stop_token& cut) {
  const base::MutexLock lock(mu_);
  while (AnyRunningLocked()) {
    const base::Wake wake = clock_.WaitUntil(mu_, ended_, cut, deadline);
    if (wake == base::Wake::kTimeout || cut.stop_requested()) {
      return !AnyRunningLocked();
    }
  }
  return true;
}

std::vector<std::string> RunnableGroup::Running() const {
  std::vector<std::shared_ptr<Runnable>> running;
  std::shared_ptr<Runnable> warming;
  {
    const base::MutexLock lock(mu_);
    warming = warming_;
    for (const Member& member : members_) {
      if (member.running) {
        running.push_back(member.runnable);
      }
    }
  }
  std::vector<std::string> names;
  if (warming) {
    names.push_back(warming->Name() + ": warm-up");
  }
  for (const std::shared_ptr<Runnable>& runnable : running) {
    std::string name = runnable->Name();
    const std::vector<std::string> busy = runnable->Busy();
    for (std::size_t i = 0; i < busy.size(); ++i) {
      name += (i == 0 ? " (" : ", ") + busy[i];
    }
    names.push_back(name + (busy.empty() ? "" : ")"));
  }
  return names;
}

}  // namespace kubexx::controller::internal
