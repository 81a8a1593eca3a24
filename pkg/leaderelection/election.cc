#include "kubexx/leaderelection/election.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

namespace kubexx::leaderelection {
namespace {

using apimachinery::Fail;
using apimachinery::MicroTime;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;
using Kind = Action::Kind;

/// So many conflicts while releasing are answered at once, later ones after the retry period.
constexpr int kQuickReleases = 5;

/// Whether a write that failed like this was certainly not stored.
bool WasRefused(const Status& status) { return status.code >= 400 && status.code < 500; }

std::string HolderOf(const Lease& lease) { return lease.spec.holder_identity.value_or(""); }

}  // namespace

Election::Election(Config config)
    : config_(std::move(config)),
      random_(config_.seed != 0 ? config_.seed : std::random_device{}()) {}

Actions Election::Step(Input input, Instant now) {
  now_ = now;
  actions_.clear();
  if (phase_ == Phase::kLeading && now_.steady >= LeadsUntil() && !IsRenewal(input)) {
    // Also when this very input is a successful reply that came later: nobody may lead again.
    Lose("it could not be renewed in time" + (last_error_.empty() ? "" : ": " + last_error_));
  }
  if (phase_ != Phase::kDone) {
    std::visit([this]<class T>(T&& value) { On(std::forward<T>(value)); }, std::move(input));
    Proceed();
  }
  return std::exchange(actions_, {});
}

base::TimePoint Election::wake() const {
  if (phase_ == Phase::kDone) {
    return base::TimePoint::max();
  }
  const base::TimePoint next =
      pending_ ? pending_->sent_at + config_.RequestTimeout() : next_attempt_;
  return phase_ == Phase::kStandby ? next : std::min(next, LeadsUntil());
}

bool Election::Leads(base::TimePoint now) const {
  return phase_ == Phase::kLeading && now < LeadsUntil();
}

/// Whether `input` tells of a renewal that was answered while this candidate led, and that it leads
/// on still: only the step comes late. Nobody else can have had the lease in between.
bool Election::IsRenewal(const Input& input) const {
  const auto* const reply = std::get_if<Reply>(&input);
  return reply != nullptr && reply->lease && pending_ && pending_->op == reply->op &&
         pending_->request == Request::kClaim &&
         reply->came_at.value_or(now_.steady) < LeadsUntil() &&
         now_.steady < pending_->sent_at + config_.LeadLimit();
}

void Election::On(Tick /*tick*/) {}

void Election::On(Reply&& reply) {
  if (!pending_ || pending_->op != reply.op) {
    return;  // of a request that was given up
  }
  const Pending pending = *std::exchange(pending_, std::nullopt);
  last_error_ = reply.lease ? "" : reply.lease.error().ToString();
  switch (pending.request) {
    case Request::kRead:
      return OnRead(std::move(reply.lease));
    case Request::kClaim:
      return OnClaimed(std::move(reply.lease), pending.sent_at);
    case Request::kRelease:
      return OnReleased(reply.lease);
  }
}

void Election::On(Seen&& seen) {
  if (phase_ != Phase::kStandby) {
    return;  // A leader knows its own writes earlier than a watch, which would only be behind.
  }
  Observe(std::move(seen.lease));
  const bool released = HolderOf(*observed_).empty();
  if (pending_ && pending_->request == Request::kClaim) {
    released_again_ = released;
    return;
  }
  if (!released) {
    return;
  }
  if (pending_) {
    // The answer may be older than what the watch has seen, and would hide it until the next poll.
    Do(Kind::kCancel).op = std::exchange(pending_, std::nullopt)->op;
  }
  Claim();
}

void Election::On(Stop /*stop*/) {
  if (std::exchange(stopping_, true)) {
    return;
  }
  if (phase_ == Phase::kStandby) {
    const bool claiming = pending_ && pending_->request == Request::kClaim;
    return uncertain_ || claiming ? EnterRelease() : Finish();
  }
  if (work_ended_) {
    return EnterRelease();
  }
  Do(Kind::kStopWork);
}

void Election::On(WorkEnded /*ended*/) {
  work_ended_ = true;
  if (stopping_ && phase_ == Phase::kLeading) {
    EnterRelease();
  }
}

/// What time alone brings about.
void Election::Proceed() {
  if (phase_ == Phase::kReleasing && now_.steady >= LeadsUntil()) {
    return Finish();  // whoever waits will see it expire
  }
  if (pending_ && now_.steady >= pending_->sent_at + config_.RequestTimeout()) {
    constexpr const char* kWhy = "no answer within the request timeout";
    Action& cancel = Do(Kind::kCancel);
    cancel.op = pending_->op;
    cancel.text = kWhy;
    On(Reply{.op = pending_->op, .lease = Fail(Reason::kTimeout, kWhy)});
  }
  if (phase_ != Phase::kDone && !pending_ && now_.steady >= next_attempt_) {
    Attempt();
  }
}

void Election::Attempt() {
  read_in_attempt_ = false;
  switch (phase_) {
    case Phase::kStandby:
      return Send(Request::kRead, Kind::kGet);
    case Phase::kLeading:
      if (!attempts_since_) {
        attempts_since_ = now_.steady;
      }
      return fresh_ ? Claim() : Send(Request::kRead, Kind::kGet);
    case Phase::kReleasing:
      return fresh_ && HeldByMe() ? Release() : Send(Request::kRead, Kind::kGet);
    case Phase::kDone:
      return;
  }
}

void Election::OnRead(Result<Lease>&& lease) {
  read_in_attempt_ = true;
  if (lease) {
    Observe(*std::move(lease));
    fresh_ = true;
    return Decide();
  }
  if (lease.error().reason != Reason::kNotFound) {
    return RetryLater();
  }
  observed_.reset();
  if (phase_ == Phase::kReleasing) {
    return Finish();
  }
  Claim();
}

/// What follows from a lease that has just been read.
void Election::Decide() {
  switch (phase_) {
    case Phase::kStandby:
      return HeldByOther() ? RetryLater() : Claim();
    case Phase::kLeading:
      if (!HeldByMe() && !HolderOf(*observed_).empty()) {
        return Lose("it was taken by " + HolderOf(*observed_));
      }
      Do(Kind::kSlowPath);
      return Claim();
    case Phase::kReleasing:
      return HeldByMe() ? Release() : Finish();
    case Phase::kDone:
      return;
  }
}

void Election::Claim() {
  const auto time = MicroTime::From(now_.wall);
  Lease lease = observed_.value_or(Lease());
  if (!HeldByMe()) {
    const std::int32_t before = lease.spec.lease_transitions.value_or(0);
    const bool last = before == std::numeric_limits<std::int32_t>::max();
    lease.spec.lease_transitions = observed_ && !last ? before + 1 : before;
    lease.spec.acquire_time = time;
  }
  lease.spec.holder_identity = config_.identity;
  lease.spec.lease_duration_seconds = config_.LeaseDurationSeconds();
  lease.spec.renew_time = time;
  Send(Request::kClaim, observed_ ? Kind::kUpdate : Kind::kCreate, std::move(lease));
}

void Election::OnClaimed(Result<Lease>&& lease, base::TimePoint sent_at) {
  if (lease) {
    fresh_ = true;
    Observe(*std::move(lease));
    return Won(sent_at);
  }
  uncertain_ = uncertain_ || !WasRefused(lease.error());
  fresh_ = false;
  if (phase_ == Phase::kReleasing || (phase_ == Phase::kLeading && !read_in_attempt_)) {
    return Send(Request::kRead, Kind::kGet);
  }
  if (phase_ == Phase::kStandby && released_again_ && WasRefused(lease.error())) {
    return Claim();
  }
  RetryLater();
}

void Election::Won(base::TimePoint sent_at) {
  if (phase_ == Phase::kReleasing) {
    return;  // Proceed releases it
  }
  uncertain_ = false;
  if (phase_ == Phase::kStandby) {
    if (now_.steady >= sent_at + config_.LeadLimit()) {
      uncertain_ = true;  // The reply came too late to lead on it.
      return RetryLater();
    }
    phase_ = Phase::kLeading;
    Do(Kind::kStartWork);
  }
  renewed_at_ = sent_at;
  attempts_since_.reset();
  next_attempt_ = now_.steady + config_.retry_period;
}

void Election::EnterRelease() {
  if (!config_.release_on_cancel) {
    return Finish();
  }
  if (phase_ == Phase::kStandby) {
    renewed_at_ = now_.steady;  // Nothing is known to have been written; gives LeadsUntil a start.
  }
  phase_ = Phase::kReleasing;
  attempts_since_ = now_.steady;
  next_attempt_ = now_.steady;
}

void Election::Release() {
  Lease lease = *observed_;
  const auto time = MicroTime::From(now_.wall);
  lease.spec.holder_identity = "";
  lease.spec.lease_duration_seconds = 1;
  lease.spec.acquire_time = time;
  lease.spec.renew_time = time;
  Send(Request::kRelease, Kind::kUpdate, std::move(lease));
}

void Election::OnReleased(const Result<Lease>& lease) {
  if (lease || lease.error().reason == Reason::kNotFound) {
    return Finish();
  }
  fresh_ = false;
  if (lease.error().reason == Reason::kConflict && release_conflicts_++ < kQuickReleases) {
    return Send(Request::kRead, Kind::kGet);
  }
  RetryLater();
}

void Election::Lose(std::string why) {
  Do(Kind::kLost).text = std::move(why);
  Finish();
}

void Election::Finish() {
  if (const auto pending = std::exchange(pending_, std::nullopt)) {
    Do(Kind::kCancel).op = pending->op;
  }
  phase_ = Phase::kDone;
  Do(Kind::kFinish);
}

void Election::Observe(Lease&& lease) {
  if (!observed_ || observed_->spec != lease.spec) {
    observed_at_ = now_.steady;
  }
  observed_ = std::move(lease);
  std::string holder = HolderOf(*observed_);
  if (holder != reported_leader_) {
    reported_leader_ = std::move(holder);
    if (!reported_leader_.empty()) {
      Do(Kind::kNewLeader).text = reported_leader_;
    }
  }
}

bool Election::HeldByMe() const { return observed_ && HolderOf(*observed_) == config_.identity; }

bool Election::HeldByOther() const {
  const auto expiry = Expiry();
  return expiry && !HeldByMe() && now_.steady < *expiry;
}

/// When the lease as last seen expires, if somebody holds it.
std::optional<base::TimePoint> Election::Expiry() const {
  if (!observed_ || HolderOf(*observed_).empty()) {
    return std::nullopt;
  }
  return observed_at_ + std::chrono::seconds(observed_->spec.lease_duration_seconds.value_or(0));
}

/// The end of leading, or of trying to release.
base::TimePoint Election::LeadsUntil() const {
  const base::TimePoint limit = renewed_at_ + config_.LeadLimit();
  return attempts_since_ ? std::min(limit, *attempts_since_ + config_.renew_deadline) : limit;
}

void Election::RetryLater() {
  next_attempt_ = now_.steady + config_.retry_period;
  if (phase_ == Phase::kStandby) {
    std::uniform_real_distribution<double> jitter(0, kJitterFactor);
    next_attempt_ +=
        std::chrono::duration_cast<base::Duration>(config_.retry_period * jitter(random_));
    if (HeldByOther()) {
      next_attempt_ = std::min(next_attempt_, *Expiry());
    }
  }
}

void Election::Send(Request request, Kind kind, Lease lease) {
  pending_ = Pending{.op = ++last_op_, .request = request, .sent_at = now_.steady};
  released_again_ = false;
  Action& action = Do(kind);
  action.op = last_op_;
  action.lease = std::move(lease);
}

Action& Election::Do(Kind kind) {
  Action& action = actions_.emplace_back();
  action.kind = kind;
  return action;
}

}  // namespace kubexx::leaderelection
