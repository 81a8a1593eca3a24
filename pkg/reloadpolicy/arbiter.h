/// @file
/// Arbiter: decides whether a workload may be rolled now. Pure: no I/O, no threads; callers pass
/// the time in.
#ifndef KUBEXX_RELOADPOLICY_ARBITER_H_
#define KUBEXX_RELOADPOLICY_ARBITER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kubexx/reloadpolicy/arbiter_report.h"
#include "kubexx/reloadpolicy/failed_data.h"
#include "kubexx/reloadpolicy/hold.h"
#include "kubexx/reloadpolicy/last_starts.h"
#include "kubexx/reloadpolicy/phase.h"
#include "kubexx/reloadpolicy/policy_set.h"
#include "kubexx/reloadpolicy/rollout.h"
#include "kubexx/reloadpolicy/rollout_record.h"

namespace kubexx::reloadpolicy {

/// A question to the arbiter: may this workload be rolled?
struct Request {
  ObjectRef workload{};
  Annotations annotations{};
  /// Workloads with a lower order that must be rolled for the same sources and have not been yet.
  std::vector<ObjectRef> before{};
  std::string uid{};
  Phase phase = Phase::kComplete;
  /// What the workload is to be rolled for. Only needed where waves are in force.
  DataVersions data{};
  std::optional<EarlierWave> earlier_wave{};
  /// The workload's pods are being reloaded in place for older data. It has its time and its place
  /// already and goes on with the present data, if these may be given to it now: windows, intervals
  /// and limits do not hold it back, as they would leave some pods with older data than others.
  bool goes_on = false;
};

/// The arbiter's answer to a Request: the rollout may begin (`hold` is empty), or it must wait.
struct Decision {
  std::optional<Hold> hold{};
  /// The caller must write `started` as kLastRolloutAnnotation in the write that rolls the
  /// workload.
  bool tracked = false;
  /// Only from Begin: the start time by which the arbiter recognizes this rollout later.
  /// Annotations store whole seconds, so the arbiter moves this time forward where necessary to
  /// keep it in another second than the previous rollout's start.
  base::WallTime started{};
  /// The caller must write this as kRolloutStateAnnotation in the same write. std::nullopt for
  /// kinds whose status does not report rollouts.
  std::optional<RolloutState> record{};
  /// Only from Begin: the value of kRolledDataAnnotation to write as well, for a rollout in a wave.
  std::optional<std::string> data{};
};

/// A rollout that had failed before this process started. A policy's status tells of it.
struct Remembered {
  ObjectRef workload{};
  std::string uid{};
  base::WallTime started{};
};

/// What the caller must do about a workload after the arbiter has seen its state.
struct Mark {
  /// The state to write as kRolloutStateAnnotation; std::nullopt when nothing is to be written.
  std::optional<RolloutState> record{};
  /// The value of kRolledDataAnnotation to write; std::nullopt when nothing is to be written.
  std::optional<std::string> data{};
  /// The reason for which the workload's rollout has failed, when nobody has reported that yet.
  std::optional<std::string> failure{};
  /// With `failure`: no rollout has failed, but a reload of the running pods.
  bool is_in_place = false;
};

/// Knows the policies, the rollouts under way and the rollouts that wait, and decides which
/// rollouts may begin. The state that must survive a restart is stored on the workloads and in the
/// status of policies: after a restart, pass all of it to Observe and Remember before asking
/// anything. Not thread-safe.
class Arbiter {
 public:
  explicit Arbiter(Settings flags = {}) : policies_(std::move(flags)) {}

  const PolicySet& policies() const { return policies_; }
  void SetPolicy(Policy policy);
  void RemovePolicy(const PolicyId& id);
  /// Tells the arbiter whether there may be policies for a namespace (for any namespace, with "")
  /// that could not be read. While there may be, the arbiter applies the longest timeout and soak
  /// time that a policy can ask for to rollouts in that namespace, so that no rollout ends, or
  /// fails by its timeout, earlier than an unread policy might demand.
  void SetUnread(const std::string& namespace_, bool is_unread, base::WallTime now);
  /// The namespaces for which SetUnread was last called with true.
  const std::set<std::string>& unread() const { return unread_; }
  /// The workloads whose rollouts are under way or have failed.
  std::vector<ObjectRef> Followed() const;

