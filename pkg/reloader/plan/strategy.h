/// @file
/// How a rollout shows in the pod template: the two values of --reload-strategy.
#ifndef KUBEXX_RELOADER_PLAN_STRATEGY_H_
#define KUBEXX_RELOADER_PLAN_STRATEGY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloader/plan/planner.h"
#include "kubexx/reloader/plan/workload_write.h"

namespace kubexx::reloader {

enum class ReloadStrategy : std::uint8_t {
  kEnvVars,      ///< a variable for each source in the container that uses it
  kAnnotations,  ///< one annotation that names the source of the last rollout
};

/// Stands in last-reloaded-from for the digest of a source that was deleted, as in
/// stakater/Reloader.
const Digest& DeleteMarker();

/// The annotation's value, as stakater/Reloader writes it: the source, its digest, the one
/// container that uses it, and when the change was seen.
std::string LastReloadedFrom(const SourceId& source, const Digest& digest,
                             std::string_view container, base::WallTime now);

/// The source and the digest that a workload's last-reloaded-from names; nothing when it has none
/// or it cannot be read.
struct ReloadedFrom {
  SourceId source{};
  std::string hash{};
  bool operator==(const ReloadedFrom&) const = default;
};
std::optional<ReloadedFrom> ParseReloadedFrom(const Workload& workload);

/// The write that makes `changes`. With kAnnotations it names the last of their causes: the
/// annotation holds one.
WorkloadWrite MakeWrite(const Workload& workload, const std::vector<Change>& changes,
                        ReloadStrategy strategy, base::WallTime now);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_STRATEGY_H_
