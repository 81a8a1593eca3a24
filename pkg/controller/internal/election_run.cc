#include "kubexx/controller/internal/election_run.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "kubexx/controller/internal/guarded.h"

namespace kubexx::controller::internal {

using apimachinery::Result;
using apimachinery::Status;

namespace {

// The time for runnables that heed their stop_token, because another process may lead already.
constexpr base::Duration kMostAfterLoss = std::chrono::seconds(1);

}  // namespace

void ElectionRun::Use(std::shared_ptr<Leadership> leadership) {
  leadership_ = std::move(leadership);
  if (leadership_) {
    on_lost_.emplace(leadership_->Lost(), [this] {
      has_lost_ = true;
      lost_.request_stop();
    });
  }
}

base::Duration ElectionRun::grace_after_loss() const {
  const base::Duration wanted = leadership_ ? leadership_->GraceAfterLoss() : kMostAfterLoss;
  return std::clamp(wanted, base::Duration::zero(), kMostAfterLoss);
}

void ElectionRun::Begin() {
  if (leadership_) {
    thread_ = std::jthread([this] { Elect(); });
  } else {
    leads_ = true;
    leaders_.Start();
  }
}

void ElectionRun::Elect() {
  const Result<void> result = Guarded([this] {
    return leadership_->Run([this](const std::stop_token& stop) { Lead(stop); }, stop_.get_token());
  });
  if (!result) {
    has_lost_ = true;
    if (!loss_told_) {
      on_failure_(result.error());
    }
  }
  const base::MutexLock lock(mu_);
  ended_ = true;
  changed_.notify_all();
}

// Returns when no runnable of this stage runs any more, however long that takes, because no other
// process may lead until then.
void ElectionRun::Lead(const std::stop_token& stop) {
  leads_ = true;
  leaders_.Start();
  {
    const base::MutexLock lock(mu_);
    while (!stop.stop_requested()) {
      clock_.WaitUntil(mu_, changed_, stop, base::TimePoint::max());
    }
  }
  if (!stop_.stop_requested()) {
    has_lost_ = true;
    lost_.request_stop();  // before the runnables are told to stop, which may hang
    loss_told_ = true;     // the error of Run will have the same cause
    const std::string why = leadership_->WhyLost();
    on_failure_(Status(apimachinery::Reason::kConflict,
                       "leader election: the lease was lost" + (why.empty() ? "" : ": " + why)));
  }
  leaders_.RequestStop();
  leaders_.Await(base::TimePoint::max());
  leads_ = false;
}

bool ElectionRun::Await(base::TimePoint deadline, const std::stop_token& cut) {
  if (!thread_.joinable()) {
    return true;
  }
  const base::MutexLock lock(mu_);
  while (!ended_) {
    const base::Wake wake = clock_.WaitUntil(mu_, changed_, cut, deadline);
    if (wake == base::Wake::kTimeout || cut.stop_requested()) {
      return ended_;
    }
  }
  return true;
}

}  // namespace kubexx::controller::internal
