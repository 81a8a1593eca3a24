/// @file
/// Forecasts in which order, and when, rollouts would be made.
#ifndef KUBEXX_RELOADER_OBSERVE_FORECAST_H_
#define KUBEXX_RELOADER_OBSERVE_FORECAST_H_

#include <optional>
#include <set>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloadpolicy/arbiter.h"

namespace kubexx::reloader {

/// A workload that is to be rolled.
struct DueWorkload {
  /// Not null, and not owned.
  const Workload* workload = nullptr;
  std::set<SourceId> causes{};
  /// Something else than the arbiter holds it back for now, such as a paused source.
  std::optional<reloadpolicy::Hold> held{};
};

/// What becomes of it.
struct Forecast {
  WorkloadId workload{};
  /// Rollouts of step 1 begin at once; those of step n + 1 when rollouts of step n have ended, or a
  /// time has come. 0: it cannot be told when the rollout begins, and `hold` says why.
  int step = 0;
  /// The rollout does not begin before this time. std::nullopt: no time is known that it waits for.
  std::optional<base::WallTime> not_before{};
  /// Why it does not begin at once; std::nullopt: it does.
  std::optional<reloadpolicy::Hold> hold{};
};

/// Forecasts the rollouts of `due` in the order in which they would begin; those of which that
/// cannot be told come last. Asks `arbiter`, which should be a copy of the operator's, again and
/// again, as the operator does, and assumes that each rollout ends well, and takes no longer than
/// its soak time. The same is assumed of the rollouts of `users` that are under way: the workloads
/// that may use one of the causes. Of workloads that may begin at the same time, those come first
/// that come first by name. Pure.
std::vector<Forecast> ForecastRollouts(reloadpolicy::Arbiter arbiter, std::vector<DueWorkload> due,
                                       const std::vector<Workload>& users, base::WallTime now);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OBSERVE_FORECAST_H_
