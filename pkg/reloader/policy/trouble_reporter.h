/// @file
/// Finds problems with rollouts that policies hold back.
#ifndef KUBEXX_RELOADER_POLICY_TROUBLE_REPORTER_H_
#define KUBEXX_RELOADER_POLICY_TROUBLE_REPORTER_H_

#include <chrono>
#include <map>
#include <utility>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/reloader/policy/policy_enforcer.h"
#include "kubexx/reloader/write/notifier.h"

namespace kubexx::reloader {

/// Looks at the state of policies at intervals, and informs the observers once of each policy that
/// has stopped rollouts after failures, of each with a wave that has failed, and of each that makes
/// rollouts wait for other rollouts for a long time (because of a limit, a health gate, an order or
/// waves, not of windows and pauses, which somebody has chosen). A stop that has ended by the next
/// look, such as right after a start, is not reported. Use it on one thread at a time.
class TroubleReporter {
 public:
  /// `observers` must outlive this object. `is_long`: how long a rollout must wait before that is
  /// reported.
  explicit TroubleReporter(TroubleObservers observers,
                           base::Duration is_long = std::chrono::hours(1))
      : observers_(std::move(observers)), is_long_(is_long) {}

  /// `states`: all policies that this replica reports. Forgets other policies.
  void Look(const std::vector<PolicyState>& states, base::WallTime now);

 private:
  struct Known {
    bool was_stopped = false;  ///< at the previous look
    bool stop_is_told = false;
    bool hold_is_told = false;
    bool had_failed_wave = false;  ///< at the previous look
    bool wave_is_told = false;
  };

  void Tell(const RolloutTrouble& trouble) const;
  void LookAtStop(const PolicyState& state, Known& known) const;
  void LookAtWaves(const PolicyState& state, Known& known) const;
  void LookAtHolds(const PolicyState& state, base::WallTime now, Known& known) const;

  const TroubleObservers observers_;
  const base::Duration is_long_;
  std::map<reloadpolicy::PolicyId, Known> known_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_POLICY_TROUBLE_REPORTER_H_
