/// @file
/// Whether a workload may be rolled now. Pure: no I/O, no threads, time is passed in.
#ifndef KUBEXX_RELOADPOLICY_GATE_H_
#define KUBEXX_RELOADPOLICY_GATE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/reloadpolicy/phase.h"
#include "kubexx/reloadpolicy/policy_set.h"
#include "kubexx/reloadpolicy/rollout.h"
#include "kubexx/reloadpolicy/rollout_record.h"

namespace kubexx::reloadpolicy {

/// Why a rollout waits.
enum class HoldReason : std::uint8_t {
  kPoliciesUnread,
  kInvalidAnnotation,
  kPaused,
  kSourcePaused,
  kOutsideWindow,
  kMinInterval,
  kStopped,
  kOrder,
  kLimit,
  kUnhealthy,
  kHealthUnknown,
};

/// All of them.
inline constexpr std::array kHoldReasons{
    HoldReason::kPoliciesUnread, HoldReason::kInvalidAnnotation,
    HoldReason::kPaused,         HoldReason::kSourcePaused,
    HoldReason::kOutsideWindow,  HoldReason::kMinInterval,
    HoldReason::kStopped,        HoldReason::kOrder,
    HoldReason::kLimit,          HoldReason::kUnhealthy,
    HoldReason::kHealthUnknown};

/// Whether it is for other rollouts that one waits; windows and pauses are somebody's wish.
constexpr bool IsForOthers(HoldReason reason) {
  return reason == HoldReason::kOrder || reason == HoldReason::kLimit ||
         reason == HoldReason::kUnhealthy;
}

/// As shown in status and Events: "OutsideMaintenanceWindow".
std::string_view ToString(HoldReason reason);

/// "2 rollouts have failed: Deployment/shop/a, Deployment/shop/b"; names the first five of `total`,
/// of which `failures` may be a part.
std::string FailedText(const std::vector<ObjectRef>& failures, std::size_t total);

/// A rollout that waits.
struct Hold {
  HoldReason reason = HoldReason::kPaused;
  std::string message{};
  /// When to ask again; nothing when that depends on something else.
  std::optional<base::WallTime> until{};
  /// Whose setting it is; nothing for an annotation or flag.
  std::optional<PolicyId> policy{};
  /// The workload that comes first, for kOrder.
  std::optional<ObjectRef> waits_for{};
  bool operator==(const Hold&) const = default;
};

/// A wish to roll a workload.
struct Request {
  ObjectRef workload{};
  Annotations annotations{};
  /// Workloads of lower order that the same sources are to roll, and have not yet.
  std::vector<ObjectRef> before{};
  std::string uid{};
  Phase phase = Phase::kComplete;
};

/// A workload as an informer shows it.
struct Sighting {
  std::string uid{};
  const Annotations& annotations;
  Phase phase = Phase::kComplete;
  /// Of its pod template; empty when not known.
  std::string template_hash{};
  /// It may have been like this before anybody looked: the process has just begun.
  bool is_first_look = false;
};

/// The answer: go, or a reason to wait.
struct Decision {
  std::optional<Hold> hold{};
  /// Write `started` as kLastRolloutAnnotation with the rollout.
  bool tracked = false;
  /// Of Begin: when it began, by which it is known again. Another second than that of the rollout
  /// before, so it may be a little later than it is.
  base::WallTime started{};
  /// Write this as kRolloutStateAnnotation with it; nothing for kinds that have no status of a
  /// rollout.
  std::optional<RolloutState> record{};
};

/// A rollout that had failed when the process before this one ended, as a policy's status tells.
struct Remembered {
  ObjectRef workload{};
  std::string uid{};
  base::WallTime started{};
};

/// What is to be written on a workload, or told about it.
struct Mark {
  std::optional<RolloutState> record{};
  /// Why its rollout has failed, when that has not been told yet.
  std::optional<std::string> failure{};
};

/// A rollout that waits, with its history.
struct Pending {
  Hold hold{};
  base::WallTime since{};
  /// Since when it has waited for others without a break; nothing when it does not.
  std::optional<base::WallTime> for_others_since{};
  std::uint64_t sequence = 0;  ///< in order of arrival
  Effective effective{};
};

/// A policy's figures.
struct PolicyReport {
  int active = 0;
  /// Rollouts that have failed and are not mended.
  std::vector<std::pair<ObjectRef, const Rollout*>> failed{};
  /// Rollouts that wait because of it, first come first.
  std::vector<std::pair<ObjectRef, const Pending*>> pending{};
  /// The one of `pending` that has waited for others for longest; null in `second` when none does.
  std::pair<ObjectRef, const Pending*> longest_for_others{};
  bool stopped = false;
};

/// Knows policies, rollouts under way and rollouts that wait. What it must remember across restarts
/// stands on the workloads and in the status of policies: Observe and Remember all of it first. Not
/// thread-safe.
class Gate {
 public:
  explicit Gate(Settings flags = {}) : policies_(std::move(flags)) {}

