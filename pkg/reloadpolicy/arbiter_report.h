/// @file
/// PolicyReport: what an Arbiter tells of the rollouts under a policy.
#ifndef KUBEXX_RELOADPOLICY_ARBITER_REPORT_H_
#define KUBEXX_RELOADPOLICY_ARBITER_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/reloadpolicy/effective.h"
#include "kubexx/reloadpolicy/failed_data.h"
#include "kubexx/reloadpolicy/hold.h"
#include "kubexx/reloadpolicy/policy.h"
#include "kubexx/reloadpolicy/rollout.h"

namespace kubexx::reloadpolicy {

/// A rollout that waits, and for how long it has waited.
struct Pending {
  Hold hold{};
  base::WallTime since{};
  /// Since when the rollout has waited for other rollouts without interruption (see IsForOthers);
  /// std::nullopt when its present reason is another one.
  std::optional<base::WallTime> for_others_since{};
  std::uint64_t sequence = 0;  ///< ascending in the order in which requests arrived
  Effective effective{};
};

/// What a policy's status reports.
struct PolicyReport {
  int active = 0;
  /// Rollouts that have failed and whose workloads have not become healthy since.
  std::vector<std::pair<ObjectRef, const Rollout*>> failed{};
  /// Rollouts that wait because of this policy, ordered by arrival.
  std::vector<std::pair<ObjectRef, const Pending*>> pending{};
  /// The rollout in `pending` that has waited longest for other rollouts; `second` is null when no
  /// rollout waits for others.
  std::pair<ObjectRef, const Pending*> longest_for_others{};
  bool stopped = false;
  /// The workloads that have failed in a wave of this policy with data that are present.
  std::vector<const FailedDataMap::value_type*> failed_waves{};
};

/// A text such as "2 rollouts have failed: Deployment/shop/a, Deployment/shop/b". `total` is the
/// number in the text; the text names at most the first five of `failures`, which may hold fewer
/// than `total`.
std::string FailedText(const std::vector<ObjectRef>& failures, std::size_t total);

}  // namespace kubexx::reloadpolicy

#endif  // KUBEXX_RELOADPOLICY_ARBITER_REPORT_H_
