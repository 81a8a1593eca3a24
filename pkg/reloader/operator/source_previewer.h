/// @file
/// Previews changes of sources by what a running operator knows.
#ifndef KUBEXX_RELOADER_OPERATOR_SOURCE_PREVIEWER_H_
#define KUBEXX_RELOADER_OPERATOR_SOURCE_PREVIEWER_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/reloader/model/changed_sources.h"
#include "kubexx/reloader/observe/preview.h"
#include "kubexx/reloader/plan/decision.h"
#include "kubexx/reloader/plan/planner.h"
#include "kubexx/reloader/plan/rollout_gate.h"
#include "kubexx/reloader/watch/caches.h"
#include "kubexx/reloader/watch/namespace_selector.h"
#include "kubexx/reloader/watch/source_absences.h"
#include "kubexx/reloader/watch/source_keys.h"
#include "kubexx/reloadpolicy/arbiter.h"

namespace kubexx::reloader {

/// Tells what a change of one source would roll. Thread-safe. Keeps references to its arguments.
class SourcePreviewer {
 public:
  /// Of more workloads that may use the source, so many are planned: all of them would take too
  /// long for somebody who waits.
  static constexpr std::size_t kMaxUsers = 200;
  /// After this time no more of them are planned: whoever writes the source waits for the answer.
  static constexpr base::Duration kPatience = std::chrono::milliseconds(4);

  struct Parts {
    const Caches& caches;
    const DecisionRules& rules;
    const std::set<std::string>& ignored_namespaces;
    /// Null: all namespaces are selected.
    const NamespaceSelector* namespaces = nullptr;
    /// The next three are as in Reconciler::Parts.
    RolloutGate* gate = nullptr;
    ValueDigestReader* value_digests = nullptr;
    SourceAbsences* absences = nullptr;
    /// A copy of what decides when rollouts begin; empty: they begin at once.
    std::function<reloadpolicy::Arbiter()> arbiter{};
    base::Clock& clock;
  };
  explicit SourcePreviewer(const Parts& parts) : parts_(parts) {}

  /// The preview of the change of one source. Empty where the operator does not watch the source,
  /// and where the source keeps its data. Of more than kMaxUsers workloads that may use it, and of
  /// more than can be planned within kPatience, it is about the first ones: see
  /// Preview::not_looked_at. Fails when a source that was asked for cannot be read.
  apimachinery::Result<Preview> Of(const ChangedSource& changed, const std::stop_token& stop) const;

 private:
  apimachinery::Result<void> WithSources(const Workload& workload, const ChangedSources* changed,
                                         const std::stop_token& stop,
                                         base::FunctionRef<void(const SourceLookup&)> use) const;
  /// The first kMaxUsers workloads that may use the source. Counts the others in `preview`.
  std::vector<Workload> UsersOf(const SourceId& source, Preview& preview) const;

  const Parts parts_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OPERATOR_SOURCE_PREVIEWER_H_
