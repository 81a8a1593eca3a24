/// @file
/// From events of informers to workloads that are to be looked at.
#ifndef KUBEXX_RELOADER_WATCH_EVENT_ROUTER_H_
#define KUBEXX_RELOADER_WATCH_EVENT_ROUTER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "kubexx/base/function_ref.h"
#include "kubexx/reloader/ha/held_shards.h"
#include "kubexx/reloader/observe/reloader_metrics.h"
#include "kubexx/reloader/plan/decision.h"
#include "kubexx/reloader/plan/pair_memory.h"
#include "kubexx/reloader/plan/set_backs.h"
#include "kubexx/reloader/watch/caches.h"
#include "kubexx/reloader/watch/namespace_selector.h"
#include "kubexx/reloader/watch/on_demand_lists.h"
#include "kubexx/reloader/watch/recent_changes.h"
#include "kubexx/reloader/watch/source_absences.h"

namespace kubexx::cache {
class RawEvent;
}

namespace kubexx::reloader {

/// Why a workload is to be looked at.
enum class Cause : std::uint8_t {
  kSourceEvent,
  kReleaseEvent,  ///< a source of the workload's own release: that may change the workload next
  kWorkloadEvent,
};

/// The type of an informer's event, for metrics.
EventType EventTypeOf(const cache::RawEvent& event);

/// Handles events of sources and workloads: remembers what changed and passes on the workloads
/// concerned. What changes in a namespace while it is not selected is not remembered: an operator
/// begins to look there when it becomes selected. Its callbacks run on the informers' threads,
/// several at once. Refers to everything it is given.
class EventRouter {
 public:
  struct Parts {
    const Caches& caches;
    PairMemory& memory;
    PatternCache& patterns;
    const DecisionRules& rules;
    const std::set<std::string>& ignored_namespaces;
    const ReloaderMetrics& metrics;
    /// Takes the changes that concern workloads that are not watched.
    OnDemandLists& on_demand;
    /// Null: whatever appears has been created.
    SourceAbsences* absences = nullptr;
    /// Null: all namespaces are selected.
    const NamespaceSelector* namespaces = nullptr;
    /// Null: a source's change never comes before the workload's that it is about.
    RecentChanges* recent = nullptr;
    /// Takes rollouts that were set back; null: they are made again whenever that happens.
    SetBacks* set_backs = nullptr;
    /// Null: this replica works on all workloads.
    const HeldShards* held_shards = nullptr;
    /// Must not block.
    std::function<void(const WorkloadId&, Cause)> note;
  };
  explicit EventRouter(Parts parts) : parts_(std::move(parts)) {}

  /// Waits for the workloads' first list before it handles a change, so that none is missed; until
  /// then the informer's events wait with it. Drops the event when `stop` is requested first.
  void OnSource(SourceType type, const cache::RawEvent& event, const std::stop_token& stop);
  /// A change that `on_demand` took, once the workloads have been listed.
  void OnListed(const SourceId& id, const std::optional<Digest>& before);
  /// Waits for the first list of the selected namespaces.
  void OnWorkload(WorkloadKind kind, const cache::RawEvent& event, const std::stop_token& stop);
  /// Of SecretProviderClasses: their annotations. Waits as OnSource.
  void OnProviderClass(const cache::RawEvent& event, const std::stop_token& stop);

 private:
  /// Whether changes in the namespace count now. Waits for the first list of those selected; false
  /// when `stop` is requested first.
  bool IsSelected(const std::string& namespace_, const std::stop_token& stop) const;
  /// Whether a source that appears, and did not when the informer began, has just been made.
  bool IsCreated(const cache::Object& source) const;

  using RawEvent = cache::RawEvent;

  /// Whether it could be read.
  bool OnSourceChange(SourceType type, const RawEvent& event);
  /// The same of the status of a pod that mounts a SecretProviderClass.
  bool OnPodStatus(const RawEvent& event);
  /// Of an update of a workload: whether its pods have been, or will be, made anew.
  void NoteTemplate(const Workload& before, const Workload& now, const RawEvent& event);
  /// The pod template of `workload`, its own or that of its Deployment, was changed.
  void NoteTemplateOf(const WorkloadId& workload, const PairMemory::TemplateChange& change);
  /// All that an event says of the workload is known. `concerns`: a rule applies to it.
  void NoteTold(const Workload& workload, bool concerns);
  /// Of an update of a workload: whether the replica that works on it has rolled it, or recorded
  /// what it has.
  void NoteRecord(const Workload& before, const Workload& now, std::uint64_t version);
  /// The workload was made, or changed, at `version` or later: changes of sources since then, which
  /// were told of before, may be of sources that nobody knew it to use.
  void NoteWhatCameBefore(const Workload& workload, std::uint64_t version);
  /// Whether a rule may ask for the source.
  bool MayUse(const Workload& workload, const std::vector<SourceId>& referenced,
              const SourceId& source) const;
  /// Whether the source is gone and that rolls nothing: it is remembered, since one that is made
  /// anew with other data is a change.
  bool IsOnlyEnd(const Source& source, const Digest* before) const;
  /// `before` is null when the source has just appeared. `last`: of a source that is gone, the
  /// version of its last data.
  void NoteWorkloads(const Source& source, const Digest* before, std::uint64_t last = 0);
  /// Records the change for those that the caches have, and notes the ones that `wanted` says yes
  /// to.
  void NoteKnown(const Source& source, const Digest* before,
                 base::FunctionRef<bool(const WorkloadId&)> wanted, std::uint64_t last = 0);
  /// Why a workload is to be looked at that uses the source.
  Cause CauseOf(const Source& source, const WorkloadId& workload) const;
  /// One change, or the end, of a source that a workload uses.
  void Record(const WorkloadId& workload, const SourceId& source, const Move& before,
              const Move& now);
  /// The workload is of an earlier version than before: the store has been restored.
  void ForgetVersions(const WorkloadId& workload);

  Parts parts_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WATCH_EVENT_ROUTER_H_