  const PolicySet& policies() const { return policies_; }
  void SetPolicy(Policy policy);
  void RemovePolicy(const PolicyId& id);
  /// Whether there may be policies about a namespace, or with "" about any, that this was not told
  /// of. As long as there may be, rollouts there are given the longest times that a policy can ask
  /// for: none is over, or fails by its time, that some policy would wait for.
  void SetUnread(const std::string& namespace_, bool is_unread, base::WallTime now);
  /// What SetUnread was told of and holds.
  const std::set<std::string>& unread() const { return unread_; }
  /// The workloads of the rollouts that are under way or have failed.
  std::vector<ObjectRef> Followed() const;

  /// A workload as it is now.
  void Observe(const ObjectRef& workload, const Sighting& seen, base::WallTime now);
  /// Counts as failed until the workload is seen to be healthy, to be another or to be gone.
  void Remember(const Remembered& failed);
  /// The workloads that it was told of by Remember and has not seen since.
  std::vector<ObjectRef> Unseen() const;
  /// The workload is gone.
  void Forget(const ObjectRef& workload);

  /// Whether it may be rolled; changes nothing.
  Decision Ask(const Request& request, base::WallTime now) const;
  /// As Ask. If it may, the rollout counts as under way from now on; else as waiting.
  Decision Begin(const Request& request, base::WallTime now);
  /// The rollout waits for a reason that the caller found.
  void Wait(const Request& request, Hold hold, base::WallTime now);
  /// The write that followed Begin was not made: the rollout is not under way, unless it has been
  /// observed.
  void Cancel(const ObjectRef& workload);
  /// The same because the workload had changed: perhaps by an attempt before whose end is
  /// uncertain, which is so still.
  void CancelOvertaken(const ObjectRef& workload);
  /// Whether the write that followed Begin was made is not known. The rollout keeps its place until
  /// it is observed, or Settle finds it unnecessary, or its time is over. It cannot fail before.
  void Doubt(const ObjectRef& workload);
  /// A look at the workload, as `seen`, finds nothing to roll: one whose write is uncertain is
  /// either observed by that or not under way.
  void Settle(const ObjectRef& workload, const Sighting& seen, base::WallTime now);
  /// As Cancel, for certain, but what was to be written on the workload's own annotations is
  /// there: the record of a rollout that there is not, which is taken back.
  void CancelKept(const ObjectRef& workload);
  /// The write that followed Begin has rolled the workload, but nothing that was to stand on it
  /// does: no status could be known for this rollout's, so that it is not followed. An interval
  /// counts from it as long as this gate lives.
  void LeaveUnrecorded(const ObjectRef& workload);
  /// There is nothing to roll any more.
  void Done(const ObjectRef& workload);

