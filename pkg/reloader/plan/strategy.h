/// @file
/// How a rollout changes the pod template, according to --reload-strategy.
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

/// The values of --reload-strategy.
enum class ReloadStrategy : std::uint8_t {
  kEnvVars,      ///< one variable per source, in the container that uses it
  kAnnotations,  ///< one annotation, which names the source of the last rollout
};

/// Replaces the digest of a deleted source in last-reloaded-from, as in stakater/Reloader.
const Digest& DeleteMarker();

/// The value of the annotation as stakater/Reloader writes it: the source, its digest, the one
/// container that uses it, and the time at which the change was seen.
std::string LastReloadedFrom(const SourceId& source, const Digest& digest,
                             std::string_view container, base::WallTime now);

/// The source and the digest that a workload's last-reloaded-from contains.
struct ReloadedFrom {
  SourceId source{};
  std::string hash{};
  bool operator==(const ReloadedFrom&) const = default;
};
/// Reads a value of the annotation. Returns std::nullopt when that is not possible.
std::optional<ReloadedFrom> ParseReloadedFrom(std::string_view text);
/// Returns std::nullopt when the workload has no such annotation, or it cannot be read.
std::optional<ReloadedFrom> ParseReloadedFrom(const Workload& workload);

/// The write that makes `changes`. With kAnnotations it contains only the last of their causes,
/// because the annotation has room for one source.
///
/// The template of a Deployment that another workload uses is written before the baseline, which is
/// on that workload. A process that begins in between would roll the workload again, so the
/// template tells for which versions of its sources it was written: see IsRolledAt.
WorkloadWrite MakeWrite(const Workload& workload, const std::vector<Change>& changes,
                        ReloadStrategy strategy, base::WallTime now);

/// Whether kRestartedFor says that the operator wrote the pod template for this version of the
/// source. Then no write of the source came in between if that is still its version, so that all
/// pods of the template, whenever they began, have its present data. False for version 0.
bool IsRolledAt(const Workload& workload, const SourceId& source, std::uint64_t version);

/// How `workload` will show whether `write`, which was made for it, has been made. Without the
/// sources.
Attempt AttemptOf(const Workload& workload, const WorkloadWrite& write);

/// Whether the pod template has what only this write sets.
bool HasMark(const Workload& workload, const Attempt& attempt);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_STRATEGY_H_
