/// @file
/// Finds what is wrong with rollouts that policies hold back.
#ifndef KUBEXX_RELOADER_POLICY_TROUBLE_REPORTER_H_
#define KUBEXX_RELOADER_POLICY_TROUBLE_REPORTER_H_

#include <chrono>
#include <map>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/reloader/policy/policy_gate.h"
#include "kubexx/reloader/write/notifier.h"

namespace kubexx::reloader {

/// Looks at the state of policies at intervals and tells, once for each time, of a policy that has
/// stopped after failures, and of one because of which rollouts have waited for long for others (a
/// limit, a health gate, an order; windows and pauses are somebody's wish). What is over at the
/// second look, as after a start, is no trouble. Used by one thread at a time.
class TroubleReporter {
 public:
  /// `observer` must outlive this. `is_long`: how long a rollout waits before that is told.
  explicit TroubleReporter(TroubleObserver& observer,
                           base::Duration is_long = std::chrono::hours(1))
      : observer_(observer), is_long_(is_long) {}

  /// `states`: all policies that this replica speaks for. Others are forgotten.
  void Look(const std::vector<PolicyState>& states, base::WallTime now);

 private:
  struct Known {
    bool was_stopped = false;  ///< at the last look
    bool stop_is_told = false;
    bool hold_is_told = false;
  };

  void LookAtStop(const PolicyState& state, Known& known) const;
  void LookAtHolds(const PolicyState& state, base::WallTime now, Known& known) const;

  TroubleObserver& observer_;
  const base::Duration is_long_;
  std::map<reloadpolicy::PolicyId, Known> known_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_POLICY_TROUBLE_REPORTER_H_