  /// Waiting workloads for which an answer may have changed, each given once until it asks again.
  std::vector<ObjectRef> TakeWakes(base::WallTime now);
  /// Ends rollouts whose time has come. After every other change.
  void Sweep(base::WallTime now);
  /// Followed workloads to look at (TakeMark) and when, of those about which something has changed.
  std::vector<std::pair<ObjectRef, base::Duration>> TakeLooks(base::WallTime now);
  /// What to write on a workload that looks like this; what is told counts as told.
  Mark TakeMark(const ObjectRef& workload, const std::string& uid, const Annotations& annotations);

  PolicyReport ReportFor(const Policy& policy, base::WallTime now) const;
  /// Of every policy.
  std::map<PolicyId, PolicyReport> Reports(base::WallTime now) const;
  /// Whether those that come after it wait for it: it is rolled or has failed, and is not healthy.
  bool IsActive(const ObjectRef& workload) const;
  /// Why the workload's rollout has failed and is not mended; nothing when it is not so.
  std::optional<std::string> FailureOf(const ObjectRef& workload, base::WallTime now) const;
  const std::map<ObjectRef, Pending>& pending() const { return pending_; }
  /// Rollouts that are under way or have failed.
  std::size_t rollouts() const { return rollouts_.size(); }

 private:
  /// A rollout that has ended, until that or the next one stands on its workload.
  struct Ended {
    RolloutState state = RolloutState::kCompleted;
    base::WallTime started{};
    bool seen = true;  ///< that rollout's record, on the workload
  };
  /// What a rollout counts as under a limit.
  enum class Place : std::uint8_t {
    kNone,
    kUpdating,   ///< under every limit
    kUnhealthy,  ///< where there is a health gate
  };
  /// What is taken, over all.
  struct Loads {
    /// In the cluster, or in one namespace.
    struct Taken {
      int updating;
      int unhealthy;
    };
    Loads();  // written down: clang has no default for it within the class
    /// `workload` must outlive this.
    void Add(const ObjectRef& workload, Place place);

    Taken cluster{};
    std::map<std::string, Taken> namespaces{};
    const ObjectRef* unhealthy = nullptr;  ///< one of kUnhealthy
    const ObjectRef* another_unhealthy = nullptr;
  };
  /// What has been counted for several questions at one moment.
  struct Scan {
    base::WallTime now{};
    std::optional<Loads> loads{};
    std::map<std::optional<PolicyId>, std::vector<ObjectRef>> failures{};
  };
  /// What one workload finds taken.
  struct Load {
    int in_namespace = 0;
    int in_cluster = 0;
    const ObjectRef* unhealthy = nullptr;  ///< one that only a health gate counts
  };
  struct Unavailable {
    base::WallTime since{};  ///< without a break, as far as this process has seen
    std::string uid{};
    bool is_since_before = false;  ///< perhaps for longer: it was so at the first look
  };
  /// Which limit leaves no place.
  struct Reached {
    enum class Limit : std::uint8_t { kNone, kGateAlone, kInNamespace, kInCluster };
    Limit limit = Limit::kNone;
    const ObjectRef* unhealthy = nullptr;  ///< as Load::unhealthy
  };
  /// What is told of that.
  struct Full {
    Setting<int> limit{};
    const char* where = "";
    const ObjectRef* unhealthy = nullptr;
  };

