#include "kubexx/reloader/history/history.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloadpolicy/policy.h"
#include "kubexx/reloadpolicy/rollout_record.h"

namespace kubexx::reloader {

using apimachinery::Result;
using apimachinery::Time;

namespace {

/// Whether the workload's status may tell of a rollout of others that has begun after `begin`. The
/// times of managed fields may also be those of other writes, but an end before them is no end of
/// what came after.
bool MayBeOfLaterRollout(const Workload& workload, const Time& begin) {
  const auto is_later = [&](const std::optional<Time>& written) {
    return written && written->seconds > begin.seconds &&
           !(workload.ended && workload.ended->seconds <= written->seconds);
  };
  return is_later(workload.template_written) || is_later(workload.undone);
}

void LeaveOutUnread(HistoryEntry& entry) {
  entry.unread.pop_back();
  ++entry.more_sources;
}

}  // namespace

std::string_view ToString(RolloutOutcome outcome) {
  switch (outcome) {
    case RolloutOutcome::kRolling:
      return "rolling";
    case RolloutOutcome::kDone:
      return "done";
    case RolloutOutcome::kFailed:
      return "failed";
    case RolloutOutcome::kSuperseded:
      break;
  }
  return "superseded";
}

void History::Fit(std::size_t max_rollouts) {
  rollouts.resize(std::min(rollouts.size(), max_rollouts));
  for (HistoryEntry& entry : rollouts) {
    while (entry.sources.size() > kMaxSources) {
      entry.sources.pop_back();
      ++entry.more_sources;
    }
    while (entry.sources.size() + entry.unread.size() > kMaxSources) {
      LeaveOutUnread(entry);
    }
    for (HistorySource& source : entry.sources) {
      while (source.keys && source.keys->size() > kMaxKeys) {
        source.keys->erase(std::prev(source.keys->end()));
        ++source.more_keys;
      }
    }
  }
  while (rollouts.size() > 1 && ToString().size() > kMaxBytes) {
    rollouts.pop_back();
  }
  // Names of keys may be so long that those of a single rollout take too much space.
  while (!rollouts.empty() && ToString().size() > kMaxBytes) {
    if (!rollouts[0].unread.empty()) {
      LeaveOutUnread(rollouts[0]);
      continue;
    }
    const auto most = std::ranges::max_element(
        rollouts[0].sources, {},
        [](const HistorySource& each) { return each.keys ? each.keys->size() : 0; });
    if (most == rollouts[0].sources.end() || !most->keys || most->keys->empty()) {
      return;  // the rest always has room
    }
    most->keys->erase(std::prev(most->keys->end()));
    ++most->more_keys;
  }
}

std::string HistoryOwner(const Workload& workload) {
  return workload.id.kind == WorkloadKind::kJob ? "job/" + workload.id.key.ToString()
                                                : workload.uid;
}

Result<History> HistoryOf(const Workload& workload) {
  const std::string owner = HistoryOwner(workload);
  const std::string* text = Find(workload.annotations, kHistoryAnnotation);
  if (text != nullptr) {
    KX_ASSIGN_OR_RETURN(History history, History::Parse(*text));
    if (history.owner == owner) {
      return history;
    }
  }
  return History{.owner = owner};
}

namespace {

/// Whether the operator has recorded on the workload that the rollout which began about then has
/// failed, as when it takes longer than a policy lets it.
bool IsRecordedAsFailed(const Workload& workload, const Time& at) {
  constexpr std::int64_t kSecondsBetweenAnswerAndWrite = 5;
  const auto last = reloadpolicy::LastRolloutOf(workload.annotations);
  return last && Time::From(*last).seconds + kSecondsBetweenAnswerAndWrite >= at.seconds &&
         reloadpolicy::RecordOf(workload.annotations, workload.uid) ==
             reloadpolicy::RolloutState::kFailed;
}

}  // namespace

void CompleteFrom(const Workload& workload, const std::optional<RolloutEnd>& end,
                  HistoryEntry& newest) {
  const bool is_of_status = !MayBeOfLaterRollout(workload, newest.at);
  const bool is_through = is_of_status ? IsThrough(workload.phase) : end && !end->has_failed;
  const bool is_by_record = is_of_status && !is_through && IsRecordedAsFailed(workload, newest.at);
  const bool has_failed = is_of_status
                              ? workload.phase == reloadpolicy::Phase::kFailed || is_by_record
                              : end && end->has_failed;
  const bool is_open = newest.outcome == RolloutOutcome::kRolling ||
                       (newest.outcome == RolloutOutcome::kFailed && is_through);
  if (!is_open) {
    return;
  }
  if (!is_through && !has_failed) {
    newest.outcome = is_of_status ? newest.outcome : RolloutOutcome::kSuperseded;
    return;
  }
  newest.outcome = is_through ? RolloutOutcome::kDone : RolloutOutcome::kFailed;
  std::optional<Time> ended = is_of_status ? workload.ended : std::nullopt;
  if (is_by_record && workload.phase != reloadpolicy::Phase::kFailed) {
    ended.reset();  // of the last time that all pods were available
  }
  if (!ended && end) {
    ended = end->time;
  }
  newest.seconds = ended && ended->seconds >= newest.at.seconds
                       ? std::optional(ended->seconds - newest.at.seconds)
                       : std::nullopt;
}

}  // namespace kubexx::reloader
