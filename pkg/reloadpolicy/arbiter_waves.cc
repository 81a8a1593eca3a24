// How an Arbiter keeps later waves from data with which an earlier one has failed.
#include <algorithm>
#include <chrono>
#include <utility>

#include "kubexx/base/utf8.h"
#include "kubexx/reloadpolicy/arbiter.h"
#include "kubexx/reloadpolicy/internal/in_seconds.h"

namespace kubexx::reloadpolicy {

using internal::InSeconds;
namespace {

/// Whether the workload's annotations are those of this rollout.
bool IsRecordOf(const Sighting& seen, const Rollout& rollout) {
  const auto last = LastRolloutOf(seen.annotations);
  return last && InSeconds(*last) == InSeconds(rollout.started);
}

}  // namespace

std::optional<Hold> Arbiter::CheckWaves(const Request& request, const Effective& effective) const {
  if (!effective.waves) {
    return std::nullopt;
  }
  const auto& waves = *effective.waves;
  Hold hold{.policy = waves.policy};
  if (const auto* failed = FindFailed(failed_data_, request.workload, request.data)) {
    hold.reason = HoldReason::kWaveFailed;
    hold.message = "the rollout of " + failed->first.ToString() + " for " +
                   SourcesOf(failed->second.versions) +
                   " has failed in a wave, and no other begins until these data change";
  } else if (request.earlier_wave) {
    hold.reason = HoldReason::kWave;
    hold.message = "wave " + std::to_string(request.earlier_wave->wave) + " of " +
                   std::to_string(request.earlier_wave->waves) + " waits for " +
                   request.earlier_wave->waits_for.ToString() + ", which is of an earlier wave" +
                   WhatDelays(request.earlier_wave->waits_for);
    hold.waits_for = request.earlier_wave->waits_for;
    hold.until = request.earlier_wave->until;
  } else {
    return std::nullopt;
  }
  hold.message += " (" + waves.origin + ")";
  return hold;
}

std::string Arbiter::WhatDelays(const ObjectRef& earlier) const {
  if (const auto found = rollouts_.find(earlier); found != rollouts_.end()) {
    switch (found->second.phase) {
      case Phase::kPaused:
        return " and paused";
      case Phase::kWaiting:
        return " and waits at a step of its own rollout";
      case Phase::kWithoutPods:
        return " and has no pods, so nothing shows what the data are like";
      default:
        // Everything else passes, or fails.
        return found->second.untold_for_others ? " and of whose rollout no event has told yet" : "";
    }
  }
  const auto found = pending_.find(earlier);
  if (found != pending_.end() && found->second.hold.reason != HoldReason::kWave) {
    return " and waits, too: " + std::string(ToString(found->second.hold.reason));
  }
  return WhyRefused(earlier) + (unavailable_.contains(earlier) ? " and unavailable" : "");
}

std::string Arbiter::WhyRefused(const ObjectRef& earlier) const {
  const auto found = refused_.find(earlier);
  return found == refused_.end() ? ""
                                 : " and whose write the API server refuses: " + found->second.why;
}

void Arbiter::NoteRefused(const ObjectRef& workload, const std::string& why, base::WallTime now) {
  constexpr std::size_t kMostTold = 256;
  const bool is_new = !refused_.contains(workload);
  refused_[workload] = {why.size() > kMostTold ? base::CutUtf8(why, kMostTold) + "..." : why, now};
  if (is_new) {
    WakeThoseAfter(workload);  // what they report says so from now on
  }
}

std::optional<std::string> Arbiter::NoteData(const Request& request, const Effective& effective) {
  const auto found = rollouts_.find(request.workload);
  if (!effective.waves || request.data.empty() || !HasRollouts(request.workload.kind) ||
      found == rollouts_.end()) {
    return std::nullopt;
  }
  const auto failed = failed_data_.find(request.workload);
  if (request.phase == Phase::kWithoutPods) {  // nothing is going to show what the data are like
    return failed == failed_data_.end()
               ? std::nullopt
               : std::optional(TextOf({DataState::kFailed, failed->second.versions}, request.uid));
  }
  found->second.data = WithOlder(request.data, {});  // cut as its record on the workload is
  // What the rollout before was for, if that has not ended: nothing has shown yet that it is good.
  if (const auto before = replaced_.find(request.workload); before != replaced_.end()) {
    found->second.data = WithOlder(std::move(found->second.data), before->second.data);
  }
  if (failed != failed_data_.end()) {
    found->second.data = WithOlder(std::move(found->second.data), failed->second.versions);
  }
  return TextOf({DataState::kRolled, found->second.data}, request.uid);
}

void Arbiter::WakeWaves(const std::string& namespace_) {
  for (const auto& [workload, pending] : pending_) {
    if (workload.key.namespace_ == namespace_ && (pending.hold.reason == HoldReason::kWave ||
                                                  pending.hold.reason == HoldReason::kWaveFailed)) {
      changed_.insert(workload);
    }
  }
}

void Arbiter::NoteTemplate(const ObjectRef& workload, const std::string& hash, base::WallTime now) {
  if (hash.empty()) {
    return;
  }
  const auto [before, is_new] = templates_.try_emplace(workload, hash);
  if (!is_new && before->second != hash) {
    before->second = hash;
    base::WallTime& since = settled_since_.try_emplace(workload, now).first->second;
    since = std::max(since, now);
  }
}

void Arbiter::NoteSettled(const ObjectRef& workload, const Sighting& seen, base::WallTime now) {
  NoteTemplate(workload, seen.template_without_status, now);
  const Phase phase = seen.phase;
  if (phase == Phase::kUnseen) {
    return;  // every write of the workload makes it so for a moment
  }
  if (const auto found = settled_since_.find(workload);
      found != settled_since_.end() && (phase == Phase::kPaused || phase == Phase::kWaiting)) {
    found->second =
        base::WallTime::max();  // amid a rollout, whose pods are not all of one template
    return;
  }
  if (IsUnsettled(phase)) {
    settled_since_[workload] = base::WallTime::max();
  } else if (const auto found = settled_since_.find(workload); found != settled_since_.end()) {
    found->second = std::min(found->second, now);
  }
}

std::optional<base::WallTime> Arbiter::SettledSince(const ObjectRef& workload) const {
  const auto found = settled_since_.find(workload);
  return found == settled_since_.end() ? std::nullopt : std::optional(found->second);
}

void Arbiter::SeeSettled(const ObjectRef& workload, Phase phase) {
  if (!IsUnsettled(phase) && !rollouts_.contains(workload) && waited_for_.erase(workload) > 0) {
    WakeThoseAfter(workload);
  }
}

void Arbiter::FailData(const ObjectRef& workload, const Rollout& rollout, base::WallTime now) {
  if (rollout.data.empty()) {
    return;
  }
  failed_data_.insert_or_assign(workload,
                                FailedData{rollout.uid, rollout.data, now, rollout.started});
  due_.insert(workload);
  WakeWaves(workload.key.namespace_);
}

void Arbiter::ForgetData(const ObjectRef& workload) {
  if (failed_data_.erase(workload) > 0) {
    WakeWaves(workload.key.namespace_);
  }
}

void Arbiter::LeaveData(const ObjectRef& workload, base::WallTime now) {
  const auto failed = failed_data_.find(workload);
  if (failed == failed_data_.end()) {
    return;
  }
  if (failed->second.is_past) {
    return ForgetData(workload);
  }
  failed->second.gone_since = failed->second.gone_since.value_or(now);
  touched_.insert(workload);
  next_sweep_.reset();
}

std::optional<base::WallTime> Arbiter::ForgetGone(base::WallTime now) {
  std::vector<ObjectRef> gone;
  std::optional<base::WallTime> next;
  for (const auto& [workload, failed] : failed_data_) {
    const auto end = failed.EndOfGone();
    if (end && *end <= now) {
      gone.push_back(workload);
    } else if (end) {
      next = std::min(next.value_or(*end), *end);
    }
  }
  for (const ObjectRef& workload : gone) {
    ForgetData(workload);
  }
  return next;
}

void Arbiter::TryAnew(const ObjectRef& workload, const Sighting& seen, base::WallTime now) {
  FailedData& failed = failed_data_.at(workload);
  failed.uid = seen.uid;
  failed.gone_since.reset();
  Drop(workload);
  Rollout rollout{.started = std::max(now, failed.started + std::chrono::seconds(1)),
                  .running_since = now,
                  .observed = true,
                  .retried = true,
                  .data = failed.versions,
                  .uid = seen.uid,
                  .annotations = seen.annotations};
  SetTimes(workload, rollout);
  rollouts_.insert_or_assign(workload, std::move(rollout));
}

void Arbiter::EndData(const ObjectRef& workload, base::WallTime started) {
  // One that has become healthy with the data that it failed with proves nothing of them.
  if (const auto failed = failed_data_.find(workload);
      failed != failed_data_.end() && InSeconds(started) > InSeconds(failed->second.started)) {
    ForgetData(workload);
  }
}

void Arbiter::SeeData(const ObjectRef& workload, const Sighting& seen, base::WallTime now) {
  auto known = failed_data_.find(workload);
  if (known != failed_data_.end() && known->second.uid != seen.uid) {
    if (!known->second.is_past) {
      return TryAnew(workload, seen, now);
    }
    ForgetData(workload);  // of another object of that name
    known = failed_data_.end();
  }
  if (known != failed_data_.end()) {
    known->second.gone_since.reset();  // an event was late
  }
  auto data = RolledDataOf(seen.annotations, seen.uid);
  if (!data) {
    return;  // undone, or stripped of annotations: what has failed stays so
  }
  // An undo may have taken the time away. A rollout that begins in this second is a later one.
  const base::WallTime last =
      LastRolloutOf(seen.annotations).value_or(now - std::chrono::seconds(1));
  switch (data->state) {
    case DataState::kReleased:
      if (known != failed_data_.end() && HaveInCommon(known->second.versions, data->versions)) {
        ForgetData(workload);
        if (RecordOf(seen.annotations, seen.uid) == RolloutState::kCompleted) {
          Drop(workload);  // after an undo nothing else shows that this record is the newest
        }
      }
      return;
    case DataState::kFailed:
      if (known == failed_data_.end() || InSeconds(last) > InSeconds(known->second.started)) {
        failed_data_.insert_or_assign(workload,
                                      FailedData{seen.uid, std::move(data->versions), now, last});
        WakeWaves(workload.key.namespace_);
      } else if (HasAllOf(data->versions, known->second.versions)) {
        known->second.versions = std::move(data->versions);  // a policy's status may have fewer
      }
      return;
    case DataState::kRolled:
      if (RecordOf(seen.annotations, seen.uid) == RolloutState::kCompleted) {
        EndData(workload, last);  // another replica has seen the end
      }
      return;
  }
}

void Arbiter::TakeVersions(const Sighting& seen, Rollout& rollout) {
  const auto data = RolledDataOf(seen.annotations, seen.uid);
  // Where this rollout has not failed, the mark of a failure is of an earlier one.
  if (IsRecordOf(seen, rollout) && data && (data->state != DataState::kFailed || rollout.failed)) {
    rollout.data = data->versions;
  }
}

void Arbiter::TakeData(const ObjectRef& workload, const Sighting& seen, Rollout& rollout,
                       base::WallTime now) {
  if (rollout.data.empty()) {
    return;
  }
  const bool is_of_rollout = IsRecordOf(seen, rollout);
  const auto data = RolledDataOf(seen.annotations, seen.uid);
  if (!is_of_rollout && seen.undone && !rollout.failed &&
      InSeconds(*seen.undone) >= InSeconds(rollout.started)) {
    rollout.failed = rollout.undone = true;  // a person has found it bad before the operator did
    FailData(workload, rollout, now);
  } else if (is_of_rollout && rollout.failed && (!data || data->state == DataState::kRolled) &&
             !failed_data_.contains(workload)) {
    FailData(workload, rollout, now);
  }
}

std::optional<std::string> Arbiter::DataMark(const ObjectRef& workload, const std::string& uid,
                                             const Annotations& annotations) const {
  const auto failed = failed_data_.find(workload);
  if (failed == failed_data_.end() || uid.empty() || failed->second.uid != uid) {
    return std::nullopt;
  }
  const auto is_later = [&](base::WallTime started) {
    return InSeconds(started) > InSeconds(failed->second.started);
  };
  const auto last = LastRolloutOf(annotations);
  const auto rollout = rollouts_.find(workload);
  const auto seen = RolledDataOf(annotations, uid);
  if ((last && is_later(*last)) ||
      (rollout != rollouts_.end() && is_later(rollout->second.started))) {
    return std::nullopt;
  }
  std::string text = TextOf({DataState::kFailed, failed->second.versions}, uid);
  // What an undo has brought back may be of other data, and then nobody could release these.
  const bool is_of_these = seen && (seen->state == DataState::kReleased
                                        ? HaveInCommon(seen->versions, failed->second.versions)
                                        : TextOf(*seen, uid) == text);
  return is_of_these ? std::nullopt : std::optional(std::move(text));
}

void Arbiter::SetPast(const ObjectRef& workload, bool is_past) {
  if (const auto failed = failed_data_.find(workload); failed != failed_data_.end()) {
    failed->second.is_past = is_past;
  }
}

void Arbiter::ReplaceFailed(const ObjectRef& workload, const DataVersions& before,
                            const DataVersions& versions) {
  if (const auto failed = failed_data_.find(workload);
      failed != failed_data_.end() && failed->second.versions == before) {
    failed->second.versions = versions;
    due_.insert(workload);
  }
}

void Arbiter::RememberData(const RememberedData& failed) {
  if (!failed.versions.empty() && !failed_data_.contains(failed.workload)) {
    failed_data_.insert_or_assign(
        failed.workload, FailedData{failed.uid, failed.versions, failed.since, failed.since});
    unseen_.insert(failed.workload);
  }
}

}  // namespace kubexx::reloadpolicy
