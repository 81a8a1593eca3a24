/// @file
/// Whether a workload may be rolled now. Pure: no I/O, no threads, time is passed in.
#ifndef KUBEXX_RELOADPOLICY_GATE_H_
#define KUBEXX_RELOADPOLICY_GATE_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/reloadpolicy/phase.h"
#include "kubexx/reloadpolicy/policy_set.h"

namespace kubexx::reloadpolicy {

/// Why a rollout waits.
enum class HoldReason : std::uint8_t {
  kPaused,
  kSourcePaused,
  kOutsideWindow,
  kMinInterval,
  kStopped,
  kOrder,
  kLimit,
  kUnhealthy,
};

/// All of them.
inline constexpr std::array kHoldReasons{HoldReason::kPaused,        HoldReason::kSourcePaused,
                                         HoldReason::kOutsideWindow, HoldReason::kMinInterval,
                                         HoldReason::kStopped,       HoldReason::kOrder,
                                         HoldReason::kLimit,         HoldReason::kUnhealthy};

/// As shown in status and Events: "OutsideMaintenanceWindow".
std::string_view ToString(HoldReason reason);

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
};

/// The answer: go, or a reason to wait.
struct Decision {
  std::optional<Hold> hold{};
  /// Write kLastRolloutAnnotation with the rollout.
  bool tracked = false;
};

/// A rollout that waits, with its history.
struct Pending {
  Hold hold{};
  base::WallTime since{};
  std::uint64_t sequence = 0;  ///< in order of arrival
  Effective effective{};
};

/// A policy's figures.
struct PolicyReport {
  int active = 0;
  int failed = 0;
  /// Rollouts that wait because of it, first come first.
  std::vector<std::pair<ObjectRef, const Pending*>> pending{};
  bool stopped = false;
};

/// Knows policies, rollouts under way and rollouts that wait. What it must remember across restarts
/// stands on the workloads: Observe all of them first. Not thread-safe.
class Gate {
 public:
  explicit Gate(Settings flags = {}) : policies_(std::move(flags)) {}

  const PolicySet& policies() const { return policies_; }
  void SetPolicy(Policy policy);
  void RemovePolicy(const PolicyId& id);

  /// A workload as it is now. `initial`: from the first list, where a rollout that is not complete
  /// and begun long ago has failed; later it would be somebody else's.
  void Observe(const ObjectRef& workload, const Annotations& annotations, Phase phase, bool initial,
               base::WallTime now);
  /// The workload is gone.
  void Forget(const ObjectRef& workload);

  /// Whether it may be rolled; changes nothing.
  Decision Ask(const Request& request, base::WallTime now) const;
  /// As Ask. If it may, the rollout counts as under way from now on; else as waiting.
  Decision Begin(const Request& request, base::WallTime now);
  /// The rollout waits for a reason that the caller found.
  void Wait(const Request& request, Hold hold, base::WallTime now);
  /// The write that followed Begin failed: the rollout is not under way.
  void Cancel(const ObjectRef& workload);
  /// There is nothing to roll any more.
  void Done(const ObjectRef& workload);

  /// Waiting workloads for which an answer may have changed, each given once until it asks again.
  std::vector<ObjectRef> TakeWakes(base::WallTime now);

  PolicyReport ReportFor(const Policy& policy, base::WallTime now) const;
  bool IsActive(const ObjectRef& workload) const { return rollouts_.contains(workload); }
  const std::map<ObjectRef, Pending>& pending() const { return pending_; }
  /// Rollouts that are under way or have failed.
  std::size_t rollouts() const { return rollouts_.size(); }

 private:
  struct Rollout {
    base::WallTime started{};
    base::Duration timeout{};
    Phase phase = Phase::kUpdating;
    bool observed = false;  ///< the status seen is of this rollout or a later one
    bool FailedAt(base::WallTime now) const;
  };
  struct Load {
    int in_namespace = 0;
    int in_cluster = 0;
    const ObjectRef* unhealthy = nullptr;  ///< one that only a health gate counts
  };

  Decision Ask(const Request& request, const Effective& effective, base::WallTime now) const;
  void Wait(const ObjectRef& workload, Hold hold, Effective effective, base::WallTime now);
  std::optional<Hold> CheckTimes(const Request& request, const Effective& effective,
                                 base::WallTime now) const;
  std::optional<Hold> CheckFailures(const ObjectRef& workload, const Effective& effective,
                                    base::WallTime now) const;
  std::optional<Hold> CheckOrder(const Request& request, const Effective& effective) const;
  std::optional<Hold> CheckLimits(const ObjectRef& workload, const Effective& effective,
                                  base::WallTime now) const;
  Load LoadFor(const ObjectRef& workload, bool healthy_only, base::WallTime now) const;
  int FailuresUnder(const std::optional<PolicyId>& policy, const ObjectRef* except,
                    base::WallTime now) const;
  bool MayGoOn(const ObjectRef& workload, const Pending& pending, base::WallTime now) const;

  PolicySet policies_;
  std::map<ObjectRef, Rollout> rollouts_;
  std::map<ObjectRef, Pending> pending_;
  /// Woken and not heard of since: they are about to take a place.
  std::set<ObjectRef> woken_;
  std::uint64_t next_sequence_ = 0;
  bool wake_all_ = false;
  bool wake_some_ = false;
};

}  // namespace kubexx::reloadpolicy

#endif  // KUBEXX_RELOADPOLICY_GATE_H_
