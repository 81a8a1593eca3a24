/// @file
/// Explains what would roll a workload, and why or why not.
#ifndef KUBEXX_RELOADER_OBSERVE_EXPLAIN_H_
#define KUBEXX_RELOADER_OBSERVE_EXPLAIN_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kubexx/reloader/plan/decision.h"
#include "kubexx/reloader/plan/planner.h"
#include "kubexx/reloadpolicy/arbiter.h"

namespace kubexx::reloader {

/// A source that a workload references or that a rule selects.
struct SourceExplanation {
  SourceId id{};
  bool exists = false;
  /// The source cannot be read, or it exists and is not watched.
  bool unknown = false;
  Verdict verdict = Verdict::kNoRule;
  /// The container that has the source's variable; empty when no reference leads to a container.
  std::string container{};
  /// The keys that count, if not all do; empty: all; kNoKeys: none.
  std::string keys{};
  /// The place that says that only the keys count which the workload uses; empty: none does.
  std::string by_use{};
  /// The digest of the source that is recorded on the workload; empty when none is.
  std::string recorded{};
  /// The present digest; empty when the source does not exist.
  std::string digest{};
  /// The source causes a rollout that has not been made yet.
  bool due = false;
  /// With `due`: the present data are those that are recorded, but the source was written since
  /// then, and pods may have begun in between. An operator that ran meanwhile knows what they have.
  bool in_doubt = false;
  /// The record on the workload has no room for the source.
  bool left_out = false;
  /// A sentence: what a change of the source causes, and what the last change has caused.
  std::string summary{};
};

/// A setting that applies, and the place that specifies it.
struct SettingExplanation {
  std::string name{};
  std::string value{};
  std::string origin{};
};

/// Everything that `explain` shows of one workload.
struct Explanation {
  WorkloadId workload{};
  /// Why the operator never rolls the workload (see WhyNotWatched). The other members are empty
  /// then.
  std::string not_watched{};
  std::string phase{};  ///< of the workload's rollout
  /// Why the last rollout has failed; empty when it has not, or the workload has become healthy
  /// since.
  std::string failure{};
  /// When the operator last rolled the workload. Empty when no policy made it record that, or no
  /// policy in force does so any more.
  std::string last_rollout{};
  /// Who has paused the workload, and until when; empty when spec.paused is not set.
  std::string pause{};
  /// Why the operator will not roll the workload until its annotations change; empty when it will.
  std::string refused{};
  /// A clause that says why a rollout would only be recorded and start no pods; empty when it would
  /// start some.
  std::string left_alone{};
  /// What is done in the pods instead of a rollout, for sources whose summaries do not say
  /// otherwise; empty: every change is a rollout.
  std::string in_place{};
  std::vector<SourceExplanation> sources{};
  std::vector<SettingExplanation> settings{};
  /// What is wrong with the workload's annotations.
  std::vector<std::string> problems{};
  /// Some source causes a rollout that has not been made yet.
  bool due = false;
  /// Why a rollout would have to wait now, judging by the workload's namespace alone.
  std::optional<reloadpolicy::Hold> hold{};
  /// Further reasons, each of which is enough: other sources that are paused.
  std::vector<reloadpolicy::Hold> further_holds{};
  /// Which sources wait for a reload in place: a clause. Their changes are rollouts, and the
  /// program is asked for, or has refused, other data that new pods would begin with
  /// (kReloadOnRefusal). Empty: none does.
  std::string awaits_reload{};
  /// The types of policies that the caller may not read here, such as "ClusterReloadPolicies". The
  /// explanation does not contain what they say, and it is unknown whether they hold the workload
  /// back.
  std::vector<std::string> unread_policies{};
  /// The operator whose flags the explanation uses.
  std::string flags{};
  /// What the operator has written to the status of policies, such as "ReloadPolicy ns/p: Paused:
  /// ...".
  std::vector<std::string> reported{};
};

struct WaveLines;

/// The input of Explain, which only reads it.
struct ExplainInput {
  const Workload& workload;
  SourceLookup sources;
  const DecisionRules& rules;
  const reloadpolicy::Arbiter& arbiter;
  base::WallTime now{};
  /// The value of --resource-label-selector. `sources` contains only the sources that it selects.
  std::string source_selector{};
  /// See IsPausedByOthers.
  bool paused_by_others = false;
  /// Returns the workloads that may use a source, to find those with a lower order. Empty: no other
  /// workloads are known.
  std::function<std::vector<Workload>(const SourceId&)> users{};
  /// Whether another workload must be rolled for a source and has not been yet. Empty: judged by
  /// `sources`, as if the same keys counted for it.
  std::function<bool(const Workload&, const SourceId&)> needs_rollout{};
  /// What the operator knows beyond what is written on the workload.
  Knowledge known{};
  /// Keeps what Explain finds out about waves, for further questions about the same moment: with
  /// the same sources, rules, arbiter, `users` and `needs_rollout`. Null: it is found out anew.
  WaveLines* wave_lines = nullptr;
};

/// What stands in the way of a rollout of the workload, whichever source it is for: the members of
/// Explanation with these names.
struct RolloutObstacles {
  std::string pause{};
  std::string refused{};
  std::string left_alone{};
};
/// The part of Explain that needs neither a plan nor the sources. Pure.
RolloutObstacles ObstaclesTo(const ExplainInput& input);

/// Answers as an operator would that knows nothing but `known` and what is written on the workload.
/// Pure.
Explanation Explain(const ExplainInput& input);

/// The explanation as text for people.
std::string ToText(const Explanation& explanation);
/// The explanation as one JSON object for programs.
std::string ToJson(const Explanation& explanation);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OBSERVE_EXPLAIN_H_
