/// @file
/// The writer of --dry-run, which writes nothing.
#ifndef KUBEXX_RELOADER_WRITE_DRY_RUN_H_
#define KUBEXX_RELOADER_WRITE_DRY_RUN_H_

#include <map>
#include <stop_token>

#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/write/writer.h"

namespace kubexx::reloader {

/// Counts each rollout that would be made in kubexx_reloader_dry_run_rollouts_total by kind, and
/// returns an outcome that says that it was not made. The caller logs it. Does not count a rollout
/// of a suspended CronJob, which would not be made anyway. Thread-safe.
/// would be left alone. Thread-safe.
class DryRunWriter final : public WorkloadWriter {
 public:
  explicit DryRunWriter(metrics::Registry* registry);

  /// Returns `rolled` = false: no new pods start, so the rollout must not count for any limit.
  apimachinery::Result<WriteOutcome> Write(const WorkloadId& workload, const WorkloadWrite& write,
                                           std::stop_token stop) override;

 private:
  std::map<WorkloadKind, metrics::Counter> rollouts_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WRITE_DRY_RUN_H_
