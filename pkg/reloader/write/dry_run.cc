#include "kubexx/reloader/write/dry_run.h"

#include <string>

namespace kubexx::reloader {

DryRunWriter::DryRunWriter(metrics::Registry* registry) {
  for (const WorkloadKind kind : AllWorkloadKinds()) {
    if (registry != nullptr) {
      rollouts_[kind] = registry->Counter("kubexx_reloader_dry_run_rollouts_total",
                                          "Rollouts that would have been made.",
                                          {{"kind", std::string(KindName(kind))}});
    }
  }
}

apimachinery::Result<WriteOutcome> DryRunWriter::Write(const WorkloadId& workload,
                                                       const WorkloadWrite& write,
                                                       std::stop_token stop) {
  (void)stop;
  WriteOutcome outcome{.rolled = false, .recorded = true, .made = false};
  if (write.Rolls() && write.suspended) {
    outcome.left_alone = kSuspendedText;
  } else if (write.Rolls()) {
    if (const auto counter = rollouts_.find(workload.kind); counter != rollouts_.end()) {
      counter->second.Increment();
    }
  }
  return outcome;
}

}  // namespace kubexx::reloader
