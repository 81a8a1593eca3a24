#include "kubexx/reloader/policy/trouble_reporter.h"

#include <algorithm>
#include <string>

#include "kubexx/reloader/model/object_refs.h"

namespace kubexx::reloader {
namespace {

std::string PolicyName(const PolicyState& state, const std::string& mark) {
  return (state.id.namespace_.empty() ? "ClusterReloadPolicy " : "ReloadPolicy ") + mark +
         state.id.ToString() + mark;
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

void TroubleReporter::Tell(const RolloutTrouble& trouble) const {
  for (TroubleObserver* observer : observers_) {
    observer->OnTrouble(trouble);
  }
}

void TroubleReporter::LookAtStop(const PolicyState& state, Known& known) const {
  if (state.stopped && known.was_stopped && !known.stop_is_told) {
    const auto text = [&state](const std::string& mark) {
      return "rollouts have stopped because of " + PolicyName(state, mark) + ": " +
             std::to_string(state.failed) +
             " failed, and no more rollouts begin until they are mended";
    };
    Tell({.is_bad = true,
          .reason = "RolloutsStopped",
          .message = text("*"),
          .plain = text(""),
          .policy = state.id});
  }
  known.stop_is_told = state.stopped && (known.stop_is_told || known.was_stopped);
  known.was_stopped = state.stopped;
}

void TroubleReporter::LookAtWaves(const PolicyState& state, Known& known) const {
  const bool has_failed = !state.failed_in_waves.empty();
  if (has_failed && known.had_failed_wave && !known.wave_is_told) {
    const PolicyState::FailedWave& first = state.failed_in_waves.front();
    const auto text = [&](const std::string& mark) {
      return "a wave has failed under " + PolicyName(state, mark) + ": " + mark +
             first.workload.ToString() + mark + " for " + reloadpolicy::SourcesOf(first.data) +
             ", and no other workload is rolled for these data";
    };
    Tell({.is_bad = true,
          .reason = "WaveFailed",
          .message = text("*"),
          .plain = text(""),
          .workload = IdOf(first.workload),
          .policy = state.id});
  }
  known.wave_is_told = has_failed && (known.wave_is_told || known.had_failed_wave);
  known.had_failed_wave = has_failed;
}

void TroubleReporter::LookAtHolds(const PolicyState& state, base::WallTime now,
                                  Known& known) const {
  const auto& longest = state.longest_for_others;
  const bool is_held = longest && now - longest->since >= is_long_;
  if (is_held && !known.hold_is_told) {
    const auto text = [&](const std::string& mark) {
      return "rollouts wait for long because of " + PolicyName(state, mark) + ", " +
             std::to_string(state.pending) + " in all: " + mark + longest->workload.ToString() +
             mark + ": " + std::string(ToString(longest->hold.reason)) + ": " +
             longest->hold.message;
    };
    Tell({.reason = "RolloutsWait",
          .message = text("*"),
          .plain = text(""),
          .workload = IdOf(longest->workload),
          .policy = state.id});
  }
  known.hold_is_told = is_held;
}

}  // namespace kubexx::reloader
