#include "kubexx/controller/internal/runnable_group.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <system_error>
#include <utility>

#include "kubexx/controller/internal/briefly.h"
#include "kubexx/controller/internal/guarded.h"
#include "kubexx/logging/log.h"

namespace kubexx::controller::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

// The time that a destructor waits before it logs what it waits for.
constexpr base::Duration kQuietWait = std::chrono::seconds(5);

}  // namespace

RunnableGroup::RunnableGroup(base::Clock& clock,
                             std::function<void(apimachinery::Status)> on_failure)
    : clock_(clock), on_failure_(std::move(on_failure)) {}

RunnableGroup::~RunnableGroup() {
  RequestStop();
  if (Running().empty() || Await(clock_.Now() + kQuietWait)) {
    return;  // most often there is nothing to wait for, and the clock may not exist any more
  }
  std::string names;
  for (const Active& active : Running()) {
    names += (names.empty() ? "" : ", ") + active.NameAndWork();
  }
  logging::Warning(
      "The destructor of a manager waits for runnables that still run, and for ever if one of them "
      "destroys the manager",
      {{"running", names}});
  Await(base::TimePoint::max());
}

void RunnableGroup::Add(std::shared_ptr<Runnable> runnable) {
  std::string name = runnable->Name();  // taken now, because Name() may hang later
  std::list<Member> ended;              // destroyed after the lock is released
  const base::MutexLock lock(mu_);
  for (auto member = members_.begin(); member != members_.end();) {
    const auto next = std::next(member);
    if (member->thread.joinable() && !member->running) {
      ended.splice(ended.end(), members_, member);
    }
    member = next;
  }
  Member& member =
      members_.emplace_back(Member{.runnable = std::move(runnable), .name = std::move(name)});
  if (!started_) {
    return;
  }
  try {
    StartLocked(member);
  } catch (...) {
    members_.pop_back();
    throw;
  }
}

void RunnableGroup::Start() {
  const Result<void> started = Guarded([this]() -> Result<void> {
    const base::MutexLock lock(mu_);
    if (!std::exchange(started_, true)) {
      for (Member& member : members_) {
        StartLocked(member);
      }
    }
    return {};
  });
  if (!started) {  // the running ones are told to stop together with all others
    on_failure_(started.error().WithContext("starting threads"));
  }
}

void RunnableGroup::StartLocked(Member& member) {
  if (!stop_.stop_requested()) {
    // The start of the thread may fail. A runnable that returns at once waits for the lock before
    // it reports that.
    member.thread = std::jthread([this, &member] { Run(member); });
    member.running = true;
  }
}

void RunnableGroup::Run(Member& member) {
  bool has_end = false;
  const Result<void> result = Guarded([this, &member, &has_end]() -> Result<void> {
    KX_RETURN_IF_ERROR(member.runnable->Run(stop_.get_token()));
    has_end = member.runnable->HasEnd();
    return {};
  });
  if (!result) {
    on_failure_(result.error().WithContext(member.name));
  }
  {
    const base::MutexLock lock(mu_);
    if (has_end && !stop_.stop_requested()) {
      member.awaits_end = true;
      return;
    }
    if (!has_end) {
      member.running = false;
      ended_.notify_all();
      return;
    }
  }
  End(member);  // RequestStop does not find it any more
}

void RunnableGroup::End(Member& member) {
  const Result<void> ended = Guarded([&member]() -> Result<void> {
    member.runnable->End();
    return {};
  });
  if (!ended) {
    on_failure_(ended.error().WithContext(member.name));
  }
  const base::MutexLock lock(mu_);
  member.running = false;
  ended_.notify_all();
}

Result<void> RunnableGroup::Warmup(const std::stop_token& stop) {
  std::vector<std::pair<std::string, std::shared_ptr<Runnable>>> runnables;
  {
    const base::MutexLock lock(mu_);
    for (const Member& member : members_) {
      runnables.emplace_back(member.name + ": warm-up", member.runnable);
    }
  }
  for (const auto& [name, runnable] : runnables) {
    SetWarming(name);
    const Result<void> result = Guarded([&] { return runnable->Warmup(stop); });
    SetWarming(std::nullopt);
    if (!result) {
      return Fail(result.error().WithContext(name));
    }
  }
  return {};
}

void RunnableGroup::SetWarming(std::optional<std::string> name) {
  const base::MutexLock lock(mu_);
  warming_ = std::move(name);
}

void RunnableGroup::RequestStop() {
  stop_.request_stop();
  std::vector<std::jthread> begun;  // joined after the lock is released
  std::vector<Member*> without_thread;
  {
    const base::MutexLock lock(mu_);
    for (Member& member : members_) {
      if (!std::exchange(member.awaits_end, false)) {
        continue;
      }
      begun.push_back(std::move(member.thread));
      try {
        member.thread = std::jthread([this, &member] { End(member); });
      } catch (const std::system_error&) {
        without_thread.push_back(&member);
      }
    }
  }
  for (Member* const member : without_thread) {
    End(*member);
  }
}

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

void RunnableGroup::AwaitBriefly() {
  base::Clock& real = base::Clock::Real();
  const base::TimePoint until = real.Now() + kMoment;
  const base::MutexLock lock(mu_);
  while (AnyRunningLocked() && real.WaitUntil(mu_, ended_, {}, until) != base::Wake::kTimeout) {
  }
}

std::vector<RunnableGroup::Active> RunnableGroup::Running() const {
  std::vector<Active> running;
  const base::MutexLock lock(mu_);
  if (warming_) {
    running.push_back({.name = *warming_});
  }
  for (const Member& member : members_) {
    if (member.running) {
      running.push_back({.name = member.name, .runnable = member.runnable});
    }
  }
  return running;
}

std::string RunnableGroup::Active::NameAndWork() const {
  std::string text = name;
  const std::vector<std::string> busy = runnable ? runnable->Busy() : std::vector<std::string>();
  for (std::size_t i = 0; i < busy.size(); ++i) {
    text += (i == 0 ? " (" : ", ") + busy[i];
  }
  return text + (busy.empty() ? "" : ")");
}

}  // namespace kubexx::controller::internal