  Decision Ask(const Request& request, const Effective& effective, base::WallTime now) const;
  void Wait(const ObjectRef& workload, Hold hold, Effective effective, base::WallTime now);
  std::optional<Hold> CheckTimes(const Request& request, const Effective& effective,
                                 base::WallTime now) const;
  std::optional<Hold> CheckFailures(const ObjectRef& workload, const Effective& effective,
                                    Scan& scan) const;
  /// Right after a start nobody knows for how long a workload has not been available: whether a
  /// rollout that does not get on would be to blame shows within kLeastUnavailable.
  std::optional<Hold> CheckHealthKnown(const Request& request, const Effective& effective,
                                       base::WallTime now) const;
  std::optional<Hold> CheckOrder(const Request& request, const Effective& effective) const;
  std::optional<Hold> CheckLimits(const ObjectRef& workload, const Effective& effective,
                                  Scan& scan) const;
  static Place PlaceOf(const Rollout& rollout, base::WallTime now);
  const Loads& LoadsIn(Scan& scan) const;
  Load LoadFor(const ObjectRef& workload, bool healthy_only, Scan& scan) const;
  /// As FullLimit: for each of many that wait.
  Reached ReachedLimit(const ObjectRef& workload, const Effective& effective, Scan& scan) const;
  std::optional<Full> FullLimit(const ObjectRef& workload, const Effective& effective,
                                Scan& scan) const;
  const std::vector<ObjectRef>& FailuresUnder(const std::optional<PolicyId>& policy,
                                              Scan& scan) const;
  /// The setting because of which nothing more begins; null when there is none.
  const Setting<int>* ReachedStop(const ObjectRef& workload, const Effective& effective,
                                  Scan& scan) const;
  bool MayGoOn(const ObjectRef& workload, const Pending& pending, Scan& scan) const;
  /// Whether it waits for a place that it would not be given: a stop has been reached since.
  bool HasBeenStopped(const ObjectRef& workload, const Pending& pending, Scan& scan) const;
  /// Has those asked anew that wait under the policy, or because of it.
  void WakeGoverned(const Policy& policy);
  /// Whether another workload of the namespace may have a higher order.
  bool OthersFollow(const ObjectRef& workload, int order) const;
  void NoteOrder(const ObjectRef& workload, const Annotations& annotations);
  /// Returns when it began, as it is to be written.
  base::WallTime Start(const Request& request, RolloutState state, base::WallTime now);
  /// Whether it does not work as it is, so that no rollout is to blame.
  bool IsBroken(const Request& request, base::WallTime now) const;
  /// The last time that a rollout of the workload is known to have begun.
  std::optional<base::WallTime> LastStart(const Request& request) const;
  /// The followed rollout that a sighting is about; null when there is none. Finds those that are
  /// over, and begins to follow what stands on the workload.
  Rollout* Follow(const ObjectRef& workload, const Sighting& seen, base::WallTime now);
  void SetTimes(const ObjectRef& workload, Rollout& rollout) const;
  bool IsUnread(const std::string& namespace_) const;
  /// Of the rollouts that the policy governs.
  void SetTimesUnder(const Policy& policy);
  /// The clock may have been set back since the last sweep.
  void FollowClock(base::WallTime now);
  void Drop(const ObjectRef& workload);
  /// Takes back what Start did.
  void Undo(const ObjectRef& workload);
  void End(const ObjectRef& workload, RolloutState state);

  PolicySet policies_;
  std::set<std::string> unread_;
  std::map<ObjectRef, Rollout> rollouts_;
  /// What Begin has put another in place of, until that one has been seen.
  std::map<ObjectRef, Rollout> replaced_;
  std::map<ObjectRef, Ended> ended_;
  /// When the rollouts began that LeaveUnrecorded was told of, where an interval counts; until a
  /// later one stands on the workload.
  std::map<ObjectRef, base::WallTime> unrecorded_;
  /// Orders that annotations give, by namespace.
  std::map<std::string, std::map<ObjectRef, int>> orders_;
  /// Workloads that are not available by their status.
  std::map<ObjectRef, Unavailable> unavailable_;
  std::set<ObjectRef> unseen_;
  /// For TakeLooks: at once, and when its next change is due.
  std::set<ObjectRef> due_;
  std::set<ObjectRef> touched_;
  std::optional<base::WallTime> next_sweep_;
  std::optional<base::WallTime> last_sweep_;
  std::map<ObjectRef, Pending> pending_;
  /// Woken and not heard of since: they are about to take a place.
  std::set<ObjectRef> woken_;
  /// As woken_, of those that a stop concerns: they take no place.
  std::set<ObjectRef> asked_anew_;
  std::uint64_t next_sequence_ = 0;
  /// Waiting ones whose settings may be others now.
  std::set<ObjectRef> changed_;
  bool wake_some_ = false;
};

}  // namespace kubexx::reloadpolicy

#endif  // KUBEXX_RELOADPOLICY_GATE_H_
