/// @file
/// Decides which Events about a policy its users get.
#ifndef KUBEXX_RELOADER_POLICY_POLICY_NEWS_H_
#define KUBEXX_RELOADER_POLICY_POLICY_NEWS_H_

#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/or_empty.h"
#include "kubexx/events/recorder.h"
#include "kubexx/reloader/policy/policy_enforcer.h"
#include "kubexx/reloader/restore/restore_standing.h"

namespace kubexx::reloader {

/// In the message of the condition Restored, before what keeps a snapshot from being taken.
inline constexpr std::string_view kNoSnapshotNote = "; no snapshot of ";

/// What the message of the condition Restored says of restores.
inline std::string WithoutSnapshotNote(std::string_view message) {
  return std::string(message.substr(0, message.find(kNoSnapshotNote)));
}

/// The part of a policy's state whose changes cause Events. The default is a policy without
/// problems.
struct PolicyFacts {
  bool waits = false;        ///< some rollout waits because of the policy
  bool stopped = false;      ///< too many rollouts have failed, and no more begin
  bool wave_failed = false;  ///< a rollout has failed in a wave, and no other begins for its data
  std::string problems{};  ///< what cannot be read in the policy; empty when all of it can be read
  bool restored = false;   ///< the last good data were put back into a source
  /// What was restored, or why something cannot be; empty when nothing has had to be.
  std::string restore{};
  bool operator==(const PolicyFacts&) const = default;
};

/// The facts in a policy's status. They have been reported before, perhaps by another replica or an
/// earlier process.
template <class S>
PolicyFacts FactsOf(const S& status) {
  PolicyFacts facts{.waits = status.pending.value_or(0) > 0};
  for (const auto& condition : apimachinery::OrEmpty(status.conditions)) {
    if (condition.type == "Stopped") {
      facts.stopped = condition.status == "True";
    } else if (condition.type == "WaveFailed") {
      facts.wave_failed = condition.status == "True";
    } else if (condition.type == "Restored" && condition.reason != kNothingToRestore) {
      facts.restored = condition.status == "True";
      facts.restore = WithoutSnapshotNote(condition.message);
    } else if (condition.type == "Ready" && condition.status == "False") {
      facts.problems = condition.message;
    }
  }
  return facts;
}

/// The fields of one Event about a policy.
struct PolicyNews {
  events::EventType type = events::EventType::kNormal;
  std::string reason{};
  std::string note{};
  bool operator==(const PolicyNews&) const = default;
};

/// The Events for the changes from `before` to `now`; `state` provides the details. An Event marks
/// a beginning or an end: a change of the number of waiting rollouts causes none. Pure.
std::vector<PolicyNews> NewsBetween(const PolicyFacts& before, const PolicyFacts& now,
                                    const PolicyState& state);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_POLICY_POLICY_NEWS_H_
