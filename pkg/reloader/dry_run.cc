#include "kubexx/reloader/dry_run.h"

#include <string>

#include "kubexx/logging/log.h"

namespace kubexx::reloader {

DryRunWriter::DryRunWriter(metrics::Registry* registry) {
  for (const WorkloadKind kind : kWorkloadKinds) {
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
  if (write.Rolls()) {
    logging::Info("Would roll workload", {{"workload", workload.key.name},
                                          {"kind", KindName(workload.kind)},
                                          {"namespace", workload.key.namespace_}});
    if (const auto counter = rollouts_.find(workload.kind); counter != rollouts_.end()) {
      counter->second.Increment();
    }
  }
  return WriteOutcome{.rolled = false, .recorded = true};
}

}  // namespace kubexx::reloader
