/// @file
/// Brings one workload up to date with its sources.
#ifndef KUBEXX_RELOADER_OPERATOR_RECONCILER_H_
#define KUBEXX_RELOADER_OPERATOR_RECONCILER_H_

#include <cstdint>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/subscription.h"
#include "kubexx/reloader/ha/held_shards.h"
#include "kubexx/reloader/history/history_keeper.h"
#include "kubexx/reloader/in_place/in_place_reloads.h"
#include "kubexx/reloader/in_place/in_place_verdict.h"
#include "kubexx/reloader/in_place/reload_action.h"
#include "kubexx/reloader/observe/bad_item_news.h"
#include "kubexx/reloader/observe/reloader_metrics.h"
#include "kubexx/reloader/operator/awaited_templates.h"
#include "kubexx/reloader/operator/held_up_plans.h"
#include "kubexx/reloader/operator/retries.h"
#include "kubexx/reloader/plan/baseline_schedule.h"
#include "kubexx/reloader/plan/decision.h"
#include "kubexx/reloader/plan/full_baselines.h"
#include "kubexx/reloader/plan/pair_memory.h"
#include "kubexx/reloader/plan/rollout_gate.h"
#include "kubexx/reloader/plan/set_backs.h"
#include "kubexx/reloader/plan/strategy.h"
#include "kubexx/reloader/plan/told_templates.h"
#include "kubexx/reloader/watch/caches.h"
#include "kubexx/reloader/watch/source_keys.h"
#include "kubexx/reloader/write/fresh_reads.h"
#include "kubexx/reloader/write/notifier.h"
#include "kubexx/reloader/write/pause.h"
#include "kubexx/reloader/write/writer.h"

namespace kubexx::reloader {

/// Plans and makes the write for a workload. Level-triggered: the result depends only on the caches
/// and the memory, not on the event that triggered it. Thread-safe as long as no two threads
/// reconcile the same workload. Keeps references to its arguments.
class Reconciler {
 public:
  struct Parts {
    const Caches& caches;
    PairMemory& memory;
    ToldTemplates& told;
    PatternCache& patterns;
    const DecisionRules& rules;
    const ReloaderMetrics& metrics;
    WorkloadWriter& writer;
    ReloadStrategy strategy;
    base::Clock& clock;
    const WriteObservers& observers;
    /// Null: every rollout begins at once.
    RolloutGate* gate = nullptr;
    /// Reports which shards another replica takes over; null: there is no other replica.
    HeldShards* held_shards = nullptr;
    BaselineRecording record_baselines = BaselineRecording::kWithRollouts;
    /// Decides when to record baselines that are not written together with a rollout.
    BaselineSchedule& recording;
    /// Null: a rollout that was set back is made again at once, however often that happens.
    SetBacks* set_backs = nullptr;
    /// Null: the operator pauses nothing.
    Pauses* pauses = nullptr;
    /// Null: the reconciler relies on what the caches say about workloads.
    FreshReads* fresh_reads = nullptr;
    /// Null: lists of keys have no effect.
    ValueDigestReader* value_digests = nullptr;
    /// Null: a source that the caches do not have counts as not existing.
    SourceAbsences* absences = nullptr;
    /// Null: no history is kept on workloads, and what is there is taken away with their next
    /// rollouts.
    HistoryKeeper* history = nullptr;
    /// Null: every change is carried out by a rollout.
    InPlaceReloads* in_place = nullptr;
  };
  enum class Outcome : std::uint8_t {
    kNothing,  ///< there was nothing to write
    kWritten,  ///< the workload was rolled
    kRetry,    ///< the write failed; try again later
    kRefused,  ///< an annotation is invalid: do nothing until an event shows that it has changed
    /// An event that is on its way may show that there is nothing to do: reconcile again after
    /// Answer::again, as if the key had not been handled.
    kPutOff,
  };
  struct Answer {
    Outcome outcome = Outcome::kNothing;
    /// With kNothing, and with kWritten when the record is missing: look again after this time,
    /// unless it is zero.
    base::Duration again{0};
    /// With kRetry: the kind of failure.
    Retries::Failure failure = Retries::Failure::kPasses;
  };

  explicit Reconciler(const Parts& parts);

