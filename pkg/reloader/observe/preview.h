/// @file
/// Previews a change of ConfigMaps and Secrets: which workloads it would roll, in which order,
/// when, and what holds each of them.
#ifndef KUBEXX_RELOADER_OBSERVE_PREVIEW_H_
#define KUBEXX_RELOADER_OBSERVE_PREVIEW_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kubexx/reloader/model/changed_sources.h"
#include "kubexx/reloader/observe/forecast.h"
#include "kubexx/reloader/plan/decision.h"
#include "kubexx/reloader/plan/planner.h"
#include "kubexx/reloadpolicy/arbiter.h"

namespace kubexx::reloader {

/// A source that the change describes.
struct PreviewedSource {
  SourceId id{};
  bool exists = false;  ///< it is there at present
  ChangedKeys keys{};   ///< the names of keys whose values change
  /// The API server refuses a change of its data.
  bool is_immutable = false;
};

/// A workload that the change would roll.
struct PreviewedRollout {
  Forecast forecast{};
  std::vector<SourceId> causes{};  ///< the sources of the change that roll it
  bool was_due = false;            ///< a rollout is due already, without the change
  /// Clauses as in Explanation: why a rollout would be refused, would start no pods, or pods would
  /// follow later. Empty: it would not.
  std::string refused{};
  std::string left_alone{};
  std::string pause{};
  /// What is done in the pods instead of a rollout; empty: they are replaced.
  std::string in_place{};
};

/// Whether pods begin by it, now or later: it is neither refused nor left alone.
inline bool IsMade(const PreviewedRollout& rollout) {
  return rollout.refused.empty() && rollout.left_alone.empty();
}

/// A workload that uses a source of the change, or may, and would not be rolled.
struct PreviewedUser {
  WorkloadId workload{};
  SourceId source{};
  std::string why{};  ///< a clause
};

/// Everything that `preview` shows. Contains names of keys and no values.
struct Preview {
  std::vector<PreviewedSource> sources{};
  /// In the order in which they would begin.
  std::vector<PreviewedRollout> rollouts{};
  std::vector<PreviewedUser> others{};
  /// Further workloads that may use a source of the change and have not been looked at, and those
  /// that have been, where there are such.
  std::size_t not_looked_at = 0;
  std::size_t looked_at = 0;
  /// Objects of the input that are not sources, as "Deployment web".
  std::vector<std::string> ignored{};
  /// See Explanation::unread_policies.
  std::vector<std::string> unread_policies{};
  /// For what the operator rolls nothing, and why, as "namespace shop: ..."
  std::vector<std::string> not_watched{};
  /// Sources whose change may roll workloads of other namespaces, which are not looked at:
  /// "ConfigMap shared/settings: bank, shop".
  std::vector<std::string> elsewhere{};
  /// The operator whose flags the preview uses.
  std::string flags{};
};

/// The input of AddPreview, which only reads it.
struct PreviewInput {
  /// The changed sources of one namespace.
  const ChangedSources& changed;
  /// The workloads that may use one of them.
  const std::vector<Workload>& users;
  /// Calls the function with the sources as the workload sees them: at present, and with
  /// `is_after`, after the change. May fail, when something cannot be read.
  std::function<apimachinery::Result<void>(const Workload&, bool is_after,
                                           base::FunctionRef<void(const SourceLookup&)>)>
      with_sources;
  const DecisionRules& rules;
  const reloadpolicy::Arbiter& arbiter;
  base::WallTime now{};
  /// The digest of all data of a source before the change; kNoSource: there was none.
  std::function<Digest(const SourceId&)> before;
  /// Whether Preview::others is wanted, for whose texts each of these workloads is explained.
  bool with_others = true;
  /// Whether there is no time left, so that no more than the first workload is looked at. Empty:
  /// there is.
  std::function<bool()> is_over{};
};

/// Adds to `preview` what becomes of the workloads. It plans each as an operator does that runs: by
/// the present sources, and then by the changed ones. Fails as PreviewInput::with_sources does.
apimachinery::Result<void> AddPreview(const PreviewInput& input, Preview& preview);

/// The preview as text for people.
std::string ToText(const Preview& preview);
/// The preview as one JSON object for programs.
std::string ToJson(const Preview& preview);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OBSERVE_PREVIEW_H_
