/// @file
/// Writes digests of sources on workloads that are about to be stored, by what an operator knows.
#ifndef KUBEXX_RELOADER_OPERATOR_OBJECT_STAMPER_H_
#define KUBEXX_RELOADER_OPERATOR_OBJECT_STAMPER_H_

#include <set>
#include <stop_token>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/plan/decision.h"
#include "kubexx/reloader/plan/planner.h"
#include "kubexx/reloader/plan/rollout_gate.h"
#include "kubexx/reloader/plan/strategy.h"
#include "kubexx/reloader/watch/caches.h"
#include "kubexx/reloader/watch/namespace_selector.h"
#include "kubexx/reloader/watch/source_absences.h"
#include "kubexx/reloader/watch/source_keys.h"

namespace kubexx::reloader {

/// Finds the sources of a workload as the reconciler does, and stamps the workload. Thread-safe.
/// Keeps references to its arguments.
class ObjectStamper {
 public:
  struct Parts {
    const Caches& caches;
    PatternCache& patterns;
    const DecisionRules& rules;
    ReloadStrategy strategy = ReloadStrategy::kEnvVars;
    bool records = true;  ///< baselines are recorded at all
    const std::set<std::string>& ignored_namespaces;
    /// Null: all namespaces are selected.
    const NamespaceSelector* namespaces = nullptr;
    /// The next three are as in Reconciler::Parts.
    RolloutGate* gate = nullptr;
    ValueDigestReader* value_digests = nullptr;
    SourceAbsences* absences = nullptr;
    base::Clock& clock;
  };
  explicit ObjectStamper(const Parts& parts) : parts_(parts) {}

  /// See Operator::Stamp.
  apimachinery::Result<codec::JsonTree> Stamp(WorkloadKind kind, const codec::JsonTree& object,
                                              const std::stop_token& stop) const;

 private:
  /// Whether workloads in the namespace may be rolled, by this replica or another.
  bool IsToBeRolled(const std::string& space) const;
  /// Calls `use` with the sources as the workload sees them.
  apimachinery::Result<void> WithSources(const Workload& workload, const std::stop_token& stop,
                                         base::FunctionRef<void(const SourceLookup&)> use) const;

  const Parts parts_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OPERATOR_OBJECT_STAMPER_H_
