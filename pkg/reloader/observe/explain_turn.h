/// @file
/// Which other workloads have to be rolled before a workload, as far as Explain can see.
#ifndef KUBEXX_RELOADER_OBSERVE_EXPLAIN_TURN_H_
#define KUBEXX_RELOADER_OBSERVE_EXPLAIN_TURN_H_

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "kubexx/reloader/observe/explain.h"
#include "kubexx/reloadpolicy/arbiter.h"
#include "kubexx/reloadpolicy/wave_line.h"

namespace kubexx::reloader {

/// The workloads that sources concern, divided into waves, as they are at one moment. Without it a
/// question about one workload costs time in proportion to all of them. Not thread-safe.
struct WaveLines {
  struct Line {
    reloadpolicy::WaveLine line;
    std::map<reloadpolicy::ObjectRef, Workload> users{};
    /// So many members, counted from the first, need not be waited for.
    std::size_t done = 0;
  };
  std::map<std::pair<SourceId, std::optional<reloadpolicy::PolicyId>>, Line> lines{};
};

/// Looks for them as PolicyEnforcer does: workloads of a lower order that have not been rolled for
/// a cause of the present rollout, or are not healthy since then. Returns at most one of them.
std::vector<reloadpolicy::ObjectRef> WorkloadsBefore(const ExplainInput& input, const Plan& plan,
                                                     int order, PatternCache& patterns);

/// Adds to the question whether a rollout may begin what waves need, as PolicyEnforcer does: the
/// versions of the data that are due, and the first workload of an earlier wave that has to be
/// rolled for them. Adds nothing where no policy has waves.
void AskForWaves(const ExplainInput& input, const Plan& plan,
                 const reloadpolicy::Effective& effective, PatternCache& patterns,
                 reloadpolicy::Request& request);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OBSERVE_EXPLAIN_TURN_H_
