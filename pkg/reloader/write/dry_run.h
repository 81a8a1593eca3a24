/// @file
/// What --dry-run writes through: nothing.
#ifndef KUBEXX_RELOADER_WRITE_DRY_RUN_H_
#define KUBEXX_RELOADER_WRITE_DRY_RUN_H_

#include <map>
#include <stop_token>

#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/write/writer.h"

namespace kubexx::reloader {

/// Counts each rollout that would be made in kubexx_reloader_dry_run_rollouts_total by kind, and
/// says that it was not; who asked for it logs it. One of a suspended CronJob is not counted: it
/// would be left alone. Thread-safe.
class DryRunWriter final : public WorkloadWriter {
 public:
  explicit DryRunWriter(metrics::Registry* registry);

  /// `rolled` is false: no pods come, so no limit counts the rollout.
  apimachinery::Result<WriteOutcome> Write(const WorkloadId& workload, const WorkloadWrite& write,
                                           std::stop_token stop) override;

 private:
  std::map<WorkloadKind, metrics::Counter> rollouts_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WRITE_DRY_RUN_H_