  /// Tells the arbiter the present state of a workload.
  void Observe(const ObjectRef& workload, const Sighting& seen, base::WallTime now);
  /// Tells the arbiter of a rollout that failed before this process started. It counts as failed
  /// until the workload is seen to be healthy, is replaced by another object, or is deleted.
  void Remember(const Remembered& failed);
  /// Does the same with data for which a rollout failed.
  void RememberData(const RememberedData& failed);
  /// The workloads that Remember was called for and that Observe has not been called for since.
  std::vector<ObjectRef> Unseen() const;
  /// Tells the arbiter that the workload was deleted.
  void Forget(const ObjectRef& workload, base::WallTime now);

  /// Returns whether the workload may be rolled now. Changes nothing.
  Decision Ask(const Request& request, base::WallTime now) const;
  /// Does the same as Ask and stores the outcome: the rollout counts as under way when it may
  /// begin, and as waiting otherwise.
  Decision Begin(const Request& request, base::WallTime now);
  /// Makes the rollout wait for a reason that the caller has found.
  void Wait(const Request& request, Hold hold, base::WallTime now);
  /// The write that followed Begin was made, as its answer tells: at resource version `version`; 0:
  /// not known. The time that the rollout may take begins now, unless Observe has seen it already.
  /// Until then, or Observe, it keeps its place and cannot fail. Returns whether Observe has been
  /// told of that version, or of a later one, before and could not know it: then the caller passes
  /// the present state to it again.
  bool Written(const ObjectRef& workload, base::WallTime now, std::uint64_t version = 0);
  /// The write that followed Begin was not made: the rollout no longer counts as under way, unless
  /// Observe has already seen it.
  void Cancel(const ObjectRef& workload);
  /// The write that followed Begin failed because the workload had changed, and the caller asks
  /// again at once: the rollout no longer counts as under way, but its place is kept until the
  /// workload asks again, is Done or is deleted, so that nobody else is let in before it. An
  /// earlier attempt may have caused that change; if its outcome is unknown, it stays unknown.
  void CancelOvertaken(const ObjectRef& workload);
  /// After Cancel: why the write was refused. Who waits for the workload is told, until it is
  /// written, also by another replica, needs no rollout or is deleted.
  void NoteRefused(const ObjectRef& workload, const std::string& why, base::WallTime now);
  /// It is not known whether the write that followed Begin was made. The rollout keeps its place
  /// until Observe sees it, Settle finds that there is nothing to roll, or its timeout is over. It
  /// cannot fail before Observe has seen it.
  void Doubt(const ObjectRef& workload, base::WallTime now);
  /// The caller has read the workload, as `seen`, and found nothing to roll. When the outcome of
  /// its last write was unknown, the arbiter now either finds the rollout in `seen` or stops
  /// counting it as under way. Workloads that wait for this one may go on, though the arbiter may
  /// never have been asked about it: it may have been reloaded in place, or rolled by others.
  void Settle(const ObjectRef& workload, const Sighting& seen, base::WallTime now);
  /// The write that followed Begin started no rollout, but its annotations are on the workload:
  /// they record a rollout that does not exist. The arbiter stops counting the rollout, and
  /// TakeMark corrects the record.
  void CancelKept(const ObjectRef& workload);
  /// The write that followed Begin has rolled the workload, but the arbiter's annotations are not
  /// on it. The arbiter cannot recognize the status of such a rollout, so it does not follow it. A
  /// minimum interval counts from this rollout as long as this arbiter exists, as it does from
  /// every rollout that the arbiter has seen, whatever the annotations say later.
  void LeaveUnrecorded(const ObjectRef& workload);
  /// The workload has nothing to roll any more: it stops waiting.
  void Done(const ObjectRef& workload);
  /// The operator has stopped and asks no more: the arbiter frees the places that it has reserved
  /// for workloads that were to ask again.
  void KeepNoPlaces();

