#include "kubexx/reloader/ui/live_records.h"

#include <algorithm>
#include <utility>

namespace kubexx::reloader {

std::string RecordKeyOf(const WorkloadId& id) {
  return "w/" + std::string(KindName(id.kind)) + "/" + id.key.ToString();
}

LiveRecords::LiveRecords(StateFeed& feed, Options options)
    : feed_(feed),
      options_(std::move(options)),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

void LiveRecords::Touch(const WorkloadId& id) {
  const base::MutexLock lock(mu_);
  if (touched_.insert(id).second) {
    touched_cv_.notify_all();
  }
}

void LiveRecords::TouchAll() {
  const base::MutexLock lock(mu_);
  all_touched_ = true;
  touched_cv_.notify_all();
}

void LiveRecords::Run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::set<WorkloadId> todo = AwaitWork(stop);
    if (stop.stop_requested()) {
      return;
    }
    const base::TimePoint now = options_.clock.Now();
    last_turn_ = now;
    RecordEdits edits;
    if (now >= next_look_) {
      next_look_ = now + options_.interval;
      todo.insert(unsettled_.begin(), unsettled_.end());
      LookAtOthers(edits, stop);
    }
    LookAt(todo, edits, stop);
    if (!stop.stop_requested()) {
      feed_.Apply(std::move(edits));
    }
    if (!todo.empty()) {
      const base::MutexLock lock(mu_);
      touched_.merge(todo);
    }
  }
}

std::set<WorkloadId> LiveRecords::AwaitWork(const std::stop_token& stop) {
  const base::MutexLock lock(mu_);
  while (!stop.stop_requested()) {
    const base::TimePoint now = options_.clock.Now();
    const bool has_work = !touched_.empty() || all_touched_;
    const base::TimePoint next_turn =
        last_turn_ == base::TimePoint::min() ? now : last_turn_ + options_.gap;
    const base::TimePoint due = has_work ? std::min(next_turn, next_look_) : next_look_;
    // Also the regular look keeps the gap.
    if (now >= std::max(due, next_turn)) {
      break;
    }
    options_.clock.WaitUntil(mu_, touched_cv_, stop, std::max(due, next_turn));
  }
  if (std::exchange(all_touched_, false)) {
    touched_.insert(known_.begin(), known_.end());
  }
  return std::exchange(touched_, {});
}

void LiveRecords::LookAt(std::set<WorkloadId>& todo, RecordEdits& edits,
                         const std::stop_token& stop) {
  const base::TimePoint end = options_.clock.Now() + options_.budget;
  while (!todo.empty() && !stop.stop_requested()) {
    // In turn: those that are touched all the time must not keep others waiting.
    auto next = todo.upper_bound(last_look_);
    if (next == todo.end()) {
      next = todo.begin();
    }
    const WorkloadId id = *next;
    last_look_ = id;
    todo.erase(next);
    const bool is_known = known_.contains(id);
    Look look = options_.look(id, stop);
    if (stop.stop_requested()) {
      return;
    }
    if (look.is_postponed && is_known) {
      unsettled_.insert(id);
      continue;
    }
    left_out_.erase(id);
    if (!look.json) {
      known_.erase(id);
    } else if (!is_known && known_.size() >= options_.max_workloads) {
      left_out_.insert(id);
      continue;
    } else {
      known_.insert(id);
    }
    if (look.json && !look.is_settled) {
      unsettled_.insert(id);
    } else {
      unsettled_.erase(id);
    }
    edits[RecordKeyOf(id)] = std::move(look.json);
    if (options_.clock.Now() >= end) {
      return;
    }
  }
}

void LiveRecords::LookAtOthers(RecordEdits& edits, const std::stop_token& stop) {
  if (!options_.others) {
    return;
  }
  std::set<std::string> present;
  for (auto& [key, json] : options_.others(left_out_.size(), stop)) {
    present.insert(key);
    edits[key] = std::move(json);
  }
  for (const std::string& key : others_) {
    if (!present.contains(key)) {
      edits[key] = std::nullopt;
    }
  }
  others_ = std::move(present);
}

}  // namespace kubexx::reloader
