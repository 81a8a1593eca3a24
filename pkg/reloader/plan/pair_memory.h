/// @file
/// What the process remembers of workloads and their sources.
#ifndef KUBEXX_RELOADER_PLAN_PAIR_MEMORY_H_
#define KUBEXX_RELOADER_PLAN_PAIR_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/reloader/plan/planner.h"

namespace kubexx::reloader {

/// The Knowledge of all workloads. One thread at a time works on a workload (the queue sees to
/// that) while others report changes of its sources. Thread-safe. Holds an entry for each pair that
/// a rule asks for, once it has been planned or has changed.
class PairMemory {
 public:
  /// A source of `workload` changed from `before`. What is known already stays: it is older and
  /// still unacted on. Not so what a plan took from the present data because it knew nothing
  /// (PairState::taken_at), when that was this change's, or a later one's: the store of an informer
  /// has a change before its handlers are told.
  /// `now`: what it changed to, when that is known.
  void RecordChange(const WorkloadId& workload, const SourceId& source, const Digest& before,
                    const std::optional<Move>& now = std::nullopt);
  /// A source was deleted at `version`; 0: it is not known when. `last`: its data until then, and
  /// since when it had them; 0: that is not known. As of a change, what is known already stays, but
  /// not what a plan took from data that it was made anew with.
  void RecordEnd(const WorkloadId& workload, const SourceId& source, const Move& last,
                 std::uint64_t version);
  /// The versions begin anew: the store has been restored.
  void ForgetVersions(const WorkloadId& workload);
  /// A change of a pod template.
  struct TemplateChange {
    std::uint64_t since = 0;  ///< it was made at this resource version or later; 0: not known
    std::uint64_t until = 0;  ///< and at this one or earlier; 0: not known
    std::string before{};     ///< digests of the template
    std::string now{};
    bool was_rolled_out = true;  ///< the template before had made all pods
    /// A rollout of the operator, of whichever process or of stakater/Reloader.
    bool is_own = false;
    bool is_undo = false;  ///< somebody is named who undoes what was rolled out
  };
  /// What a change of a template did besides.
  enum class TemplateNews : std::uint8_t {
    kNone,
    /// A rollout was undone before it was through: pods that began with other data, those from
    /// before, live on, as whoever undid it wanted.
    kUndone,
    /// A rollout of the operator was set back before it was through, and nobody is named who wanted
    /// that: it is due once more, since pods that began with the data from before live on.
    kSetBack,
  };
  TemplateNews TemplateChanged(const WorkloadId& workload, const TemplateChange& change);
  /// An event of the workload has that pod template, and everything that it says is known.
  /// `concerns`: the workload may be rolled; of others nothing new is remembered.
  void Told(const WorkloadId& workload, const TemplateVersion& version, bool concerns);
  /// What to do about a workload whose template in the store of an informer is that one.
  enum class Telling : std::uint8_t {
    kTold,  ///< plan it
    /// An event of the template is on the way: a store has an object before its handlers are told.
    /// A plan would not know yet who made the template, or whether it came back.
    kOnTheWay,
    /// It has been asked for kMostLooks times: the event is lost. Plan it; said once.
    kLost,
  };
  static constexpr std::uint32_t kMostLooks = 200;
  Telling LookFor(const WorkloadId& workload, const TemplateVersion& version);
  /// A rollout of the workload, which was there before the process, has not ended.
  void MarkUnfinished(const WorkloadId& workload);
  /// Another replica has recorded a baseline: it counts more than what this one has concluded so
  /// far.
  void RecordedByOthers(const WorkloadId& workload);
  /// A baseline that the workload has, as an event, a cache or the server shows it: a plan may see
  /// one before its event is told.
  struct SeenRecord {
    std::uint64_t hash = 0;     ///< of its text; 0: there is none
    std::uint64_t version = 0;  ///< the workload's; 0: not known
    static SeenRecord Of(std::string_view text, std::uint64_t version);
  };
  /// Whether it is new and later than this replica's own last write, and than what it has seen:
  /// another one writes to the workload, too. The first one that is seen is not.
  bool IsNewRecord(const WorkloadId& workload, const SeenRecord& record);
  /// This replica has written to the workload, which has `record` since; without one the one from
  /// before is still there.
  void Wrote(const WorkloadId& workload, const SeenRecord& record);
  /// Another replica has rolled the workload and recorded no baseline: what this one has concluded
  /// was true of pods that are gone.
  void RolledByOthers(const WorkloadId& workload);
  /// All pods are of the present template.
  void TemplateRolledOut(const WorkloadId& workload);
  /// This replica works on the workload in that tenure (see FreshReads). Others may have in
  /// between, so that what they recorded is newer than what is known here.
  void BeginTenure(const WorkloadId& workload, std::uint64_t tenure);
  /// The workload was there before the process.
  void MarkUnplanned(const WorkloadId& workload);
  /// The workload was made at `version`, while the process runs: its pods begin with what was
  /// written before.
  void MarkAdded(const WorkloadId& workload, std::uint64_t version);
  Knowledge Get(const WorkloadId& workload) const;
  /// Takes over what a plan found, changes apart. False when the plan is wrong about something: a
  /// change was told of while it was made.
  bool Apply(const WorkloadId& workload, const Plan& plan);
  /// A write is about to be sent: from now on nothing is certain until Confirm. The sources that
  /// this is about.
  std::vector<SourceId> BeginWrite(const WorkloadId& workload, const std::vector<Change>& changes);
  /// The write has certainly not arrived. `begun`: what BeginWrite said of it.
  void CancelWrite(const WorkloadId& workload, const std::vector<SourceId>& begun);
  /// The write has arrived. `rolled`: new pods begin, with all data as they are now.
  void Confirm(const WorkloadId& workload, const std::vector<Change>& changes, bool rolled);
  /// The workload is gone, or another has taken its place.
  void Forget(const WorkloadId& workload);
  /// Pairs with an entry.
  std::size_t size() const;

 private:
  mutable base::Mutex mu_;
  std::map<WorkloadId, Knowledge> states_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_PAIR_MEMORY_H_