  /// Returns the waiting workloads for which the answer may have changed. Each is returned once,
  /// until the caller asks for it again.
  std::vector<ObjectRef> TakeWakes(base::WallTime now);
  /// Ends the rollouts whose timeout or soak time is over at `now`. Call it after every other
  /// change.
  void Sweep(base::WallTime now);
  /// Returns the followed workloads for which something has changed, each with the time after which
  /// the caller should look at it and call TakeMark.
  std::vector<std::pair<ObjectRef, base::Duration>> TakeLooks(base::WallTime now);
  /// Returns what the caller must write on a workload with this uid and these annotations, and what
  /// it must report. The arbiter returns each failure only once.
  Mark TakeMark(const ObjectRef& workload, const std::string& uid, const Annotations& annotations);

  PolicyReport ReportFor(const Policy& policy, base::WallTime now) const;
  /// The reports of all policies.
  std::map<PolicyId, PolicyReport> Reports(base::WallTime now) const;
  /// Whether workloads with a higher order wait for this one: its rollout is under way or has
  /// failed, the workload has not become healthy since, and its rollout is not paused.
  bool IsActive(const ObjectRef& workload) const;
  /// Whether the workload's rollout is under way, even if it is paused, or has failed and the
  /// workload has not become healthy since: later waves wait for it.
  bool IsFollowed(const ObjectRef& workload) const { return rollouts_.contains(workload); }
  /// Whether the rollout of the workload that `hold` waits for (Hold::waits_for) waits as well, or
  /// is under way as far as that matters to this hold: then the end of that wakes those who wait.
  bool IsHeldUp(const Hold& hold) const;
  /// Whether the workload's rollout is followed, and no event has told of it yet.
  bool IsUntold(const ObjectRef& workload) const;
  /// Whether a rollout is under way according to these annotations of the workload, of which no
  /// event has told yet: caches know of a write before their handlers are called.
  bool IsToBeTold(const ObjectRef& workload, const std::string& uid,
                  const Annotations& annotations) const;
  /// Since when the workload has been settled without interruption: base::WallTime::max() while it
  /// is not. std::nullopt when it has been so for longer than anybody asks for, or since before
  /// this process.
  std::optional<base::WallTime> SettledSince(const ObjectRef& workload) const;
  const FailedDataMap& failed_data() const { return failed_data_; }
  /// Tells the arbiter whether the sources of the data with which the workload has failed have
  /// other data by now. Then reports do not contain the failure.
  void SetPast(const ObjectRef& workload, bool is_past);
  /// What is recorded of the data with which the workload has failed is `versions` now, which are
  /// the same data as `before`. Does nothing when it has failed with others meanwhile.
  void ReplaceFailed(const ObjectRef& workload, const DataVersions& before,
                     const DataVersions& versions);
  /// The reason for which the workload's rollout has failed; std::nullopt when it has not failed,
  /// or the workload has become healthy since.
  std::optional<std::string> FailureOf(const ObjectRef& workload, base::WallTime now) const;
  const std::map<ObjectRef, Pending>& pending() const { return pending_; }
  /// The number of rollouts that are under way or have failed.
  std::size_t rollouts() const { return rollouts_.size(); }
  /// The number of workloads the start of whose last rollout is remembered for minimum intervals.
  std::size_t starts() const { return last_starts_.size(); }

 private:
  /// A rollout that has ended. Kept until its end, or the next rollout, is recorded on the
  /// workload.
  struct Ended {
    RolloutState state = RolloutState::kCompleted;
    base::WallTime started{};
    bool seen = true;  ///< the record of this rollout has been seen on the workload
  };
  /// The limits under which a rollout takes a place.
  enum class Place : std::uint8_t {
    kNone,       ///< it counts under no limit
    kUpdating,   ///< it counts under every limit
    kUnhealthy,  ///< it counts only under limits with a health gate
  };
  /// The places that all rollouts together take.
  struct Loads {
    /// The places in the cluster, or in one namespace.
    struct Taken {
      int updating;
      int unhealthy;
    };
    Loads();  // written down: clang has no default for it within the class
    /// `workload` must outlive this.
    void Add(const ObjectRef& workload, Place place);

