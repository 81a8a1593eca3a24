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
    LookAtWaves(state, known);
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

void TroubleReporter::LookAtWaves(const PolicyState& state, Known& known) const {
  const bool has_failed = !state.failed_in_waves.empty();
  if (has_failed && known.had_failed_wave && !known.wave_is_told) {
    const PolicyState::FailedWave& first = state.failed_in_waves.front();
    observer_.OnTrouble({.is_bad = true,
                         .message = "a wave has failed under " + PolicyName(state) + ": *" +
                                    first.workload.ToString() + "* for " +
                                    reloadpolicy::SourcesOf(first.data) +
                                    ", and no other workload is rolled for these data"});
  }
  known.wave_is_told = has_failed && (known.wave_is_told || known.had_failed_wave);
  known.had_failed_wave = has_failed;
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
