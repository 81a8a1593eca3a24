/// @file
/// Brings one workload up to date with its sources.
#ifndef KUBEXX_RELOADER_OPERATOR_RECONCILER_H_
#define KUBEXX_RELOADER_OPERATOR_RECONCILER_H_

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/subscription.h"
#include "kubexx/reloader/ha/shard_gate.h"
#include "kubexx/reloader/observe/bad_item_news.h"
#include "kubexx/reloader/observe/reloader_metrics.h"
#include "kubexx/reloader/operator/retries.h"
#include "kubexx/reloader/plan/baseline_schedule.h"
#include "kubexx/reloader/plan/decision.h"
#include "kubexx/reloader/plan/full_baselines.h"
#include "kubexx/reloader/plan/pair_memory.h"
#include "kubexx/reloader/plan/rollout_gate.h"
#include "kubexx/reloader/plan/set_backs.h"
#include "kubexx/reloader/plan/strategy.h"
#include "kubexx/reloader/watch/caches.h"
#include "kubexx/reloader/watch/source_keys.h"
#include "kubexx/reloader/write/fresh_reads.h"
#include "kubexx/reloader/write/notifier.h"
#include "kubexx/reloader/write/pause.h"
#include "kubexx/reloader/write/writer.h"

namespace kubexx::reloader {

/// Plans and writes. Level-triggered: what it does depends on the caches and the memory alone, not
/// on the event that called for it. Thread-safe as long as no two threads reconcile the same
/// workload. Refers to everything it is given.
class Reconciler {
 public:
  struct Parts {
    const Caches& caches;
    PairMemory& memory;
    PatternCache& patterns;
    const DecisionRules& rules;
    const ReloaderMetrics& metrics;
    WorkloadWriter& writer;
    ReloadStrategy strategy;
    base::Clock& clock;
    const WriteObservers& observers;
    /// Null: every rollout goes at once.
    RolloutGate* gate = nullptr;
    /// Tells which namespaces are another replica's from now on; null: none.
    ShardGate* shards = nullptr;
    BaselineRecording record_baselines = BaselineRecording::kWithRollouts;
    /// When to record those that go along with no rollout.
    BaselineSchedule& recording;
    /// Null: what was set back is rolled anew whenever that happens.
    SetBacks* set_backs = nullptr;
    /// Null: nothing is paused.
    Pauses* pauses = nullptr;
    /// Null: what caches say of workloads is believed.
    FreshReads* fresh_reads = nullptr;
    /// Null: no list of keys counts.
    ValueDigestReader* value_digests = nullptr;
    /// Null: what the caches do not have does not exist.
    SourceAbsences* absences = nullptr;
  };
  enum class Outcome : std::uint8_t {
    kNothing,  ///< nothing to write
    kWritten,  ///< rolled
    kRetry,    ///< the write failed; try again later
    kRefused,  ///< an annotation is wrong: it is not rolled until that changes, which is an event
  };
  struct Answer {
    Outcome outcome = Outcome::kNothing;
    /// With kNothing, and with kWritten when the record is missing: look again after this time,
    /// unless zero.
    base::Duration again{0};
    /// With kRetry.
    Retries::Failure failure = Retries::Failure::kPasses;
  };

  explicit Reconciler(const Parts& parts);

  /// Whether the workload is not to be reconciled yet, as an event of its pod template is on the
  /// way; to be asked again shortly. See PairMemory::LookFor.
  bool AwaitsEvent(const WorkloadId& id) const;
  /// `tenure`: see FreshReads.
  Answer Reconcile(const WorkloadId& id, const std::stop_token& stop, std::uint64_t tenure = 0);
  /// Whether the workload is to be rolled for the source and has not been, by what the caches have;
  /// also when that cannot be told for now.
  bool NeedsRollout(const Workload& workload, const SourceId& source) const;

