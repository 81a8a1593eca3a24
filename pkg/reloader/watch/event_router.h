/// @file
/// Turns events of informers into workloads that a worker must look at.
#ifndef KUBEXX_RELOADER_WATCH_EVENT_ROUTER_H_
#define KUBEXX_RELOADER_WATCH_EVENT_ROUTER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "kubexx/base/clock.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/reloader/ha/held_shards.h"
#include "kubexx/reloader/history/history_keeper.h"
#include "kubexx/reloader/observe/reloader_metrics.h"
#include "kubexx/reloader/plan/decision.h"
#include "kubexx/reloader/plan/pair_memory.h"
#include "kubexx/reloader/plan/set_backs.h"
#include "kubexx/reloader/plan/told_templates.h"
#include "kubexx/reloader/watch/caches.h"
#include "kubexx/reloader/watch/namespace_selector.h"
#include "kubexx/reloader/watch/on_demand_lists.h"
#include "kubexx/reloader/watch/recent_changes.h"
#include "kubexx/reloader/watch/source_absences.h"

namespace kubexx::cache {
class RawEvent;
}

namespace kubexx::reloader {

/// The reason for which a worker must look at a workload.
enum class Cause : std::uint8_t {
  kSourceEvent,
  /// A source of the workload's own release has changed: the release may change the workload next.
  kReleaseEvent,
  kWorkloadEvent,
};

/// The type of an informer's event, as metrics show it.
EventType EventTypeOf(const cache::RawEvent& event);

/// Handles events of sources and workloads: stores what has changed and passes on the workloads
/// concerned. Changes in a namespace that is not selected are not stored; the operator begins to
/// look at a namespace when it is selected. The callbacks run on the informers' threads, several at
/// a time. Keeps references to its arguments.
class EventRouter {
 public:
  struct Parts {
    const Caches& caches;
    PairMemory& memory;
    /// Is told of each pod template of which everything has been stored.
    ToldTemplates& told;
    PatternCache& patterns;
    const DecisionRules& rules;
    const std::set<std::string>& ignored_namespaces;
    const ReloaderMetrics& metrics;
    /// Takes the changes that concern workloads which are not watched.
    OnDemandLists& on_demand;
    /// Null: every source that appears has been created.
    SourceAbsences* absences = nullptr;
    /// Null: all namespaces are selected.
    const NamespaceSelector* namespaces = nullptr;
    /// Null: the event of a source never arrives before that of the workload which began to use it.
    RecentChanges* recent = nullptr;
    /// Informed of rollouts that were set back; null: nobody is.
    SetBacks* set_backs = nullptr;
    /// Null: this replica works on all workloads.
    const HeldShards* held_shards = nullptr;
    /// Is told which keys change, and which rollouts end; null: no history is kept.
    HistoryKeeper* history = nullptr;
    /// The time of what is seen.
    base::Clock& clock = base::Clock::Real();
    /// Called with each workload to look at. Must not block.
    std::function<void(const WorkloadId&, Cause)> note;
  };
  explicit EventRouter(Parts parts) : parts_(std::move(parts)) {}

  /// Returns the handler of informers of the type, through which an event comes from the informer
  /// straight to the router, which must outlive it. The handler waits for the workloads' first list
  /// before it handles an event, so that no workload is missed; until then the informer's other
  /// events wait, too. It drops the event when `stop` is requested first.
  std::function<void(const cache::RawEvent&)> SourceHandler(SourceType type, std::stop_token stop);
  /// Handles a change that `on_demand` has taken, after the workloads have been listed.
  void OnListed(const SourceId& id, const std::optional<Digest>& before);
  /// Handles an event of a workload. Waits for the first list of the selected namespaces.
  void OnWorkload(WorkloadKind kind, const cache::RawEvent& event, const std::stop_token& stop);
  /// Handles an event of a SecretProviderClass, whose annotations matter. Waits as the handler of
  /// a source does.
  void OnProviderClass(const cache::RawEvent& event, const std::stop_token& stop);

 private:
  /// Whether changes in the namespace count now. Waits for the first list of selected namespaces;
  /// returns false when `stop` is requested first.
  bool IsSelected(const std::string& namespace_, const std::stop_token& stop) const;
  /// Whether a source that appears was just created, as opposed to one that existed before its
  /// informer started.
  bool IsCreated(const cache::RawEvent& event) const;

  using RawEvent = cache::RawEvent;

