// Follows rollouts from their start to their end, whichever replica sees the end.
#include <algorithm>
#include <chrono>
#include <utility>

#include "kubexx/apimachinery/time.h"
#include "kubexx/reloadpolicy/arbiter.h"
#include "kubexx/reloadpolicy/internal/in_seconds.h"

namespace kubexx::reloadpolicy {

using internal::InSeconds;
namespace {

constexpr char kOrderAnnotation[] = "reloader.kubexx.io/order";

// Each prune looks at all remembered starts.
constexpr std::chrono::minutes kBetweenPrunes{1};

Rollout Restored(base::WallTime started, RolloutState state) {
  Rollout rollout{.started = started, .running_since = started, .observed = true};
  rollout.retried = state == RolloutState::kRetried;
  rollout.failed = state == RolloutState::kFailed;
  rollout.broken = state == RolloutState::kStartedBroken;
  rollout.told = rollout.failed;
  rollout.restored = true;
  return rollout;
}

}  // namespace

void Arbiter::SetPolicy(Policy policy) {
  RemovePolicy(policy.id);
  const Policy set = policy;
  policies_.Set(std::move(policy));
  WakeGoverned(set);
  SetTimesUnder(set);
}

void Arbiter::RemovePolicy(const PolicyId& id) {
  if (const Policy* found = policies_.Find(id)) {
    const Policy policy = *found;
    policies_.Remove(id);
    WakeGoverned(policy);
    SetTimesUnder(policy);
  }
}

void Arbiter::Drop(const ObjectRef& workload) {
  if (rollouts_.erase(workload) > 0) {
    wake_some_ = true;
    NoteMoved(workload);
  }
  replaced_.erase(workload);
  ended_.erase(workload);
  unseen_.erase(workload);
}

void Arbiter::End(const ObjectRef& workload, RolloutState state, base::WallTime now) {
  const auto found = rollouts_.find(workload);
  if (found == rollouts_.end()) {
    return;
  }
  NoteStart(workload, found->second.uid, found->second.annotations, found->second.started, now);
  if (state == RolloutState::kCompleted && found->second.phase != Phase::kWithoutPods) {
    EndData(workload, found->second.started);
  }
  const Ended ended{state, found->second.started};
  const bool stands_there = found->second.record.has_value();
  Drop(workload);
  if (stands_there) {
    ended_.insert_or_assign(workload, ended);
    due_.insert(workload);
  }
}

void Arbiter::NoteOrder(const ObjectRef& workload, const Annotations& annotations) {
  if (annotations.contains(kOrderAnnotation)) {
    const auto own = policies_.OwnSettings(annotations);
    orders_[workload.key.namespace_][workload] = own->settings.order.value_or(0);
  } else if (const auto of = orders_.find(workload.key.namespace_);
             of != orders_.end() && of->second.erase(workload) > 0 && of->second.empty()) {
    orders_.erase(of);
  }
}

bool Arbiter::OthersFollow(const ObjectRef& workload, int order) const {
  if (policies_.HighestOrderIn(workload.key.namespace_) > order) {
    return true;
  }
  const auto of = orders_.find(workload.key.namespace_);
  return of != orders_.end() && std::ranges::any_of(of->second, [&](const auto& other) {
           return other.first != workload && other.second > order;
         });
}

Rollout* Arbiter::Follow(const ObjectRef& workload, const Sighting& seen, base::WallTime now) {
  const auto last = LastRolloutOf(seen.annotations);
  auto found = rollouts_.find(workload);
  if (found != rollouts_.end() && !found->second.uid.empty() && !seen.uid.empty() &&
      found->second.uid != seen.uid && workload.kind != "Job") {
    Drop(workload);  // it is another object of that name
    found = rollouts_.end();
  }
  const auto record = RecordOf(seen.annotations, seen.uid);
  if (found == rollouts_.end()) {
    const auto ended = ended_.find(workload);
    const bool is_of_ended =
        ended != ended_.end() && last && InSeconds(*last) == InSeconds(ended->second.started);
    if (!last || (record && !IsOpen(*record))) {
      if (ended != ended_.end() && (ended->second.seen || is_of_ended)) {
        ended_.erase(ended);
      }
      return nullptr;
    }
    if (is_of_ended) {
      ended->second.seen = true;
      due_.insert(workload);
      return nullptr;  // the end has not been written yet
    }
    Rollout rollout = Restored(*last, record.value_or(RolloutState::kStarted));
    rollout.annotations = seen.annotations;
    SetTimes(workload, rollout);
    // A rollout without a record was begun by an older version, or the record belongs to a copy.
    // Such a rollout is over when it is old.
    if (!record && (IsThrough(seen.phase) || rollout.MayHaveFailed(now))) {
      return nullptr;
    }
    // Its pods may have begun later than it, also just now, where its event was late.
    rollout.running_since =
        seen.is_first_look ? std::max(*last, std::min(seen.rolled.value_or(*last), now)) : now;
    rollout.lived = rollout.WasCompleteInTime(seen.completed);
    // What is missing by now may be pods that were added, which are given their time. If they do
    // not come, or those that were there crash, others should not have begun meanwhile.
    if (rollout.lived && !IsThrough(seen.phase)) {
      rollout.running_since = now;
      rollout.relapsed = true;
    }
    ended_.erase(workload);
    wake_some_ = true;
    return &rollouts_.insert_or_assign(workload, std::move(rollout)).first->second;
  }
  Rollout& rollout = found->second;
  const bool is_younger = last && InSeconds(*last) > InSeconds(rollout.started) &&
                          (!rollout.before || InSeconds(*last) > InSeconds(*rollout.before));
  const bool is_older = !is_younger && (!last || InSeconds(*last) != InSeconds(rollout.started));
  if (is_older && !rollout.observed && !rollout.NoteTold(seen.version)) {
    return nullptr;  // the event of our own write has not come yet
  }
  if (is_older) {
    return &rollout;  // undone, or its annotations were removed: its state decides
  }
  if (record && !IsOpen(*record)) {
    Drop(workload);  // another replica has seen the end
    return nullptr;
  }
  if (is_younger) {
    const bool failed_before = rollout.MayCountAsFailed(now);  // another replica has rolled it
    if (rollout.observed) {  // or a person has edited the annotation
      NoteStart(workload, rollout.uid, rollout.annotations, rollout.started, now);
    }
    rollout = Restored(*last, record.value_or(RolloutState::kStarted));
    rollout.restored = false;
    rollout.running_since = now;
    rollout.retried = rollout.retried || failed_before;
  } else if (rollout.remembered && record == RolloutState::kRetried) {
    // The status lists it because of the rollout that it retries; it has not failed itself.
    rollout = Restored(*last, *record);
    wake_some_ = true;
  } else if (record == RolloutState::kFailed) {
    rollout.failed = rollout.told = true;  // the replica that wrote it has reported it
  }
  return &rollout;
}

void Arbiter::Observe(const ObjectRef& workload, const Sighting& seen, base::WallTime now) {
  NoteOrder(workload, seen.annotations);
  NoteSettled(workload, seen, now);
  if (seen.phase == Phase::kUnavailable) {
    const Unavailable unavailable{now, seen.uid, seen.is_first_look};
    const auto [at, is_new] = unavailable_.try_emplace(workload, unavailable);
    if (!is_new && at->second.uid != seen.uid) {
      at->second = unavailable;
    }
  } else if (seen.phase != Phase::kUnseen) {
    unavailable_.erase(workload);
  }
  unseen_.erase(workload);
  if (const auto last = LastRolloutOf(seen.annotations)) {
    NoteStart(workload, seen.uid, seen.annotations, *last, now);
    // Another replica has rolled it since then.
    if (const auto found = refused_.find(workload);
        found != refused_.end() && InSeconds(*last) > InSeconds(found->second.since)) {
      refused_.erase(found);
    }
  }
  SeeData(workload, seen, now);
  Rollout* rollout = Follow(workload, seen, now);
  if (rollout == nullptr) {
    return SeeSettled(workload, seen.phase);
  }
  replaced_.erase(workload);
  ended_.erase(workload);
  if (!rollout->observed) {
    refused_.erase(workload);
    rollout->running_since = now;  // the write, or its event, may have been on the way for long
  }
  if (std::exchange(rollout->untold_for_others, false)) {
    WakeThoseAfter(workload);
  }
  rollout->observed = true;
  rollout->sent = rollout->uncertain = rollout->doubted = rollout->remembered = false;
  rollout->before.reset();
  rollout->uid = seen.uid;
  rollout->record = RecordOf(seen.annotations, seen.uid);
  rollout->annotations = seen.annotations;
  SetTimes(workload, *rollout);
  const Phase before = rollout->phase;
  TakeVersions(seen, *rollout);
  rollout->NoteWanted(seen.wanted, now);
  rollout->See(seen.phase, now, seen.presumed);
  rollout->Presume(now);
  rollout->in_place = rollout->in_place || seen.is_in_place;
  TakeData(workload, seen, *rollout, now);
  if (before != rollout->phase) {
    wake_some_ = true;
    NoteMoved(workload);  // one that is paused holds no others up
  }
  touched_.insert(workload);
  next_sweep_.reset();
  if (seen.template_hash.empty()) {
    return;
  }
  const bool is_changed =
      !rollout->template_hash.empty() && rollout->template_hash != seen.template_hash;
  rollout->template_hash = seen.template_hash;
  // Where a reload in place has failed, the operator makes a rollout of it.
  const bool goes_on = std::exchange(rollout->in_place, rollout->in_place && !is_changed);
  // In a wave it goes on to show whether the workload works with the data.
  if (is_changed && !goes_on && rollout->data.empty() && !rollout->MayHaveFailed(now)) {
    End(workload, RolloutState::kLeft, now);  // from now on it is a rollout of somebody else
  }
}

bool Arbiter::IsToBeTold(const ObjectRef& workload, const std::string& uid,
                         const Annotations& annotations) const {
  const auto record = RecordOf(annotations, uid);
  return record && IsOpen(*record) && !rollouts_.contains(workload) && !ended_.contains(workload);
}

void Arbiter::Remember(const Remembered& failed) {
  const auto found = rollouts_.find(failed.workload);
  if (found == rollouts_.end()) {
    Rollout rollout = Restored(failed.started, RolloutState::kFailed);
    rollout.phase = Phase::kUnavailable;
    rollout.uid = failed.uid;
    rollout.remembered = true;
    SetTimes(failed.workload, rollout);
    rollouts_.insert_or_assign(failed.workload, std::move(rollout));
    unseen_.insert(failed.workload);
  } else if (found->second.uid == failed.uid) {
    // The time on the workload is older when the rollout was undone, and younger when the workload
    // was rolled again.
    Rollout& rollout = found->second;
    const bool is_younger = InSeconds(rollout.started) > InSeconds(failed.started);
    // The annotation of a retry is there because of the rollout that it retries, so the retry
    // itself has not failed.
    const bool is_retry =
        rollout.retried && InSeconds(rollout.started) == InSeconds(failed.started);
    rollout.retried = rollout.retried || is_younger;
    if (!is_younger && !is_retry) {
      rollout.failed = rollout.told = true;  // the replica that wrote the status has reported it
    }
    if (rollout.failed && rollout.phase == Phase::kWithoutPods) {
      rollout.healthy_since.reset();
    }
    rollout.broken = false;
  }
}

std::vector<ObjectRef> Arbiter::Unseen() const { return {unseen_.begin(), unseen_.end()}; }

void Arbiter::Forget(const ObjectRef& workload, base::WallTime now) {
  if (const auto found = rollouts_.find(workload);
      found != rollouts_.end() && workload.kind == "Job" && !found->second.observed) {
    // A rollout of such an object deletes it and makes it again. The place is kept until the new
    // object is seen, but not for ever, because the new one may have been deleted, too.
    found->second.uncertain = true;
    next_sweep_.reset();
  } else {
    Drop(workload);
  }
  LeaveData(workload, now);
  last_starts_.Forget(workload);
  unavailable_.erase(workload);
  settled_since_.erase(workload);
  refused_.erase(workload);
  templates_.erase(workload);
  WakeThoseAfter(workload);
  Done(workload);
  NoteOrder(workload, {});
}

void Arbiter::Sweep(base::WallTime now) {
  FollowClock(now);
  if (unread_.contains("")) {
    return;  // nothing is known yet, so all rollouts are held back
  }
  if (!next_prune_ || *next_prune_ <= now) {
    const base::Duration known = policies_.LongestMinInterval();
    last_starts_.Prune(now, [&](const ObjectRef& workload) {
      return IsUnread(workload.key.namespace_) ? Effective::kLongestMinInterval : known;
    });
    std::erase_if(settled_since_, [now](const auto& each) {
      return each.second <= now - Effective::kLongestSoakTime;
    });
    next_prune_ = now + kBetweenPrunes;
  }
  if (next_sweep_ && now < *next_sweep_) {
    return;
  }
  std::vector<std::pair<ObjectRef, RolloutState>> over;
  std::vector<ObjectRef> untold;
  std::optional<base::WallTime> next;
  for (auto& [workload, rollout] : rollouts_) {
    wake_some_ = rollout.Presume(now) || wake_some_;
    if (rollout.IsHealthy(now)) {
      over.emplace_back(workload, RolloutState::kCompleted);
      continue;
    }
    if (rollout.IsLeft(now)) {
      over.emplace_back(workload, RolloutState::kLeft);
      continue;
    }
    if (!rollout.failed && !rollout.MayBeOld() && rollout.HasFailed(now)) {
      rollout.failed = true;
      rollout.was_stuck = rollout.phase == Phase::kFailed;
      due_.insert(workload);
      FailData(workload, rollout, now);
    }
    if (!rollout.failed_for_others && rollout.HasFailedForOthers(now)) {
      rollout.failed_for_others = true;
      wake_some_ = true;  // the workload has no place any more
    }
    if (!rollout.untold_for_others && rollout.IsUntold(now)) {
      rollout.untold_for_others = true;
      wake_some_ = true;
      untold.push_back(workload);
    }
    if (!rollout.lived && rollout.HasLived(now)) {
      rollout.lived = true;
      wake_some_ = true;  // it no longer counts as one that may have failed
    }
    if (rollout.unread && !rollout.soaked_for_others && rollout.IsHealthyForOthers(now)) {
      rollout.soaked_for_others = true;
      wake_some_ = true;
    }
    if (const auto change = rollout.NextChange(now)) {
      next = std::min(next.value_or(*change), *change);
    }
  }
  if (const auto end = ForgetGone(now)) {
    next = std::min(next.value_or(*end), *end);
  }
  for (const ObjectRef& workload : untold) {
    WakeThoseAfter(workload);  // what they report says that nothing tells of it
  }
  for (const auto& [workload, state] : over) {
    if (rollouts_.at(workload).uncertain) {
      Undo(workload);  // the rollout before it counts again
    } else {
      End(workload, state, now);
    }
  }
  next_sweep_ = next.value_or(base::WallTime::max());
}

std::vector<std::pair<ObjectRef, base::Duration>> Arbiter::TakeLooks(base::WallTime now) {
  std::vector<std::pair<ObjectRef, base::Duration>> looks;
  for (const ObjectRef& workload : due_) {
    looks.emplace_back(workload, base::Duration(0));
  }
  for (const ObjectRef& workload : touched_) {
    if (const auto found = rollouts_.find(workload); found != rollouts_.end()) {
      if (const auto change = found->second.NextChange(now)) {
        looks.emplace_back(workload, *change - now);
      }
    } else if (const auto failed = failed_data_.find(workload); failed != failed_data_.end()) {
      if (const auto end = failed->second.EndOfGone()) {
        looks.emplace_back(workload, *end - now);
      }
    }
  }
  due_.clear();
  touched_.clear();
  return looks;
}

Mark Arbiter::TakeMark(const ObjectRef& workload, const std::string& uid,
                       const Annotations& annotations) {
  Mark mark{.data = DataMark(workload, uid, annotations)};
  const auto last = LastRolloutOf(annotations);
  const auto record = RecordOf(annotations, uid);
  const auto found = rollouts_.find(workload);
  if (found == rollouts_.end()) {
    // A record of an ended rollout must not be written while a new rollout runs, because that has
    // overwritten it.
    if (const auto ended = ended_.find(workload);
        ended != ended_.end() && last && record && IsOpen(*record) &&
        InSeconds(*last) == InSeconds(ended->second.started)) {
      mark.record = ended->second.state;
    }
    return mark;
  }
  touched_.insert(workload);  // this check may have replaced a later one
  Rollout& rollout = found->second;
  if (!rollout.failed) {
    return mark;
  }
  if (last && record != RolloutState::kFailed && InSeconds(*last) == InSeconds(rollout.started)) {
    mark.record = RolloutState::kFailed;
  }
  if (!std::exchange(rollout.told, true)) {
    mark.failure = rollout.WhyFailed();
    mark.is_in_place = rollout.in_place;
  }
  return mark;
}

}  // namespace kubexx::reloadpolicy