 private:
  Answer Plan(const WorkloadId& id, base::TimePoint begin, const std::stop_token& stop,
              std::uint64_t tenure);
  Answer PlanAndWrite(std::optional<Workload> workload, base::TimePoint begin,
                      const std::stop_token& stop, std::uint64_t tenure);
  /// The gate may have woken the workload and keep a place for it, which it does not ask for now.
  void KeepNoPlace(const WorkloadId& id);
  /// Plans for the workload as the caches have it and, if that is to be written and has to be known
  /// for certain, as it is; without workload when that is gone.
  apimachinery::Result<reloader::Plan> PlanForCertain(std::optional<Workload>& workload,
                                                      const std::stop_token& stop,
                                                      std::uint64_t tenure) const;
  /// Plans for the workload as the API server has it; without workload when that is gone.
  apimachinery::Result<reloader::Plan> PlanAnew(std::optional<Workload>& workload,
                                                const std::stop_token& stop,
                                                std::uint64_t tenure) const;
  /// What to do about sources that may be older than the record, Plan::doubtful.
  enum class Doubts : std::uint8_t {
    kSettle,  ///< compare them with the API server's, and fail when they differ
    kLeave,
  };
  /// Fails when something had to be read and could not be.
  apimachinery::Result<reloader::Plan> PlanFor(const Workload& workload, Doubts doubts,
                                               const std::stop_token& stop) const;
  Answer Finish(const WorkloadId& id, const std::stop_token& stop);
  Answer Recover(const WorkloadId& keeper, const std::stop_token& stop);
  /// Does what the plan says; nothing when the workload is another by now than the one that was
  /// planned for, so that nothing was written.
  /// `version`: see Record.
  std::optional<Answer> Act(const Workload& workload, reloader::Plan& plan,
                            const std::string& version, base::TimePoint begin,
                            const std::stop_token& stop);
  /// As Act, of a rollout. Of a workload with a resource_version that very version is written: a
  /// patch by a cache that is behind may change nothing, which the server does not tell, and what
  /// has rolled the workload meanwhile may have been somebody else with older data.
  std::optional<Answer> Write(const Workload& workload, const reloader::Plan& plan,
                              const AnnotationEdits& annotations, base::TimePoint begin,
                              const std::stop_token& stop);
  /// A write has failed.
  Answer NotWritten(const Workload& workload, const reloader::Plan& plan,
                    const apimachinery::Status& status, base::TimePoint begin);
  /// Whether the version of the workload counts, and it can be read when that is another.
  bool ChecksVersion(const Workload& workload) const;
  /// `baseline`: empty when none is recorded; emptied when it was refused and the rest was not.
  apimachinery::Result<WriteOutcome> Send(const Workload& workload, const reloader::Plan& plan,
                                          const AnnotationEdits& annotations, std::string& baseline,
                                          const std::stop_token& stop);
  /// Whether the workload may have a baseline.
  bool Records(const Workload& workload) const;
  /// Writes what the gate wants to stand on the workload; false when that must be tried again.
  bool WriteMarks(const Workload& workload, const std::stop_token& stop);
  /// Writes on that `version` of the workload and no other, since somebody else may know better by
  /// now: nothing when it is another. Empty: any.
  std::optional<Answer> Record(const Workload& workload, const reloader::Plan& plan,
                               const std::string& version, const std::stop_token& stop);
  /// The same, takes away a baseline that nobody keeps true any more.
  std::optional<Answer> TakeAway(const Workload& workload, const reloader::Plan& plan,
                                 const std::string& version, const std::stop_token& stop);
  /// `status`: nothing when it is known from before that the right is missing.
  /// Whether another attempt follows.
  bool CannotRecord(const WorkloadId& id, const std::optional<apimachinery::Status>& status);
  static void LogReloads(const WorkloadId& id, const std::vector<Change>& changes,
                         const char* what);
  void ReportLostBaseline(const Workload& workload) const;
  void ReportSetBack(const Workload& workload) const;
  /// Once, when there is something new.
  void ReportFullBaseline(const Workload& workload, const reloader::Plan& plan);
  void Forget(const WorkloadId& id);
  /// Forgets what it tells of workloads of a shard: another replica works on them now.
  void Leave(int shard);
  void ReportFailure(const WorkloadId& id, const reloader::Plan& plan,
                     const apimachinery::Status& status) const;
  void Notify(const Workload& workload, const reloader::Plan& plan,
              const apimachinery::Result<void>& outcome, const std::string& job = {}) const;
  void ReportBadItems(const WorkloadId& id, const reloader::Plan& plan);
  double SecondsSince(base::TimePoint begin) const;

  const Parts parts_;
  BadItemNews bad_items_;  ///< each is logged once
  FullBaselines full_baselines_;
  base::Subscription shards_subscription_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OPERATOR_RECONCILER_H_
