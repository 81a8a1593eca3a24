#include "kubexx/reloader/policy/policy_news.h"

#include <cstddef>

namespace kubexx::reloader {
namespace {

std::string Rollouts(std::size_t n) {
  return std::to_string(n) + (n == 1 ? " rollout" : " rollouts");
}

std::string WhatWaits(const PolicyState& state) {
  std::string text = Rollouts(state.pending) + (state.pending == 1 ? " waits" : " wait");
  if (!state.listed.empty()) {
    const PolicyState::Waiting& first = state.listed.front();
    text += "; first " + first.workload.ToString() + ": " +
            std::string(ToString(first.hold.reason)) + ": " + first.hold.message;
  }
  return text;
}

std::string WhoHasFailed(const PolicyState& state) {
  const PolicyState::FailedWave& first = state.failed_in_waves.front();
  return Rollouts(state.failed_waves) + " failed in a wave; first " + first.workload.ToString() +
         " for " + reloadpolicy::SourcesOf(first.data);
}

}  // namespace

std::vector<PolicyNews> NewsBetween(const PolicyFacts& before, const PolicyFacts& now,
                                    const PolicyState& state) {
  std::vector<PolicyNews> news;
  if (now.problems != before.problems) {
    news.push_back(
        now.problems.empty()
            ? PolicyNews{events::EventType::kNormal, "Accepted", "the whole policy is in force"}
            : PolicyNews{events::EventType::kWarning, "Invalid", now.problems});
  }
  if (now.stopped != before.stopped) {
    news.push_back(
        now.stopped ? PolicyNews{events::EventType::kWarning, "Stopped",
                                 Rollouts(static_cast<std::size_t>(state.failed)) +
                                     " failed; no more rollouts begin until they are mended"}
                    : PolicyNews{events::EventType::kNormal, "StopLifted", "rollouts begin again"});
  }
  if (now.wave_failed != before.wave_failed) {
    news.push_back(
        now.wave_failed && !state.failed_in_waves.empty()
            ? PolicyNews{events::EventType::kWarning, "WaveFailed",
                         WhoHasFailed(state) + "; no other rollout begins for these data"}
            : PolicyNews{events::EventType::kNormal, "WavesGoOn",
                         "no rollout that failed in a wave holds others back any more"});
  }
  if (now.restore != before.restore && !now.restore.empty()) {
    news.push_back(now.restored
                       ? PolicyNews{events::EventType::kNormal, "Restored", now.restore}
                       : PolicyNews{events::EventType::kWarning, "NotRestored", now.restore});
  }
  if (now.waits != before.waits) {
    news.push_back(now.waits
                       ? PolicyNews{events::EventType::kNormal, "RolloutsWait", WhatWaits(state)}
                       : PolicyNews{events::EventType::kNormal, "RolloutsGoOn",
                                    "no rollout waits because of this policy any more"});
  }
  return news;
}

}  // namespace kubexx::reloader