  void OnSource(SourceType type, const RawEvent& event, const std::stop_token& stop);
  /// Handles a change. Returns whether the object could be read.
  bool OnSourceChange(SourceType type, const RawEvent& event);
  /// Handles an event of a source for the workloads of other namespaces that name it, as far as the
  /// source allows them to. To give the permission, to take it back and to delete the source change
  /// nothing by themselves: the workloads concerned are planned, and compare what they have had
  /// with what they may see. The namespace of the source need not be selected; theirs must.
  void OnForeign(SourceType type, const RawEvent& event, const std::stop_token& stop);
  /// The same for the workloads that know the source by `id`; null: it is not there, before or now.
  void OnForeignChange(const SourceId& id, const Source* before, const Source* now,
                       const RawEvent& event);
  /// Stores for the history which keys an event changes, and who changed them.
  void NoteKeys(SourceType type, const RawEvent& event);
  /// Does the same as OnSourceChange for the status of a pod that mounts a SecretProviderClass.
  bool OnPodStatus(const RawEvent& event);
  /// Handles an update of a workload: stores whether its pods have been or will be replaced.
  void NoteTemplate(const Workload& before, const Workload& now, const RawEvent& event);
  /// Handles an update of a workload: stores whether its pods begin one after the other.
  void NotePods(const Workload& before, const Workload& now, const RawEvent& event);
  /// Stores a change of the template of `now`, also for the Rollouts that use it.
  void NoteTemplateWith(const Workload& now, const PairMemory::TemplateChange& change);
  /// Stores a change of the workload's pod template, which may be its own or its Deployment's.
  void NoteTemplateOf(const WorkloadId& workload, const PairMemory::TemplateChange& change);
  /// Handles an update of a workload: stores whether another replica has rolled it, or recorded a
  /// baseline on it.
  void NoteRecord(const Workload& before, const Workload& now, const RawEvent& event);
  /// The workload was created or changed at resource version `version` or later. Handles the
  /// changes of sources since then whose events arrived before it was known that the workload uses
  /// the sources.
  void NoteWhatCameBefore(const Workload& workload, std::uint64_t version);
  /// What an event may spend on compiling and matching lists: these threads serve all namespaces,
  /// and whoever may write a workload chooses its expressions. What is beyond it is left to the
  /// workers.
  class MatchBudget {
   public:
    /// Whether there is enough left to match `name`, and takes it. False for null, a list that is
    /// not compiled yet.
    bool Take(const PatternList* list, std::string_view name) {
      return list != nullptr && Take(list->StepsFor(name));
    }
    /// The same for compiling a list that IsQuicklyCompiled, which takes about a microsecond for
    /// each byte.
    bool TakeCompiling(std::string_view list) { return Take(list.size() * 256); }

   private:
    bool Take(std::size_t steps) {
      if (steps > left_) {
        return false;
      }
      left_ -= steps;
      return true;
    }

    std::size_t left_ = 2'000'000;  ///< steps: some 10 ms at most
  };
  /// The list with this text, compiled; null where that is left to the workers.
  std::shared_ptr<const PatternList> ListFor(const std::string& text, MatchBudget& budget) const;
  /// Whether a rule may apply to the source.
  bool MayUse(const Workload& workload, const std::vector<SourceId>& referenced,
              const SourceId& source, MatchBudget& budget) const;
  /// Whether the source was deleted and that rolls nothing. Then its data are stored nevertheless,
  /// because creating it again with other data is a change.
  bool IsOnlyEnd(const Source& source, const Move* before) const;
  /// Handles a change of a source. `before`: the data until then, for a deleted source with the
  /// resource version since which it had them; null when the source has just appeared.
  void NoteWorkloads(const Source& source, const Move* before);
  /// Handles a write of a source that has not changed its data: passes on the workloads whose
  /// baseline a process that starts later would doubt for that.
  void NoteDoubted(const SourceId& source);
  /// Handles writes of a source of which only the outcome is known, and passes on the workloads
  /// whose pods may have begun with what the source was in between.
  void NoteUnseenWrites(const SourceId& source, const UnseenWrites& writes);
  /// Stores the change for the workloads that the caches contain, and passes on those for which
  /// `wanted` returns true.
  void NoteKnown(const Source& source, const Move* before,
                 base::FunctionRef<bool(const WorkloadId&)> wanted);
  /// The reason for which a worker must look at a workload that uses the source.
  Cause CauseOf(const Source& source, const WorkloadId& workload) const;
  /// Stores one change, or the deletion, of a source that a workload uses.
  void Record(const WorkloadId& workload, const SourceId& source, const Move& before,
              const Move& now);
  /// Somebody who owns the pod template has written something else of the workload: its managed
  /// fields have another time for the template.
  void NoteTemplateTime(const Workload& before, const Workload& now);
  /// The workload has an earlier resource version than before: the API server's store was restored
  /// from a backup.
  void ForgetVersions(const WorkloadId& workload);

  Parts parts_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WATCH_EVENT_ROUTER_H_