    Taken cluster{};
    std::map<std::string, Taken> namespaces{};
    const ObjectRef* unhealthy = nullptr;  ///< one of those that count as kUnhealthy
    const ObjectRef* another_unhealthy = nullptr;
  };
  /// Counts that several questions about the same moment share.
  struct Scan {
    base::WallTime now{};
    std::optional<Loads> loads{};
    std::map<std::optional<PolicyId>, std::vector<ObjectRef>> failures{};
    std::set<ObjectRef> moved{};  ///< what moved_ was
  };
  /// The places that other rollouts take from one workload's point of view.
  struct Load {
    int in_namespace = 0;
    int in_cluster = 0;
    const ObjectRef* unhealthy = nullptr;  ///< one that counts only because of a health gate
  };
  struct Unavailable {
    base::WallTime since{};  ///< without interruption, as far as this process has seen
    std::string uid{};
    bool is_since_before = false;  ///< perhaps for longer: it was unavailable at the first look
  };
  /// The limit that leaves no place.
  struct Reached {
    enum class Limit : std::uint8_t { kNone, kHealthGateAlone, kInNamespace, kInCluster };
    Limit limit = Limit::kNone;
    const ObjectRef* unhealthy = nullptr;  ///< see Load::unhealthy
  };
  /// What a Hold reports about a reached limit.
  struct Full {
    Setting<int> limit{};
    const char* where = "";
    const ObjectRef* unhealthy = nullptr;
  };

