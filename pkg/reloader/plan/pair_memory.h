/// @file
/// The memory of one process about workloads and their sources.
#ifndef KUBEXX_RELOADER_PLAN_PAIR_MEMORY_H_
#define KUBEXX_RELOADER_PLAN_PAIR_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/reloader/plan/planner.h"

namespace kubexx::reloader {

/// Stores the Knowledge of all workloads. The work queue ensures that one thread at a time works on
/// a workload, while other threads may report changes of its sources. Thread-safe. Keeps an entry
/// for each pair of a workload and a source that a rule concerns, from its first plan or change on.
class PairMemory {
 public:
  /// A source of `workload` changed from `before`. An existing entry stays: it describes older
  /// data, which the workload has not been rolled for yet. The exception is an entry that a plan
  /// took from the present data because it knew nothing (PairState::taken_at), if those data were
  /// the result of this change or a later one; that happens because an informer stores a change
  /// before it calls its handlers.
  /// `now`: the data after the change, if they are known.
  void RecordChange(const WorkloadId& workload, const SourceId& source, const Digest& before,
                    const std::optional<Move>& now = std::nullopt);
  /// The source was written as `writes` tells. Returns whether pods of the workload may have begun
  /// during these writes, so that it is to be planned although the data may be as before. Does
  /// nothing for a workload about which nothing is known of the source.
  bool RecordUnseenWrites(const WorkloadId& workload, const SourceId& source,
                          const UnseenWrites& writes);
  /// A source was deleted at resource version `version`; 0: it is not known when. `last`: its data
  /// until then, with the version since which it had them; 0: not known. As for a change, an
  /// existing entry stays, except one that a plan took from the data of a source created later
  /// under the same name.
  void RecordEnd(const WorkloadId& workload, const SourceId& source, const Move& last,
                 std::uint64_t version);
  /// A source was made anew with these data after an earlier one of its name. That is a change only
  /// for pods that began before it, which the earlier one's end and a plan tell.
  void RecordCreation(const WorkloadId& workload, const SourceId& source, const Move& now);
  /// The resource versions start anew, because the API server's store was restored from a backup.
  void ForgetVersions(const WorkloadId& workload);
  /// A change of a pod template.
  struct TemplateChange {
    /// The change was made at this resource version or later; 0: not known.
    std::uint64_t since = 0;
    /// The change was made at this resource version or earlier; 0: not known.
    std::uint64_t until = 0;
    std::string before{};  ///< digest of the template before the change
    /// Digest of the template after the change.
    std::string now{};
    bool was_rolled_out = true;  ///< all pods were of the previous template
    /// The change is a rollout, made by any process of the operator or by stakater/Reloader.
    bool is_own = false;
    /// With `is_own`: the stamps that it set, where nothing else can have changed the template with
    /// it; see StampsOfOneRollout.
    std::map<std::string, std::string> stamps{};
    /// With `is_own`: the names of all stamps that it set, maybe among other changes; see
    /// StampsOfRollouts.
    std::set<std::string> all_stamps{};
    bool is_undo = false;  ///< the managed fields name somebody who undid a rollout
    /// The workload was paused when it got this template, so that no pod of it has begun yet.
    bool is_paused = false;
  };
  /// The further consequences of a template change.
  enum class TemplateNews : std::uint8_t {
    kNone,
    /// Somebody undid a rollout before it had ended. Pods that started with the earlier data live
    /// on, as that person wanted.
    kUndone,
    /// A rollout of the operator was set back before it had ended, and nothing names a person who
    /// wanted that. The rollout is due again, since pods that started with the earlier data live
    /// on.
    kSetBack,
  };
  /// Takes a change of the workload's pod template into account, and returns its consequences.
  TemplateNews TemplateChanged(const WorkloadId& workload, const TemplateChange& change);
  /// The workload, which was paused, was resumed at this version; 0: not known, or it may have been
  /// resumed meanwhile. If its template was written while it was paused, all pods of the template
  /// begin now.
  void Resumed(const WorkloadId& workload, std::uint64_t version);
  /// Something holds the rollout for these changes, or its write has failed. Pods that begin until
  /// it is made have their data, while others live on: if the data come back first, the workload is
  /// rolled all the same. Returns whether there are such pods, and this is news.
  bool LeaveDue(const WorkloadId& workload, const std::vector<Change>& changes);
  /// What an event tells of a workload: whether its pods begin one after the other.
  enum class PodsBegin : std::uint8_t {
    kNo,
    kYes,
    kOnlyAdded,  ///< none but those that are being added, if any are: see kAdded
    kAdded,      ///< as kYes: there are to be more, also if it is paused meanwhile
    kOnResume,  ///< it was resumed: they go on if a rollout was under way, or some were being added
  };
  void NotePods(const WorkloadId& workload, PodsBegin begin);
  /// A rollout of the workload that began before this process has not ended.
  void MarkUnfinished(const WorkloadId& workload);
  /// Another replica has recorded a baseline, which from now on counts more than what this process
  /// has concluded so far.
  void RecordedByOthers(const WorkloadId& workload);
  /// A baseline as it was seen on the workload in an event, in a cache or in an answer of the API
  /// server. A plan may see one before its event is handled.
  struct SeenRecord {
    std::uint64_t hash = 0;     ///< hash of the baseline's text; 0: there is none
    std::uint64_t version = 0;  ///< resource version of the workload; 0: not known
    /// It was written at this resource version or later; 0: not known.
    std::uint64_t since = 0;
    /// The plan left sources out (Plan::incomplete), of which the record still says what an earlier
    /// one said.
    bool is_partly_copied = false;
    static SeenRecord Of(std::string_view text, std::uint64_t version, std::uint64_t since = 0);
    /// The baseline that this process has written to carry out `plan`, or left out (`text` is
    /// empty).
    static SeenRecord OfPlan(const Plan& plan, std::string_view text, std::uint64_t version);
  };
  /// Returns whether the record is new: it is later than this replica's last write and than the
  /// last record that was seen, so another replica writes to the workload, too. Returns false for
  /// the first record that is seen.
  bool IsNewRecord(const WorkloadId& workload, const SeenRecord& record);
  /// This replica has written to the workload, which has `record` since then. A record with hash 0
  /// means that the earlier baseline is still there. What is copied from another replica's record
  /// may be newer than the caches of this one afterwards as well.
  void Wrote(const WorkloadId& workload, const SeenRecord& record);
  /// This replica has removed the baseline from the workload, which has resource version `version`
  /// since then; 0: not known.
  void TookAway(const WorkloadId& workload, std::uint64_t version);
  /// Another replica has rolled the workload, at resource version `version` or earlier, without
  /// recording a baseline: what this replica has concluded was true of pods that are gone. Of a
  /// source that has changed since then, the new pods have what it was before. 0: it is not known
  /// when.
  void RolledByOthers(const WorkloadId& workload, std::uint64_t version);
  /// Another replica has made a Job of the CronJob for a change, after everything that was written
  /// before resource version `since`, and has recorded that at version `until`: what is known of
  /// the sources by then counts also when somebody takes the record away, since nothing else on a
  /// CronJob tells of it. `since` 0: not known.
  void RunByOthers(const WorkloadId& cron_job, std::uint64_t since, std::uint64_t until);
  /// All pods of the workload are of the present template.
  void TemplateRolledOut(const WorkloadId& workload);
  /// This replica works on the workload in this tenure (see FreshReads). If it is a new tenure,
  /// another replica may have worked on the workload in between, and what it recorded is newer than
  /// what is known here.
  void BeginTenure(const WorkloadId& workload, std::uint64_t tenure);
  /// The workload existed before the process started.
  void MarkUnplanned(const WorkloadId& workload);
  /// The workload was created at resource version `version`, while the process was running: its
  /// pods start with the data that were written before.
  void MarkAdded(const WorkloadId& workload, std::uint64_t version);
  /// Whether the last plan found a pod template that is younger than the baseline: see
  /// Plan::is_released.
  bool IsReleased(const WorkloadId& workload) const;
  /// Returns a copy of what is known of the workload.
  Knowledge Get(const WorkloadId& workload) const;
  /// Takes over what a plan has found, except its changes. Returns false when a part of the plan is
  /// wrong because a change was reported while it was being made.
  bool Apply(const WorkloadId& workload, const Plan& plan);
  /// A write is about to be sent: what is known of its sources is uncertain until Confirm. Returns
  /// the sources for which this is so. `attempt`: how the write can be told from what was there
  /// before; its sources are those of `changes`, whatever it says.
  std::vector<SourceId> BeginWrite(const WorkloadId& workload, const std::vector<Change>& changes,
                                   Attempt attempt = {});
  /// The write has certainly not been made. `begun`: what BeginWrite returned for it.
  void CancelWrite(const WorkloadId& workload, const std::vector<SourceId>& begun);
  /// The write has been made. `rolled`: new pods start, with all data as they are now. `version`:
  /// the pod template was written, or the Job of a CronJob created, at this resource version; 0:
  /// not known. Of the sources that are not in `changes`, a change may have been told of since the
  /// plan: the pods began with it if it was made before.
  void Confirm(const WorkloadId& workload, const std::vector<Change>& changes, bool rolled,
               std::uint64_t version = 0);
  /// The workload was deleted, or replaced by another object.
  void Forget(const WorkloadId& workload);
  /// The number of pairs with an entry.
  std::size_t size() const;

 private:
  mutable base::Mutex mu_;
  std::map<WorkloadId, Knowledge> states_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_PAIR_MEMORY_H_
