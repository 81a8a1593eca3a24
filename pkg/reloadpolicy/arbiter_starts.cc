// Starts rollouts in an Arbiter, and evaluates the write that was to start them.
#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/reloadpolicy/arbiter.h"
#include "kubexx/reloadpolicy/internal/in_seconds.h"

namespace kubexx::reloadpolicy {

using internal::InSeconds;
namespace {

constexpr char kMinIntervalAnnotation[] = "reloader.kubexx.io/min-interval";

// A time that is further in the future comes from a clock that was wrong.
bool IsToCome(base::WallTime time, base::WallTime now) {
  return time > now + LastStarts::kMostAhead;
}

}  // namespace

void Arbiter::NoteStart(const ObjectRef& workload, const std::string& uid,
                        const Annotations& annotations, base::WallTime started,
                        base::WallTime now) {
  if (IsToCome(started, now)) {
    return;
  }
  base::Duration own{};
  if (annotations.contains(kMinIntervalAnnotation)) {
    own = policies_.OwnSettings(annotations)->settings.min_interval.value_or(own);
  }
  last_starts_.Note(workload, uid, started, own);
}

std::optional<base::WallTime> Arbiter::IntervalStart(const Request& request,
                                                     base::Duration interval,
                                                     base::WallTime now) const {
  std::optional<base::WallTime> last = last_starts_.Find(request.workload, request.uid);
  if (last) {
    last = std::min(*last, now);  // the clock may have been set back since the last sweep
  }
  // A time that is further in the future comes from a clock that was wrong, or from an edit of the
  // annotation. It must neither hold rollouts back for ever nor hide the time of the last rollout.
  const auto take = [&](base::WallTime started) {
    if (started <= now + std::chrono::duration_cast<base::WallTime::duration>(interval)) {
      last = std::max(last.value_or(started), started);
    }
  };
  if (const auto written = LastRolloutOf(request.annotations)) {
    take(*written);
  }
  for (const auto* rollouts : {&rollouts_, &replaced_}) {
    const auto found = rollouts->find(request.workload);
    // The question is about that rollout.
    if (found != rollouts->end() && !found->second.uncertain) {
      take(found->second.started);
    }
  }
  return last;
}

std::optional<base::WallTime> Arbiter::LastStart(const Request& request) const {
  std::optional<base::WallTime> last = LastRolloutOf(request.annotations);
  const auto take = [&](base::WallTime time) { last = std::max(last.value_or(time), time); };
  if (const auto found = rollouts_.find(request.workload); found != rollouts_.end()) {
    take(std::max(found->second.started, found->second.before.value_or(found->second.started)));
  }
  if (const auto found = ended_.find(request.workload); found != ended_.end()) {
    take(found->second.started);
  }
  if (const auto known = last_starts_.Find(request.workload, request.uid)) {
    take(*known);
  }
  return last;
}

base::WallTime Arbiter::Start(const Request& request, RolloutState state, base::WallTime now) {
  Rollout rollout{.started = now, .running_since = now, .sent = true, .uid = request.uid};
  // The annotations store whole seconds, so two rollouts within one second could not be told apart.
  if (const auto last = LastStart(request); last && InSeconds(*last) >= InSeconds(now)) {
    if (!IsToCome(*last, now)) {
      rollout.started = InSeconds(*last) + std::chrono::seconds(1);
    } else {
      rollout.before = last;
    }
  }
  const auto last = rollouts_.find(request.workload);
  rollout.doubted = last != rollouts_.end() && last->second.uncertain;
  if (rollout.doubted) {  // it is the same rollout, and an event may still show that it was written
    rollout.started = last->second.started;
    rollout.before = last->second.before;
    rollout.running_since = last->second.running_since;
  }
  const base::WallTime started = rollout.started;
  rollout.annotations = request.annotations;
  SetTimes(request.workload, rollout);
  rollout.retried = state == RolloutState::kRetried;
  rollout.broken = state == RolloutState::kStartedBroken;
  if (last != rollouts_.end() && !rollout.doubted) {
    replaced_.insert_or_assign(request.workload, std::move(last->second));
  }
  rollouts_.insert_or_assign(request.workload, std::move(rollout));
  unseen_.erase(request.workload);
  touched_.insert(request.workload);
  next_sweep_.reset();
  return started;
}

bool Arbiter::Written(const ObjectRef& workload, base::WallTime now, std::uint64_t version) {
  const auto found = rollouts_.find(workload);
  if (found == rollouts_.end() || !std::exchange(found->second.sent, false) ||
      found->second.observed) {
    return false;
  }
  Rollout& rollout = found->second;
  refused_.erase(workload);
  rollout.running_since = now;  // the write may have been made a moment ago
  rollout.written = version;
  touched_.insert(workload);
  next_sweep_.reset();
  return version != 0 && rollout.told_version >= version;
}

void Arbiter::Cancel(const ObjectRef& workload) {
  const auto found = rollouts_.find(workload);
  if (found != rollouts_.end() && !found->second.observed) {
    wake_some_ = TakeBack(workload) || wake_some_;  // who waits for it waits for the next attempt
  }
}

void Arbiter::CancelOvertaken(const ObjectRef& workload) {
  const auto found = rollouts_.find(workload);
  if (found == rollouts_.end() || found->second.observed) {
    return;
  }
  if (found->second.doubted) {
    found->second.uncertain = true;  // it also keeps the place
    found->second.sent = false;
    next_sweep_.reset();
  } else if (TakeBack(workload)) {
    woken_.insert(workload);
  }
}

void Arbiter::Doubt(const ObjectRef& workload, base::WallTime now) {
  const auto found = rollouts_.find(workload);
  if (found == rollouts_.end() || found->second.observed) {
    return;
  }
  if (!HasRollouts(workload.kind)) {
    return Undo(workload);  // no status will tell its end
  }
  found->second.uncertain = true;
  found->second.sent = false;
  if (!found->second.doubted) {
    found->second.running_since = now;  // as of an answer: the write may have been made just now
  }
  next_sweep_.reset();
}

void Arbiter::Settle(const ObjectRef& workload, const Sighting& seen, base::WallTime now) {
  refused_.erase(workload);
  const auto is_uncertain = [&] {
    const auto found = rollouts_.find(workload);
    return found != rollouts_.end() && found->second.uncertain;
  };
  if (is_uncertain()) {
    Observe(workload, seen, now);
  }
  if (is_uncertain()) {
    Undo(workload);
    if (rollouts_.contains(workload)) {
      Observe(workload, seen, now);  // what was told of the one before counted as of this one
    }
  }
  // Else the end of its rollout wakes them.
  if (!rollouts_.contains(workload) && !IsToBeTold(workload, seen.uid, seen.annotations)) {
    WakeThoseAfter(workload);
  }
}

bool Arbiter::TakeBack(const ObjectRef& workload) {
  if (rollouts_.erase(workload) == 0) {
    return false;
  }
  if (auto last = replaced_.extract(workload); !last.empty()) {
    rollouts_.insert_or_assign(workload, std::move(last.mapped()));
    next_sweep_.reset();
  }
  return true;
}

void Arbiter::Undo(const ObjectRef& workload) {
  if (TakeBack(workload)) {
    wake_some_ = true;
    NoteMoved(workload);
  }
}

void Arbiter::CancelKept(const ObjectRef& workload) {
  const auto found = rollouts_.find(workload);
  if (found == rollouts_.end()) {
    return;
  }
  const base::WallTime started = found->second.started;
  Undo(workload);
  if (!HasRollouts(workload.kind)) {
    return;
  }
  if (const auto last = rollouts_.find(workload); last != rollouts_.end()) {
    last->second.started = started;  // the rollout is known by this time from now on
    last->second.before.reset();
    due_.insert(workload);
  } else {
    ended_.insert_or_assign(workload, Ended{RolloutState::kLeft, started, false});
  }
}

void Arbiter::LeaveUnrecorded(const ObjectRef& workload) {
  refused_.erase(workload);
  const auto found = rollouts_.find(workload);
  if (found == rollouts_.end()) {
    return;
  }
  const Rollout& rollout = found->second;
  NoteStart(workload, rollout.uid, rollout.annotations, rollout.started, rollout.started);
  Undo(workload);
}

}  // namespace kubexx::reloadpolicy
