/// @file
/// What would roll a workload, and why or why not.
#ifndef KUBEXX_RELOADER_OBSERVE_EXPLAIN_H_
#define KUBEXX_RELOADER_OBSERVE_EXPLAIN_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kubexx/reloader/plan/decision.h"
#include "kubexx/reloader/plan/planner.h"
#include "kubexx/reloadpolicy/gate.h"

namespace kubexx::reloader {

/// One ConfigMap or Secret that a workload mentions or that a rule finds.
struct SourceExplanation {
  SourceId id{};
  bool exists = false;
  /// It cannot be read, or is there and not watched.
  bool unknown = false;
  Verdict verdict = Verdict::kNoRule;
  /// The container that carries its variable; empty when no reference leads to one.
  std::string container{};
  /// Only these of its keys count; empty: all.
  std::string keys{};
  /// What is recorded of it on the workload: a digest, or empty.
  std::string recorded{};
  /// Its digest now; empty when it does not exist.
  std::string digest{};
  /// It is the cause of a rollout that is due.
  bool due = false;
  /// What is recorded on the workload has no room for it.
  bool left_out = false;
  /// In a sentence: what a change of it does, and what has become of the last one.
  std::string summary{};
};

/// A setting in force, and where it comes from.
struct SettingExplanation {
  std::string name{};
  std::string value{};
  std::string origin{};
};

/// All about one workload.
struct Explanation {
  WorkloadId workload{};
  /// Why the operator leaves it alone whatever happens (see WhyNotWatched); the rest is empty then.
  std::string not_watched{};
  std::string phase{};  ///< of its rollout
  /// Why its last rollout has failed; empty when it has not, or is mended.
  std::string failure{};
  /// When the operator last rolled it, as far as a policy has made it write that down, and some
  /// policy in force still does; else empty.
  std::string last_rollout{};
  /// Whose pause it is in, and until when; empty when spec.paused is not set.
  std::string pause{};
  /// Why the operator will not roll it whatever is due, until its annotations change; empty when it
  /// will.
  std::string refused{};
  /// In a clause, why a rollout that is due is only noted, and nothing runs by it; empty when
  /// something does.
  std::string left_alone{};
  std::vector<SourceExplanation> sources{};
  std::vector<SettingExplanation> settings{};
  /// What is wrong with its annotations.
  std::vector<std::string> problems{};
  /// Some source is due.
  bool due = false;
  /// Why a rollout would wait now, as far as the workload's namespace tells.
  std::optional<reloadpolicy::Hold> hold{};
  /// The types of policies that may not be read here, "ClusterReloadPolicies" for example: what
  /// they say about the workload is not in the answer, and whether it may be rolled is not known.
  std::vector<std::string> unread_policies{};
  /// Whose flags the answer goes by.
  std::string flags{};
  /// What the operator has written to the status of policies: "ReloadPolicy ns/p: Paused: ...".
  std::vector<std::string> reported{};
};

/// What explaining needs; all of it is only read.
struct ExplainInput {
  const Workload& workload;
  SourceLookup sources;
  const DecisionRules& rules;
  const reloadpolicy::Gate& gate;
  base::WallTime now{};
  /// --resource-label-selector; `sources` has only what it selects.
  std::string source_selector{};
  /// See IsPausedByOthers.
  bool paused_by_others = false;
  /// The workloads that may use a source, for what comes before this one; empty: none is known.
  std::function<std::vector<Workload>(const SourceId&)> users{};
};

/// Puts the same questions as the operator does: of a process that has just started, so by what is
/// written on the workload. Pure.
Explanation Explain(const ExplainInput& input);

/// For people.
std::string ToText(const Explanation& explanation);
/// For programs: one JSON object.
std::string ToJson(const Explanation& explanation);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OBSERVE_EXPLAIN_H_
