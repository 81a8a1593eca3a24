#include "kubexx/reloader/restore/restorer.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "kubexx/logging/log.h"
#include "kubexx/reloader/model/object_refs.h"

namespace kubexx::reloader {
namespace {

/// So many digits of a digest tell people which data are meant, as many as histories have.
constexpr std::size_t kDigitsTold = 12;

/// So many times it looks whether it may write in a namespace, before it forgets a source there.
constexpr int kMostWaits = 10;

std::string DigestForPeople(const Digest& digest) {
  return digest.ToString().substr(0, kDigitsTold);
}

std::string PutBackText(const RestoreWork::Restored& restored) {
  return "the last good data (digest " + DigestForPeople(restored.good) + ") were put back into " +
         RefOf(restored.source).ToString() + " in place of those that failed (digest " +
         DigestForPeople(restored.bad) + ")" + std::string(kRestoredAt) + restored.at.ToString();
}

}  // namespace

Restorer::Restorer(SourceStore& store, Options options)
    : options_(std::move(options)),
      work_(store, options_.clock, options_.ignore_annotation),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

Restorer::~Restorer() { Stop(); }

void Restorer::Stop() {
  thread_.request_stop();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void Restorer::Consider(const std::vector<SourceId>& sources) {
  const base::TimePoint at = options_.clock.Now() + kGather;
  {
    const base::MutexLock lock(mu_);
    for (const SourceId& source : sources) {
      Known& known = known_[source];
      known.again = std::min(known.again.value_or(at), at);
    }
  }
  changed_.notify_all();
}

void Restorer::SnapshotGone(const SourceId& source) {
  {
    const base::MutexLock lock(mu_);
    const auto found = known_.find(source);
    if (found == known_.end()) {
      return;  // it is looked for when the source is considered for the first time
    }
    found->second.is_snapshot_gone = true;
  }
  Consider({source});
}

std::size_t Restorer::known() const {
  const base::MutexLock lock(mu_);
  return known_.size();
}

void Restorer::Run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::optional<std::pair<SourceId, Known>> next;
    {
      const base::MutexLock lock(mu_);
      const base::TimePoint now = options_.clock.Now();
      // The one that is due for the longest time, so that none waits for ever.
      base::TimePoint first = base::TimePoint::max();
      auto due = known_.end();
      for (auto each = known_.begin(); each != known_.end(); ++each) {
        if (each->second.again && *each->second.again < first) {
          first = *each->second.again;
          due = each;
        }
      }
      if (due != known_.end() && first <= now) {
        Known& known = due->second;
        known.again.reset();
        if (std::exchange(known.is_snapshot_gone, false)) {
          known.good.reset();
        }
        next.emplace(due->first, known);
      }
      if (!next) {
        options_.clock.WaitUntil(mu_, changed_, stop, first);
        continue;
      }
    }
    const SourceId& source = next->first;
    std::optional<Known> after = Look(source, std::move(next->second), stop);
    const base::MutexLock lock(mu_);
    Known& known = known_[source];
    const std::optional<base::TimePoint> asked = known.again;  // meanwhile, by Consider
    if (after) {
      after->is_snapshot_gone = known.is_snapshot_gone;  // meanwhile
      known = *std::move(after);
    }
    if (asked) {
      known.again = std::min(known.again.value_or(*asked), *asked);
    } else if (!after) {
      known_.erase(source);
    }
  }
}

std::optional<Restorer::Known> Restorer::Look(const SourceId& source, Known known,
                                              const std::stop_token& stop) {
  if (options_.writes && !options_.writes(source.key.namespace_)) {
    // Another replica does, and is told by itself; or this one has not listed everything yet.
    if (++known.waits > kMostWaits) {
      return std::nullopt;
    }
    known.again = options_.clock.Now() + kLookForSettled;
    return known;
  }
  known.waits = 0;
  const RestoreStanding standing = options_.standing(source, known.good);
  if (!standing.policy || (!standing.present && !standing.failure)) {
    ReportOver(source, known);
    return std::nullopt;
  }
  if (known.stalled == standing && options_.clock.Now() < known.not_before) {
    known.again = known.not_before;
    return known;
  }
  known.stalled.reset();
  if (standing.failure) {
    Restore(source, standing, known, stop);
    return known;
  }
  if (known.reported && known.reported->outcome == RestoreReport::Outcome::kHeld) {
    ReportOver(source, known);
  }
  if (standing.is_named && !known.has_told_of_mark) {
    ReportEarlier(source, standing, known, stop);
  }
  const bool is_good = known.good == standing.present;
  if (!standing.is_named || (is_good && options_.clock.Now() < known.sure_until)) {
    known.again = is_good ? std::optional(known.sure_until) : std::nullopt;
  } else if (is_good || standing.is_settled) {
    Keep(source, standing, known, stop);
  } else {
    known.again = options_.clock.Now() +
                  std::min(standing.settles_after.value_or(kLookForSettled), kLookForSettled);
  }
  return known;
}

