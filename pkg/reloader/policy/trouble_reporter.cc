#include "kubexx/reloader/policy/trouble_reporter.h"

#include <algorithm>
#include <string>

namespace kubexx::reloader {
namespace {

std::string PolicyName(const PolicyState& state) {
  return (state.id.namespace_.empty() ? "ClusterReloadPolicy *" : "ReloadPolicy *") +
         state.id.ToString() + "*";
}

}  // namespace

void TroubleReporter::Look(const std::vector<PolicyState>& states, base::WallTime now) {
  std::erase_if(known_, [&](const auto& entry) {
    return std::ranges::find(states, entry.first, &PolicyState::id) == states.end();
  });
  for (const PolicyState& state : states) {
    Known& known = known_[state.id];
    LookAtStop(state, known);
    LookAtHolds(state, now, known);
  }
}

void TroubleReporter::LookAtStop(const PolicyState& state, Known& known) const {
  if (state.stopped && known.was_stopped && !known.stop_is_told) {
    observer_.OnTrouble({.is_bad = true,
                         .message = "rollouts have stopped because of " + PolicyName(state) + ": " +
                                    std::to_string(state.failed) +
                                    " failed, and no more rollouts begin until they are mended"});
  }
  known.stop_is_told = state.stopped && (known.stop_is_told || known.was_stopped);
  known.was_stopped = state.stopped;
}

void TroubleReporter::LookAtHolds(const PolicyState& state, base::WallTime now,
                                  Known& known) const {
  const auto& longest = state.longest_for_others;
  const bool is_held = longest && now - longest->since >= is_long_;
  if (is_held && !known.hold_is_told) {
    observer_.OnTrouble({.message = "rollouts wait for long because of " + PolicyName(state) +
                                    ", " + std::to_string(state.pending) + " in all: *" +
                                    longest->workload.ToString() +
                                    "*: " + std::string(ToString(longest->hold.reason)) + ": " +
                                    longest->hold.message});
  }
  known.hold_is_told = is_held;
}

}  // namespace kubexx::reloader
