// Evaluates the writes of other replicas for a PairMemory.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/reloader/plan/begun_pods.h"
#include "kubexx/reloader/plan/pair_memory.h"

namespace kubexx::reloader {
namespace {

void BelieveRecord(Knowledge& known) {
  ++known.records;
  known.left_due.clear();
  known.mixed.clear();
  for (auto& [source, state] : known.pairs) {
    state.is_ahead_of_record = false;
  }
}

}  // namespace

void PairMemory::RecordedByOthers(const WorkloadId& workload) {
  const base::MutexLock lock(mu_);
  if (const auto found = states_.find(workload); found != states_.end()) {
    BelieveRecord(found->second);
  }
}

bool PairMemory::IsNewRecord(const WorkloadId& workload, const SeenRecord& record) {
  const base::MutexLock lock(mu_);
  Knowledge& known = states_[workload];
  if (record.hash == known.record) {
    if (record.since != 0 && known.record_since == 0 && known.record_at != 0) {
      // An event tells now what a read had told before, so it is later than all that earlier events
      // told.
      known.record_since = record.since;
      BelieveRecord(known);
    }
    return false;
  }
  if (record.version != 0 && record.version <= known.told_at) {
    return false;
  }
  known.told_at = std::max(known.told_at, record.version);
  known.record_at = record.version;
  known.record_since = record.since;
  const bool replaces_another = std::exchange(known.record, record.hash) != 0;
  BelieveRecord(known);
  return replaces_another;
}

void PairMemory::Wrote(const WorkloadId& workload, const SeenRecord& record) {
  const base::MutexLock lock(mu_);
  Knowledge& known = states_[workload];
  if (record.version != 0 && record.version < known.told_at) {
    // The event of a later write of somebody else came before the answer to this one.
    if (record.hash != known.record) {
      BelieveRecord(known);
    }
    return;
  }
  known.told_at = std::max(known.told_at, record.version);
  if (record.hash != 0) {
    known.record = record.hash;
    if (!record.is_partly_copied) {
      known.record_at = 0;
      known.record_since = 0;
    }
  }
}

void PairMemory::TookAway(const WorkloadId& workload, std::uint64_t version) {
  const base::MutexLock lock(mu_);
  Knowledge& known = states_[workload];
  if (version != 0 && version < known.told_at) {
    return;  // another one has been recorded since
  }
  known.told_at = std::max(known.told_at, version);
  known.record = 0;
  known.record_at = 0;
  known.record_since = 0;
}

PairMemory::SeenRecord PairMemory::SeenRecord::Of(std::string_view text, std::uint64_t version,
                                                  std::uint64_t since) {
  const std::uint64_t hash = text.empty() ? 0 : std::hash<std::string_view>()(text);
  return {.hash = !text.empty() && hash == 0 ? 1 : hash, .version = version, .since = since};
}

PairMemory::SeenRecord PairMemory::SeenRecord::OfPlan(const Plan& plan, std::string_view text,
                                                      std::uint64_t version) {
  SeenRecord record = Of(text, version);
  record.is_partly_copied = plan.incomplete.has_value();
  return record;
}

void PairMemory::RolledByOthers(const WorkloadId& workload, std::uint64_t version) {
  const base::MutexLock lock(mu_);
  const auto found = states_.find(workload);
  if (found == states_.end()) {
    return;
  }
  Knowledge& known = found->second;
  for (auto& [source, moves] : known.moves) {
    auto later = std::ranges::find_if(
        moves, [&](const Move& move) { return version != 0 && move.version > version; });
    if (IsOverKeys(known.pairs, source)) {
      later = moves.end();  // a digest of all data says nothing of the keys that count
    } else if (later != moves.begin() && later != moves.end()) {
      known.pairs[source] = BeganWith(*std::prev(later));
    }
    moves.erase(moves.begin(), later);
  }
  std::erase_if(known.moves, [](const auto& each) { return each.second.empty(); });
  std::erase_if(known.pairs, [&](const auto& each) { return !known.moves.contains(each.first); });
  known.rolled_from.clear();
  known.attempts.clear();
  known.left_due.clear();
  known.mixed.clear();
}

void PairMemory::RunByOthers(const WorkloadId& cron_job, std::uint64_t since, std::uint64_t until) {
  const base::MutexLock lock(mu_);
  Knowledge& known = states_[cron_job];
  if (until <= known.template_since) {
    return;  // this process has made another Job since then
  }
  BeginPods(known, std::max({since, known.template_since, std::uint64_t{1}}), until);
  for (const auto& [source, moves] : known.moves) {
    const auto state = known.pairs.find(source);
    const std::string keys = state == known.pairs.end() ? std::string() : state->second.keys;
    if (std::ranges::any_of(moves, [&](const Move& move) {
          return IsDuringBegin(known, move) && IsMoveUnder(keys, move);
        })) {
      known.pairs[source] = MayHaveAny(keys);
    }
  }
}

void PairMemory::BeginTenure(const WorkloadId& workload, std::uint64_t tenure) {
  if (tenure == 0) {
    return;  // there is no other replica
  }
  const base::MutexLock lock(mu_);
  Knowledge& known = states_[workload];  // the time of the conclusions from here on is known
  if (known.tenure == tenure) {
    return;
  }
  const bool is_first = std::exchange(known.tenure, tenure) == 0;
  // An event has told of pods that are younger than any record, and a new one would be told of,
  // too.
  const bool is_of_younger_pods = known.template_since > known.told_at;
  for (auto& [source, state] : known.pairs) {
    state.is_ahead_of_record = state.is_ahead_of_record && (is_first || is_of_younger_pods);
  }
}

}  // namespace kubexx::reloader