void Restorer::Keep(const SourceId& source, const RestoreStanding& standing, Known& known,
                    const std::stop_token& stop) {
  const auto not_done = work_.KeepSnapshot(source, *standing.present, stop);
  if (!not_done) {
    known.good = standing.present;
    known.sure_until = options_.clock.Now() + kMakeSure;
    known.again = known.sure_until;
    known.failures = 0;
    if (known.reported && known.reported->outcome == RestoreReport::Outcome::kUnready) {
      ReportOver(source, known);
    }
    return;
  }
  Stall(standing, *not_done, known);
  if (not_done->needs_person) {
    Report({.outcome = RestoreReport::Outcome::kUnready,
            .source = source,
            .uid = not_done->uid,
            .policy = *standing.policy,
            .reason = "CannotSnapshot",
            .message = "without a snapshot nothing can be restored: " + not_done->message},
           known);
  }
}

void Restorer::Restore(const SourceId& source, const RestoreStanding& standing, Known& known,
                       const std::stop_token& stop) {
  const auto done = work_.Restore(*standing.failure, stop);
  if (const auto* all = std::get_if<std::vector<RestoreWork::Restored>>(&done)) {
    for (const RestoreWork::Restored& each : *all) {
      // One that was restored before was told of then, unless there was no answer.
      if (each.is_new || known.failures > 0) {
        ReportRestored(standing, each);
      }
      if (each.source == source) {
        known.good = each.good;
        known.sure_until = options_.clock.Now() + kMakeSure;
        known.again = known.sure_until;
        known.has_told_of_mark = known.has_told_of_mark || each.is_new || known.failures > 0;
      }
    }
    if (std::ranges::find(*all, source, &RestoreWork::Restored::source) == all->end()) {
      ReportOver(source, known);  // it has its last good data: only others had to be restored
    }
    known.failures = 0;
    known.reported.reset();
    return;
  }
  const auto& not_done = std::get<NotDone>(done);
  Stall(standing, not_done, known);
  if (not_done.needs_person) {
    Report({.outcome = RestoreReport::Outcome::kHeld,
            .source = source,
            // Of several sources another one may be what it is about.
            .uid = standing.failure->sources.size() == 1 ? not_done.uid : std::string(),
            .policy = *standing.policy,
            .workload = standing.failure->workload,
            .reason = not_done.reason,
            .message = "the rollout of " + standing.failure->workload.ToString() +
                       " has failed in a wave, and " + not_done.message},
           known);
  }
}

void Restorer::ReportEarlier(const SourceId& source, const RestoreStanding& standing, Known& known,
                             const std::stop_token& stop) {
  known.has_told_of_mark = true;
  const auto restored = work_.PutBackInto(source, stop);
  if (!restored || !options_.report) {
    return;
  }
  options_.report({.outcome = RestoreReport::Outcome::kRestored,
                   .source = source,
                   .uid = restored->uid,
                   .policy = *standing.policy,
                   .reason = "Restored",
                   .message = PutBackText(*restored),
                   .at = restored->at,
                   .is_earlier = true});
}

void Restorer::ReportRestored(const RestoreStanding& standing,
                              const RestoreWork::Restored& restored) const {
  if (!options_.report) {
    return;
  }
  options_.report({.outcome = RestoreReport::Outcome::kRestored,
                   .source = restored.source,
                   .uid = restored.uid,
                   .policy = *standing.policy,
                   .workload = standing.failure->workload,
                   .reason = "Restored",
                   .message = "the rollout of " + standing.failure->workload.ToString() +
                              " has failed in a wave, so " + PutBackText(restored),
                   .at = restored.at});
}

void Restorer::Stall(const RestoreStanding& standing, const NotDone& not_done, Known& known) const {
  base::Duration wait = kLookAgain;
  if (not_done.needs_person) {
    known.failures = 0;
  } else {
    wait = kRetryFirst;
    for (int i = 0; i < known.failures && wait < kRetryMost; ++i) {
      wait *= 2;
    }
    wait = std::min(wait, kRetryMost);
    ++known.failures;
    logging::Debug("A snapshot or a restore of a source is put off", {{"error", not_done.message}});
  }
  known.stalled = standing;
  known.not_before = options_.clock.Now() + wait;
  known.again = known.not_before;
}

void Restorer::Report(RestoreReport report, Known& known) const {
  if (known.reported == report) {
    return;
  }
  known.reported = report;
  if (options_.report) {
    options_.report(report);
  }
}

void Restorer::ReportOver(const SourceId& source, Known& known) const {
  if (!known.reported || known.reported->outcome == RestoreReport::Outcome::kRestored) {
    return;
  }
  RestoreReport over{
      .outcome = RestoreReport::Outcome::kOver, .source = source, .policy = known.reported->policy};
  known.reported.reset();
  if (options_.report) {
    options_.report(over);
  }
}

}  // namespace kubexx::reloader
