#include "kubexx/controller/internal/end_guard.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "kubexx/base/after.h"
#include "kubexx/base/text/join.h"
#include "kubexx/controller/internal/briefly.h"
#include "kubexx/logging/log.h"

namespace kubexx::controller::internal {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Status;

namespace {

constexpr base::Duration kLook = std::chrono::milliseconds(500);

}  // namespace

EndGuard::EndGuard(const std::stop_token& ended, Options options)
    : options_(std::move(options)),
      on_ended_(ended, [this] { Begin(); }),
      on_sooner_(options_.sooner, [this] { Begin(); }),
      thread_([this](const std::stop_token& over) { Watch(over); }) {}

void EndGuard::Begin() {
  (void)Deadline();
  const base::MutexLock lock(mu_);
  has_begun_ = true;
  changed_.notify_all();
}

void EndGuard::Watch(const std::stop_token& over) {
  if (!AwaitBegin(over)) {
    return;
  }
  if (options_.stop.stop_requested()) {
    options_.end();
  }
  if (AwaitOverdue(over)) {
    (void)Stuck();
  }
}

bool EndGuard::AwaitBegin(const std::stop_token& over) {
  base::Clock& real = base::Clock::Real();
  const base::MutexLock lock(mu_);
  while (!has_begun_ && !options_.stop.stop_requested() && !over.stop_requested()) {
    real.WaitUntil(mu_, changed_, over,
                   options_.stop.stop_possible() ? real.Now() + kLook : base::TimePoint::max());
  }
  return !over.stop_requested();
}

bool EndGuard::AwaitOverdue(const std::stop_token& over) {
  const base::MutexLock lock(mu_);
  while (!over.stop_requested()) {
    const base::TimePoint end =
        has_begun_ ? base::After(*deadline_, kClosing) : base::TimePoint::max();
    if (options_.clock.Now() >= end) {
      return true;
    }
    options_.clock.WaitUntil(mu_, changed_, over, end);
  }
  return false;
}

base::TimePoint EndGuard::Deadline() {
  const base::TimePoint now = options_.clock.Now();
  const base::MutexLock lock(mu_);
  if (!deadline_ || (!is_final_ && options_.sooner.stop_requested())) {
    is_final_ = options_.sooner.stop_requested();
    const base::TimePoint end = base::After(now, options_.grace());
    deadline_ = deadline_ ? std::min(*deadline_, end) : end;
  }
  return *deadline_;
}

base::TimePoint EndGuard::ClosingDeadline() { return base::After(Deadline(), kClosing); }

bool EndGuard::Await(base::FunctionRef<bool(base::TimePoint, const std::stop_token& cut)> wait) {
  const bool was_sooner = options_.sooner.stop_requested();
  if (wait(Deadline(), was_sooner ? std::stop_token() : options_.sooner)) {
    return true;
  }
  return !was_sooner && options_.sooner.stop_requested() && wait(Deadline(), {});
}

apimachinery::Result<void> EndGuard::Stuck() {
  const std::string names = base::Join(options_.running(), ", ");
  Status status(Reason::kTimeout, "still running at the end of the grace period: " +
                                      (names.empty() ? std::string(at_.load()) : names));
  if (options_.on_stuck) {
    if (!told_.exchange(true)) {
      options_.on_stuck(status);
    }
    return Fail(std::move(status));
  }
  // A thread cannot be ended from outside. No destructor runs, because it would wait for that
  // thread. The log may hang as well, when nobody reads the output.
  Briefly([status] {
    logging::Error("The process ends although something has not stopped", {{"error", status}});
  });
  std::_Exit(EXIT_FAILURE);
}

}  // namespace kubexx::controller::internal
