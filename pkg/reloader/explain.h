/// @file
/// What would roll a workload, and why or why not.
#ifndef KUBEXX_RELOADER_EXPLAIN_H_
#define KUBEXX_RELOADER_EXPLAIN_H_

#include <optional>
#include <string>
#include <vector>

#include "kubexx/reloader/decision.h"
#include "kubexx/reloader/planner.h"
#include "kubexx/reloadpolicy/gate.h"

namespace kubexx::reloader {

/// One ConfigMap or Secret that a workload mentions or that a rule finds.
struct SourceExplanation {
  SourceId id{};
  bool exists = false;
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
  std::string last_rollout{};
  std::vector<SourceExplanation> sources{};
  std::vector<SettingExplanation> settings{};
  /// What is wrong with its annotations.
  std::vector<std::string> problems{};
  /// Some source is due.
  bool due = false;
  /// Why a rollout would wait now, as far as the workload's namespace tells.
  std::optional<reloadpolicy::Hold> hold{};
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
};

/// Puts the same questions as the operator does: of a process that has just started, so by what is
/// written on the workload. Pure.
Explanation Explain(const ExplainInput& input);

/// For people.
std::string ToText(const Explanation& explanation);
/// For programs: one JSON object.
std::string ToJson(const Explanation& explanation);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_EXPLAIN_H_
