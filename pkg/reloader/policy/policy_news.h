/// @file
/// What the users of a policy are told in Events.
#ifndef KUBEXX_RELOADER_POLICY_POLICY_NEWS_H_
#define KUBEXX_RELOADER_POLICY_POLICY_NEWS_H_

#include <string>
#include <vector>

#include "kubexx/events/recorder.h"
#include "kubexx/reloader/policy/policy_gate.h"

namespace kubexx::reloader {

/// The part of a policy's state whose changes are news. Its state when all is well is the default.
struct PolicyFacts {
  bool waits = false;      ///< some rollout waits because of it
  bool stopped = false;    ///< rollouts have failed, and no more begin
  std::string problems{};  ///< what of it cannot be read; empty when all can
  bool operator==(const PolicyFacts&) const = default;
};

/// The facts that a policy's status tells: what others were told last, perhaps by another replica
/// or an earlier process.
template <class S>
PolicyFacts FactsOf(const S& status) {
  PolicyFacts facts{.waits = status.pending.value_or(0) > 0};
  for (const auto& condition : status.conditions) {
    if (condition.type == "Stopped") {
      facts.stopped = condition.status == "True";
    } else if (condition.type == "Ready" && condition.status == "False") {
      facts.problems = condition.message;
    }
  }
  return facts;
}

/// One thing to tell of a policy; the fields of an Event.
struct PolicyNews {
  events::EventType type = events::EventType::kNormal;
  std::string reason{};
  std::string note{};
  bool operator==(const PolicyNews&) const = default;
};

/// What is new in `now`; `state` fills in the particulars. That more or fewer rollouts wait than
/// before is no news, so a policy is spoken of when something begins or ends only. Pure.
std::vector<PolicyNews> NewsBetween(const PolicyFacts& before, const PolicyFacts& now,
                                    const PolicyState& state);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_POLICY_POLICY_NEWS_H_