  Decision Ask(const Request& request, const Effective& effective, base::WallTime now) const;
  void Wait(const ObjectRef& workload, Hold hold, Effective effective, base::WallTime now);
  /// Keeps waiting_for_ when the workload that `workload` waits for changes.
  void WaitFor(const ObjectRef& workload, const std::optional<ObjectRef>& before,
               const std::optional<ObjectRef>& now);
  /// Returns whether the workload waited.
  bool StopWaiting(const ObjectRef& workload);
  std::optional<Hold> CheckTimes(const Request& request, const Effective& effective,
                                 base::WallTime now) const;
  std::optional<Hold> CheckFailures(const ObjectRef& workload, const Effective& effective,
                                    Scan& scan) const;
  /// Holds a rollout back right after the start, when nobody knows yet for how long the workload
  /// has been unavailable. After kLeastUnavailable it is known whether the workload was broken
  /// before.
  std::optional<Hold> CheckHealthKnown(const Request& request, const Effective& effective,
                                       base::WallTime now) const;
  std::optional<Hold> CheckOrder(const Request& request, const Effective& effective) const;
  std::optional<Hold> CheckWaves(const Request& request, const Effective& effective) const;
  /// That the write of a workload that comes first is refused, as the end of a sentence.
  std::string WhyRefused(const ObjectRef& earlier) const;
  /// What a workload of an earlier wave waits for, as the end of a sentence; empty when it is just
  /// being rolled.
  std::string WhatDelays(const ObjectRef& earlier) const;
  /// Notes for which data the rollout that has just begun is. Returns Decision::data.
  std::optional<std::string> NoteData(const Request& request, const Effective& effective);
  /// Notes whether the workload is settled, for SettledSince.
  void NoteSettled(const ObjectRef& workload, const Sighting& seen, base::WallTime now);
  /// See Sighting::template_without_status.
  void NoteTemplate(const ObjectRef& workload, const std::string& hash, base::WallTime now);
  /// Wakes those for which the workload, whose rollout is not followed, is no longer in the way.
  void SeeSettled(const ObjectRef& workload, Phase phase);
  /// Makes those waiting workloads in the namespace ask again that wait because of waves.
  void WakeWaves(const std::string& namespace_);
  /// The rollout has failed: nobody else is rolled for its data.
  void FailData(const ObjectRef& workload, const Rollout& rollout, base::WallTime now);
  void ForgetData(const ObjectRef& workload);
  /// The workload was deleted: others go on with its data if nothing of its name comes soon.
  void LeaveData(const ObjectRef& workload, base::WallTime now);
  /// Forgets the data of those that were deleted long enough ago. Returns when to call it again;
  /// std::nullopt: none of those that are left was deleted.
  std::optional<base::WallTime> ForgetGone(base::WallTime now);
  /// A workload that had failed was deleted, and `seen` is another one of its name: its pods begin
  /// with the data, so they show whether it works with them, as those of a rollout do.
  void TryAnew(const ObjectRef& workload, const Sighting& seen, base::WallTime now);
  /// A rollout that began at `started` has ended well.
  void EndData(const ObjectRef& workload, base::WallTime started);
  /// Takes kRolledDataAnnotation into account, with and without a rollout that is followed.
  void SeeData(const ObjectRef& workload, const Sighting& seen, base::WallTime now);
  /// Reads the data that the rollout is for from the annotation, after a restart.
  static void TakeVersions(const Sighting& seen, Rollout& rollout);
  /// Makes what a rollout in a wave shows known to those that wait for it.
  void TakeData(const ObjectRef& workload, const Sighting& seen, Rollout& rollout,
                base::WallTime now);
  /// Mark::data.
  std::optional<std::string> DataMark(const ObjectRef& workload, const std::string& uid,
                                      const Annotations& annotations) const;
  std::optional<Hold> CheckLimits(const ObjectRef& workload, const Effective& effective,
                                  Scan& scan) const;
  static Place PlaceOf(const Rollout& rollout, base::WallTime now);
  /// The place that the workload takes by its rollout or by a reservation.
  Place PlaceOf(const ObjectRef& workload, base::WallTime now) const;
  const Loads& LoadsIn(Scan& scan) const;
  Load LoadFor(const ObjectRef& workload, bool healthy_only, Scan& scan) const;
  /// Does the same as FullLimit, but builds no texts: it is called for each of many waiting
  /// workloads.
  Reached ReachedLimit(const ObjectRef& workload, const Effective& effective, Scan& scan) const;
  std::optional<Full> FullLimit(const ObjectRef& workload, const Effective& effective,
                                Scan& scan) const;
  const std::vector<ObjectRef>& FailuresUnder(const std::optional<PolicyId>& policy,
                                              Scan& scan) const;
  /// The stopAfterFailures setting that prevents further rollouts; null when none does.
  const Setting<int>* ReachedStop(const ObjectRef& workload, const Effective& effective,
                                  Scan& scan) const;
  bool MayGoOn(const ObjectRef& workload, const Pending& pending, Scan& scan) const;
  /// Makes those workloads ask again that wait for `workload` to be rolled first.
  void WakeThoseAfter(const ObjectRef& workload);
  /// Does the same, unless that is followed or waits itself when TakeWakes is called.
  void NoteMoved(const ObjectRef& workload);
  /// Whether the workload waits for a place that it would not get, because a stop has been reached
  /// in the meantime.
  bool HasBeenStopped(const ObjectRef& workload, const Pending& pending, Scan& scan) const;
  /// Makes those waiting workloads ask again that the policy governs or holds back.
  void WakeGoverned(const Policy& policy);
  /// Whether another workload in the namespace may have a higher order.
  bool OthersFollow(const ObjectRef& workload, int order) const;
  void NoteOrder(const ObjectRef& workload, const Annotations& annotations);
  /// Starts to follow a rollout. Returns its start time as it must be written on the workload.
  base::WallTime Start(const Request& request, RolloutState state, base::WallTime now);
  /// Whether the workload is already not working, so that a rollout that starts now is not to
  /// blame.
  bool IsBroken(const Request& request, base::WallTime now) const;
  /// The latest known start of a rollout of the workload.
  std::optional<base::WallTime> LastStart(const Request& request) const;
  /// The followed rollout that `seen` shows; null when there is none. Stops following rollouts that
  /// are over, and starts to follow one that is recorded on the workload and not known yet.
  Rollout* Follow(const ObjectRef& workload, const Sighting& seen, base::WallTime now);
  /// Sets the timeouts and soak times of a rollout from the settings that hold for its workload.
  void SetTimes(const ObjectRef& workload, Rollout& rollout) const;
  bool IsUnread(const std::string& namespace_) const;
  /// Calls SetTimes for the rollouts that the policy governs.
  void SetTimesUnder(const Policy& policy);
  /// Adjusts stored times when the clock has been set back since the last sweep.
  void FollowClock(base::WallTime now);
  void Drop(const ObjectRef& workload);
  /// Reverts what Start did. Returns whether there was something to revert.
  bool TakeBack(const ObjectRef& workload);
  /// Does the same, and makes the waiting workloads ask again.
  void Undo(const ObjectRef& workload);
  void End(const ObjectRef& workload, RolloutState state, base::WallTime now);
  /// Remembers a start, unless it lies in the future. `annotations` are the workload's.
  void NoteStart(const ObjectRef& workload, const std::string& uid, const Annotations& annotations,
                 base::WallTime started, base::WallTime now);
  /// The start from which the minimum interval counts for the workload: the latest that the arbiter
  /// remembers, follows or reads on the workload.
  std::optional<base::WallTime> IntervalStart(const Request& request, base::Duration interval,
                                              base::WallTime now) const;

