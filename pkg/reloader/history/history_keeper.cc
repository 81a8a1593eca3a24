#include "kubexx/reloader/history/history_keeper.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "kubexx/logging/log.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Time;

constexpr std::size_t kDigestDigits = 12;

/// Returns the time when the workload was last rolled for the source, according to its history.
std::optional<Time> LastRolloutFor(const History& history, const SourceId& id) {
  for (const HistoryEntry& entry : history.rollouts) {
    if (std::ranges::any_of(entry.sources, [&](const HistorySource& source) {
          return source.type == id.type && source.name == id.key.name;
        })) {
      return entry.at;
    }
  }
  return std::nullopt;
}

/// Removes the keys that are not in a comma-separated list.
void LeaveOnly(const std::string& list, KeyChanges& keys) {
  std::set<std::string, std::less<>> counted;
  AnyItem(list, [&](std::string_view key) {
    counted.emplace(key);
    return false;
  });
  std::erase_if(keys, [&](const auto& each) { return !counted.contains(each.first); });
}

History ReadHistory(const Workload& workload) {
  auto history = HistoryOf(workload);
  if (history) {
    return *std::move(history);
  }
  logging::Warning("Cannot read the history on a workload; the operator begins it anew",
                   {{"workload", workload.id.key.name},
                    {"kind", KindName(workload.id.kind)},
                    {"namespace", workload.id.key.namespace_},
                    {"error", history.error()}});
  return {.owner = HistoryOwner(workload)};
}

}  // namespace

HistorySource HistoryKeeper::SourceOfRollout(const SourceId& id, const Change& change,
                                             const Plan& plan, const std::optional<Time>& last,
                                             bool is_in_place) const {
  HistorySource source{.type = id.type, .name = id.key.name};
  const auto rolled_for =
      std::ranges::find(change.sources, id, &std::pair<SourceId, Digest>::first);
  if (rolled_for != change.sources.end() && rolled_for->second != kNoSource) {
    source.digest = rolled_for->second.ToString().substr(0, kDigestDigits);
  }
  const auto present = options_.source(id);
  const auto recorded = plan.baseline.digests.find(id);
  // When only some keys of the data are known, the time has to tell which changes are new.
  const bool is_whole =
      recorded != plan.baseline.digests.end() && plan.baseline.KeysOf(id).empty() && !is_in_place;
  const auto known =
      changes_.Since(id, present ? present->digest : kNoSource,
                     is_whole ? std::optional(recorded->second) : std::nullopt, last);
  if (known) {
    source.keys = known->keys;
    source.writer = known->writer;
  } else if (present && present->trace) {
    source.writer = present->trace->writer;
  }
  if (const auto list = change.keys.find(id); list != change.keys.end() && source.keys) {
    LeaveOnly(list->second, *source.keys);
  }
  return source;
}

std::string HistoryKeeper::WithRollout(const Workload& workload, const Plan& plan, Time now) const {
  return WithEntry(workload, plan, {.at = now});
}

std::string HistoryKeeper::WithReload(const Workload& workload, const Plan& plan,
                                      const InPlace& in_place) const {
  std::string action = in_place.action.substr(0, History::kMaxActionBytes);
  std::ranges::replace_if(action, [](char c) { return c < ' ' || c > '~'; }, '?');
  return WithEntry(workload, plan,
                   {.at = in_place.at,
                    .outcome = RolloutOutcome::kDone,
                    .seconds = std::chrono::round<std::chrono::seconds>(in_place.took).count(),
                    .in_place = std::move(action)});
}

std::string HistoryKeeper::WithEntry(const Workload& workload, const Plan& plan,
                                     HistoryEntry entry) const {
  History history = ReadHistory(workload);
  if (!history.rollouts.empty()) {
    HistoryEntry& last = history.rollouts.front();
    CompleteFrom(workload, ends_.EndOf(workload.id), last);
    if (last.outcome == RolloutOutcome::kRolling) {
      last.outcome = RolloutOutcome::kSuperseded;
    }
  }
  for (const Change& change : plan.changes) {
    for (const SourceId& id : change.causes) {
      entry.sources.push_back(
          SourceOfRollout(id, change, plan, LastRolloutFor(history, id), !entry.in_place.empty()));
    }
  }
  history.rollouts.insert(history.rollouts.begin(), std::move(entry));
  history.Fit(options_.rollouts);
  return history.ToString();
}

std::optional<std::string> HistoryKeeper::WithOutcome(const Workload& workload) const {
  auto history = HistoryOf(workload);
  if (!history || history->rollouts.empty()) {
    return std::nullopt;
  }
  HistoryEntry& last = history->rollouts.front();
  const HistoryEntry before = last;
  CompleteFrom(workload, ends_.EndOf(workload.id), last);
  if (last == before) {
    return std::nullopt;
  }
  history->Fit(options_.rollouts);
  return history->ToString();
}

}  // namespace kubexx::reloader
