// Evaluates this process's own rollouts for a PairMemory.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/reloader/plan/begun_pods.h"
#include "kubexx/reloader/plan/pair_memory.h"

namespace kubexx::reloader {
namespace {

/// More writes without an answer than this are repeated attempts of a few rollouts.
constexpr std::size_t kMaxAttempts = 8;

/// Drops the attempts that are no longer needed, because their sources are certain by now.
void DropSettled(Knowledge& known) {
  for (Attempt& attempt : known.attempts) {
    std::erase_if(attempt.sources, [&](const auto& source) {
      const auto state = known.pairs.find(source.first);
      return state != known.pairs.end() && state->second.kind == PairState::Kind::kConfirmed;
    });
  }
  std::erase_if(known.attempts, [](const Attempt& attempt) { return attempt.sources.empty(); });
}

bool IsWrittenFor(const std::vector<Change>& changes, const SourceId& source) {
  return std::ranges::any_of(changes, [&](const Change& change) {
    return std::ranges::find(change.sources, source, &std::pair<SourceId, Digest>::first) !=
           change.sources.end();
  });
}

/// Stores that the pods of a rollout for `changes`, at this resource version, began with what
/// events have told of other sources while it was written.
void BeginOthers(Knowledge& known, const std::vector<Change>& changes, std::uint64_t version) {
  if (known.template_since > version) {
    return;  // somebody else has begun other pods since then
  }
  for (const auto& [source, moves] : known.moves) {
    const auto earlier = std::ranges::find_if(
        moves.rbegin(), moves.rend(), [&](const Move& move) { return move.version < version; });
    const auto state = known.pairs.find(source);
    const bool is_mixed = state != known.pairs.end() && state->second.digest == UnknownData();
    if (earlier != moves.rend() && !is_mixed && !IsWrittenFor(changes, source)) {
      known.pairs[source] = BeganWith(*earlier);
    }
  }
}

}  // namespace

std::vector<SourceId> PairMemory::BeginWrite(const WorkloadId& workload,
                                             const std::vector<Change>& changes, Attempt attempt) {
  std::vector<SourceId> begun;
  const base::MutexLock lock(mu_);
  Knowledge& known = states_[workload];
  known.rolled_from.clear();
  known.stamps_of_others.clear();
  DropSettled(known);
  attempt.sources.clear();
  for (const Change& change : changes) {
    attempt.sources.insert(change.sources.begin(), change.sources.end());
  }
  known.attempts.push_back(std::move(attempt));
  if (known.attempts.size() > kMaxAttempts) {
    known.attempts.erase(known.attempts.begin());
  }
  const bool has_template =
      workload.kind != WorkloadKind::kCronJob && workload.kind != WorkloadKind::kJob;
  for (const Change& change : changes) {
    for (const auto& [source, digest] : change.sources) {
      const auto state = known.pairs.find(source);
      if (has_template) {
        known.rolled_from[source] =
            state == known.pairs.end()
                ? PairState{.kind = PairState::Kind::kConfirmed, .digest = UnknownData()}
                : state->second;
      }
      if (state != known.pairs.end() && state->second.kind == PairState::Kind::kConfirmed) {
        state->second.kind = PairState::Kind::kUncertain;
        begun.push_back(source);
      }
    }
  }
  return begun;
}

void PairMemory::CancelWrite(const WorkloadId& workload, const std::vector<SourceId>& begun) {
  const base::MutexLock lock(mu_);
  const auto found = states_.find(workload);
  if (found == states_.end()) {
    return;
  }
  found->second.rolled_from.clear();
  if (!found->second.attempts.empty()) {
    found->second.attempts.pop_back();
  }
  for (const SourceId& source : begun) {
    const auto state = found->second.pairs.find(source);
    if (state != found->second.pairs.end() && state->second.kind == PairState::Kind::kUncertain) {
      state->second.kind = PairState::Kind::kConfirmed;
    }
  }
}

void PairMemory::Confirm(const WorkloadId& workload, const std::vector<Change>& changes,
                         bool rolled, std::uint64_t version) {
  const base::MutexLock lock(mu_);
  Knowledge& known = states_[workload];
  known.is_unplanned = false;
  known.attempts.clear();
  const bool is_overtaken = version != 0 && known.template_since > version;
  if (rolled) {
    BeginAllAnew(known);
    BeginOthers(known, changes, version);
    if (version >= known.template_since) {
      known.template_since = version;
      known.template_until = version;
      std::erase_if(known.unseen_writes, [&](const auto& each) {
        return each.second.to < version || (version == 0 && IsWrittenFor(changes, each.first));
      });
    }
  } else {
    known.rolled_from.clear();
  }
  for (const Change& change : changes) {
    for (const auto& [source, digest] : change.sources) {
      // Certain states are of news that came before the answer: the rollout was set back, or
      // somebody has begun other pods since then.
      if (const auto state = known.pairs.find(source);
          state != known.pairs.end() && state->second.kind == PairState::Kind::kConfirmed &&
          (state->second.digest == UnknownData() || is_overtaken)) {
        continue;
      }
      known.left_due.erase(source);
      known.mixed.erase(source);
      const auto keys = change.keys.find(source);
      known.pairs[source] = {.kind = PairState::Kind::kConfirmed,
                             .digest = digest,
                             .keys = keys == change.keys.end() ? std::string() : keys->second,
                             .is_ahead_of_record = true};
    }
  }
}

}  // namespace kubexx::reloader