  PolicySet policies_;
  std::set<std::string> unread_;
  std::map<ObjectRef, Rollout> rollouts_;
  /// Rollouts that Begin has replaced by a new one, until that new one has been observed.
  std::map<ObjectRef, Rollout> replaced_;
  std::map<ObjectRef, Ended> ended_;
  FailedDataMap failed_data_;
  /// The remembered starts from which minimum intervals count when the workloads' annotations are
  /// missing or older.
  LastStarts last_starts_;
  std::optional<base::WallTime> next_prune_;
  /// The orders that annotations give to workloads, by namespace.
  std::map<std::string, std::map<ObjectRef, int>> orders_;
  /// Workloads that are unavailable by their status.
  std::map<ObjectRef, Unavailable> unavailable_;
  std::set<ObjectRef> unseen_;
  /// For TakeLooks: workloads to look at immediately (due_), and when their next change is due
  /// (touched_).
  std::set<ObjectRef> due_;
  std::set<ObjectRef> touched_;
  std::optional<base::WallTime> next_sweep_;
  std::optional<base::WallTime> last_sweep_;
  std::map<ObjectRef, Pending> pending_;
  /// The keys of pending_ with Hold::waits_for, by that workload.
  std::map<ObjectRef, std::set<ObjectRef>> waiting_for_;
  std::map<ObjectRef, base::WallTime> settled_since_;  ///< see SettledSince
  std::map<ObjectRef, std::string> templates_;  ///< the last Sighting::template_without_status
  std::set<ObjectRef> waited_for_;  ///< of waiting_for_, those whose being settled wakes others
  struct Refused {
    std::string why{};
    base::WallTime since{};  ///< of the last time
  };
  std::map<ObjectRef, Refused> refused_;  ///< see NoteRefused
  /// Of waiting_for_, those that may have ceased to hold others up since TakeWakes.
  std::set<ObjectRef> moved_;
  /// Workloads that are to ask again, because TakeWakes has returned them or CancelOvertaken was
  /// called, and that have not done so yet: each of them reserves a place.
  std::set<ObjectRef> woken_;
  /// Workloads that TakeWakes has returned because a stop holds them back: they reserve no place.
  std::set<ObjectRef> asked_anew_;
  std::uint64_t next_sequence_ = 0;
  /// Waiting workloads whose settings may have changed.
  std::set<ObjectRef> changed_;
  bool wake_some_ = false;
};

}  // namespace kubexx::reloadpolicy

#endif  // KUBEXX_RELOADPOLICY_ARBITER_H_