  /// Whether the workload must not be reconciled yet, because the event with its present pod
  /// template has not been handled. Ask again shortly. See ToldTemplates::LookFor.
  bool AwaitsEvent(const WorkloadId& id) const;
  /// The circumstances of a call of Reconcile.
  struct Call {
    std::uint64_t tenure = 0;  ///< see FreshReads
    /// The answer may be kPutOff. False when there is no time to wait.
    bool may_put_off = true;
  };
  /// Reconciles the workload.
  Answer Reconcile(const WorkloadId& id, const std::stop_token& stop, const Call& call);
  /// Whether the workload must be rolled for the source and has not been yet, according to the
  /// caches. Also returns true when this cannot be determined at present, but a retry may help.
  bool NeedsRollout(const Workload& workload, const SourceId& source) const;
  /// Whether changes of the source roll the workload, whatever the data are.
  bool Concerns(const Workload& workload, const SourceId& source) const;

 private:
  Answer Plan(const WorkloadId& id, base::TimePoint begin, const std::stop_token& stop,
              const Call& call);
  Answer PlanAndWrite(std::optional<Workload> workload, base::TimePoint begin,
                      const std::stop_token& stop, const Call& call);
  /// Gives back the place that the gate may have reserved for the workload, because the workload
  /// does not ask for it now.
  void KeepNoPlace(const WorkloadId& id);
  /// Plans for the workload as the caches have it. If the plan contains a write that must be based
  /// on certain knowledge, reads the workload from the API server and plans again. Resets
  /// `workload` when that no longer exists.
  apimachinery::Result<reloader::Plan> PlanForCertain(std::optional<Workload>& workload,
                                                      const std::stop_token& stop,
                                                      std::uint64_t tenure) const;
  /// Plans for the workload as the API server has it. Resets `workload` when that no longer exists.
  /// Returns std::nullopt when the operator may not read it.
  apimachinery::Result<std::optional<reloader::Plan>> PlanAnew(std::optional<Workload>& workload,
                                                               const std::stop_token& stop,
                                                               std::uint64_t tenure) const;
  /// What a workload that was just read has, and no event has told of yet: see Knowledge.
  struct Untold {
    std::set<std::string> stamps{};
    std::set<std::string> stamps_of_others{};
    bool has_template = false;
    bool has_later_deployment = false;
  };
  /// How to handle sources for which the baseline may be newer than the caches (Plan::doubtful).
  enum class Doubts : std::uint8_t {
    kSettle,  ///< compare them with the API server's data, and fail when they differ
    /// Plan without comparing them.
    kLeave,
  };
  /// Fails when something had to be read and could not be read, other than single sources that the
  /// plan leaves out then (Plan::incomplete).
  apimachinery::Result<reloader::Plan> PlanFor(const Workload& workload, Doubts doubts,
                                               const std::stop_token& stop,
                                               const Untold& untold) const;
  /// Notes and reports why a plan is missing or not complete.
  void ReportNotPlanned(const WorkloadId& id, const apimachinery::Status& why);
  /// Handles a plan that could not be made.
  Answer NotPlanned(const WorkloadId& id, const apimachinery::Status& why);
  /// Has what `plan` has left out planned later, when the rest has been carried out.
  Answer WithRest(const WorkloadId& id, const reloader::Plan& plan, Answer answer);
  Answer Finish(const WorkloadId& id, const std::stop_token& stop);
  /// Completes what is left of a workload that no longer exists; see WorkloadWriter::Finish.
  Answer Recover(const WorkloadId& keeper, const std::stop_token& stop);
  /// Carries out the plan. Returns std::nullopt, without having written anything, when the workload
  /// has changed since it was planned for. `version`: see Record.
  std::optional<Answer> Act(const Workload& workload, reloader::Plan& plan,
                            const std::string& version, base::TimePoint begin,
                            const std::stop_token& stop);
  /// Carries out a plan that rolls the workload; otherwise as Act. If the workload has a
  /// resource_version, only that version is written: a patch that is based on an outdated cache may
  /// change nothing without the API server saying so, and somebody else may have rolled the
  /// workload with older data in the meantime.
  std::optional<Answer> Write(const Workload& workload, const reloader::Plan& plan,
                              const AnnotationEdits& annotations, base::TimePoint begin,
                              const std::stop_token& stop);
  /// Whether and how the plan is carried out without a rollout. Where the program is asked for
  /// data, or has refused some of them, that are not to be rolled if it refuses them, changes that
  /// only a rollout carries out have to wait: it moves them from the plan to `held`.
  InPlaceVerdict Judge(const Workload& workload, reloader::Plan& plan,
                       std::vector<Change>& held) const;
  static void LogNotInPlace(const WorkloadId& id, const InPlaceVerdict& verdict);
  /// Whether pods of the workload are being reloaded, or it has a mark that says so.
  bool IsMarked(const Workload& workload) const;
  /// Removes that mark.
  void AddEndOfReload(const Workload& workload, AnnotationEdits& annotations) const;
  /// What an attempt to carry out a plan depends on beside the plan; see Act.
  struct Moment {
    const std::string& version;
    base::TimePoint begin;
    const std::stop_token& stop;
  };
  /// The workload is not to be reloaded in place: ends what is under way, and removes a mark from a
  /// workload that needs no rollout. Returns false when the workload has another version.
  bool EndReload(const Workload& workload, const reloader::Plan& plan, const std::string& version,
                 const std::stop_token& stop);
  /// Carries out the plan by `action`: begins a reload, waits for its end without blocking, and
  /// then records what the pods have, or rolls the workload. `held`: see Judge. Otherwise as Act.
  std::optional<Answer> ReloadInPlace(const Workload& workload, reloader::Plan& plan,
                                      const ReloadAction& action, const std::vector<Change>& held,
                                      const Moment& moment);
  /// Leaves what is under way as it is. `rest`: the changes that have to wait meanwhile, during
  /// which pods may begin with their data. Otherwise as Act.
  std::optional<Answer> LeaveRest(const Workload& workload, reloader::Plan& plan,
                                  std::vector<Change> rest, const Moment& moment);
  /// What a reload begins with, beside its plan.
  struct Beginning {
    const ReloadAction& action;
    const AnnotationEdits& annotations;  ///< the gate's
    const std::vector<Change>& held;     ///< see Judge
    /// The program has refused some of the data, and they are not to be rolled.
    bool is_of_refused = false;
  };
  /// Writes on the workload that a reload is under way, and starts it. Where that cannot be
  /// written, the workload is rolled, with what is held, or nothing begins if it is of refused
  /// data.
  std::optional<Answer> BeginReload(const Workload& workload, reloader::Plan& plan,
                                    const Beginning& beginning, const Moment& moment);
  /// Ends a reload that is under way, since the newer data may not be given to the pods yet. It
  /// stays recorded that the pods may have anything. Otherwise as Act.
  std::optional<Answer> LeaveReload(const Workload& workload, const reloader::Plan& plan,
                                    const Moment& moment);
  void StartReload(const Workload& workload, const ReloadAction& action,
                   const std::vector<Change>& changes);
  /// All pods have been reloaded.
  std::optional<Answer> RecordReload(const Workload& workload, const reloader::Plan& plan,
                                     const InPlaceReloads::Report& report, const Moment& moment);
  /// The reload has failed.
  std::optional<Answer> RollAfterReload(const Workload& workload, reloader::Plan& plan,
                                        const InPlaceReloads::Report& report, const Moment& moment);
  /// Reports that the program has refused the data and the pods stay, and with them what is `held`:
  /// once for each reload, and again when there is more or less to tell.
  void ReportRefused(const Workload& workload, const InPlaceReloads::Report& report,
                     const std::vector<Change>& held);
  void Notice(const Workload& workload, std::string reason, std::string message) const;
  /// The same as the public function of this name, for the workload as the cache has it.
  bool AwaitsEvent(const Workload& cached) const;
  /// Tells the gate that the workload needs no rollout, although none was made: no event and no
  /// other attempt follows, for which others would wait.
  void NothingFollows(const Workload& workload);
  /// Handles a write that has failed.
  Answer NotWritten(const Workload& workload, const reloader::Plan& plan,
                    const apimachinery::Status& status, base::TimePoint begin);
  /// Whether an event is on its way that may show that the plan's rollout was made already: that of
  /// a template in the cache (AwaitsEvent), or of one that was read (AwaitedTemplates).
  bool AwaitsTemplate(const Workload& workload, const reloader::Plan& plan);
  /// Whether writes must name the workload's version. That needs the right to read the workload
  /// again when it has another version.
  bool ChecksVersions() const;
  /// Sends the write. `baseline`: empty when none is to be recorded; emptied when the API server
  /// rejected the baseline, or the history, and accepted the rest. `is_followed` becomes false when
  /// there was no room for the annotations by which the gate recognizes the rollout either.
  apimachinery::Result<WriteOutcome> Send(const Workload& workload, WorkloadWrite write,
                                          std::string& baseline, bool& is_followed,
                                          const std::stop_token& stop);
  /// Leaves records of the gate out of a write for whose annotations the workload has no room, and
  /// sends it. Otherwise as Send.
  apimachinery::Result<WriteOutcome> SendWithoutRecords(const Workload& workload,
                                                        WorkloadWrite write, bool& is_followed,
                                                        const std::stop_token& stop);
  /// Adds to a rollout the history that goes with it.
  void AddHistory(const Workload& workload, const reloader::Plan& plan,
                  AnnotationEdits& annotations) const;
  /// Whether the operator may record a baseline on the workload.
  bool Records(const Workload& workload) const;
  /// Makes a write that rolls nothing; without the history in it if it is denied with that.
  apimachinery::Result<WriteOutcome> WriteRecord(const WorkloadId& id, WorkloadWrite& write,
                                                 const std::stop_token& stop);
  /// Writes the annotations that the gate wants on the workload. Returns false when that must be
  /// tried again.
  bool WriteMarks(const Workload& workload, const std::stop_token& stop);
  /// Records the baseline. It is written only to this `version` of the workload, since others may
  /// know better by now: returns std::nullopt when the workload has another one. Empty: any
  /// version.
  std::optional<Answer> Record(const Workload& workload, const reloader::Plan& plan,
                               const std::string& version, const std::stop_token& stop);
  /// After what time another plan is to be made, because the baseline leaves in doubt what the
  /// watches have not told yet; zero: none is.
  base::Duration NextLook(const WorkloadId& id, const reloader::Plan& plan);
  /// Something holds the rollout of the plan: notes that, and otherwise does as Record.
  std::optional<Answer> LeaveDue(const Workload& workload, const reloader::Plan& plan,
                                 const std::string& version, const std::stop_token& stop);
  /// Removes a baseline that nobody keeps up to date any more; otherwise as Record.
  std::optional<Answer> TakeAway(const Workload& workload, const reloader::Plan& plan,
                                 const std::string& version, const std::stop_token& stop);
  /// Handles a baseline that could not be written. `status`: std::nullopt when the missing right
  /// was known before. Returns whether another attempt follows.
  bool CannotRecord(const WorkloadId& id, const std::optional<apimachinery::Status>& status);
  static void LogReloads(const WorkloadId& id, const std::vector<Change>& changes,
                         const char* what);
  void ReportLostBaseline(const Workload& workload) const;
  /// Reports that a rollout was made without the records in these annotations.
  void ReportLeftOut(const Workload& workload, const std::string& annotations,
                     bool is_followed) const;
  void ReportSetBack(const Workload& workload) const;
  /// Reports a baseline without room for all sources, once for each time.
  void ReportFullBaseline(const Workload& workload, const reloader::Plan& plan);
  void Forget(const WorkloadId& id);
  /// Forgets what it has reported of the workloads in a shard: another replica works on them now.
  void Leave(int shard);
  void ReportFailure(const WorkloadId& id, const reloader::Plan& plan,
                     const apimachinery::Status& status) const;
  /// How a workload was given its new data, if not by a rollout of its own template.
  struct OtherWay {
    std::string job{};       ///< see WriteReport::job
    std::string in_place{};  ///< see WriteReport::in_place
  };
  void Notify(const Workload& workload, const reloader::Plan& plan,
              const apimachinery::Result<void>& outcome, const OtherWay& way) const;
  void ReportBadItems(const Workload& workload, const reloader::Plan& plan);
  double SecondsSince(base::TimePoint begin) const;

  const Parts parts_;
  BadItemNews bad_items_;  ///< reports each bad item once
  FullBaselines full_baselines_;
  AwaitedTemplates awaited_;
  HeldUpPlans held_up_;
  base::Subscription shards_subscription_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OPERATOR_RECONCILER_H_
