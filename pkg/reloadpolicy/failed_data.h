/// @file
/// The data for which rollouts in waves have failed.
#ifndef KUBEXX_RELOADPOLICY_FAILED_DATA_H_
#define KUBEXX_RELOADPOLICY_FAILED_DATA_H_

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "kubexx/base/clock.h"
#include "kubexx/reloadpolicy/policy.h"
#include "kubexx/reloadpolicy/rolled_data.h"

namespace kubexx::reloadpolicy {

/// The data with which a workload has failed in a wave. No other workload is rolled for them.
struct FailedData {
  std::string uid{};  ///< of the workload
  DataVersions versions{};
  base::WallTime since{};
  /// When the rollout began. A rollout that began later and ends well ends the failure.
  base::WallTime started{};
  /// Their sources have other data by now. They still hold back whoever gets them again.
  bool is_past = false;
  /// When the workload was deleted; std::nullopt: it has not been.
  std::optional<base::WallTime> gone_since{};

  /// Until when a workload that was deleted holds others back; std::nullopt: it exists.
  std::optional<base::WallTime> EndOfGone() const;
  /// The clock has been set back to `now`.
  void Clamp(base::WallTime now);
};

/// So long after a workload was deleted that had failed, nobody else is rolled for its data:
/// `kubectl replace --force` deletes it and makes it anew.
inline constexpr base::Duration kMadeAnewWithin = std::chrono::seconds(10);

/// By the workloads that have failed.
using FailedDataMap = std::map<ObjectRef, FailedData>;

/// A workload that has failed with one of `versions`, other than `workload` itself and in its
/// namespace; null: none has.
const FailedDataMap::value_type* FindFailed(const FailedDataMap& all, const ObjectRef& workload,
                                            const DataVersions& versions);

/// The versions to record for a rollout for `versions`, of a workload that has failed with
/// `failed`: also those that failed and are not replaced by newer ones.
DataVersions WithOlder(DataVersions versions, const DataVersions& failed);

/// The sources of the versions, as "ConfigMap/a, Secret/b", each named once; of many the first ten,
/// and the number of the others.
std::string SourcesOf(const DataVersions& versions);

/// A workload that had failed in a wave before this process started. A policy's status tells of it.
struct RememberedData {
  ObjectRef workload{};
  std::string uid{};
  DataVersions versions{};
  base::WallTime since{};
};

}  // namespace kubexx::reloadpolicy

#endif  // KUBEXX_RELOADPOLICY_FAILED_DATA_H_
