/// @file
/// Shows the histories that operators have written on workloads.
#ifndef KUBEXX_RELOADER_HISTORY_HISTORY_VIEW_H_
#define KUBEXX_RELOADER_HISTORY_HISTORY_VIEW_H_

#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/dynamic/unstructured.h"
#include "kubexx/reloader/history/history.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/model/workload.h"

namespace kubexx::reloader {

/// The history of one workload, for people.
struct WorkloadHistory {
  WorkloadId workload{};
  /// The newest first, with the outcome that the workload's status tells of the newest.
  std::vector<HistoryEntry> rollouts{};
  /// Why there are none although the workload has the annotation; empty otherwise.
  std::string problem{};
};

/// Reads the history of a workload, which `object` is as the API server has it. Fails with
/// kMalformed when the object is none of that kind.
apimachinery::Result<WorkloadHistory> WorkloadHistoryOf(WorkloadKind kind,
                                                        const dynamic::Unstructured& object);

/// The history of a workload that was read already.
WorkloadHistory WorkloadHistoryOf(const Workload& workload);

/// The rollouts that one source caused, of all workloads.
struct SourceHistory {
  SourceId source{};
  /// Each has one rollout, in whose entry that source alone is left. The newest first.
  std::vector<WorkloadHistory> rollouts{};
  /// What could not be read, as clauses.
  std::vector<std::string> problems{};
};

/// Takes from the histories of workloads in the source's namespace what concerns the source.
SourceHistory SourceHistoryOf(const SourceId& source, const std::vector<WorkloadHistory>& all);

/// As text for people.
std::string ToText(const WorkloadHistory& history);
std::string ToText(const SourceHistory& history);
/// As one JSON object for programs.
std::string ToJson(const WorkloadHistory& history);
std::string ToJson(const SourceHistory& history);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_HISTORY_HISTORY_VIEW_H_
