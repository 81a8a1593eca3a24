/// @file
/// Counts the workloads whose baseline has no room for all their sources.
#ifndef KUBEXX_RELOADER_PLAN_FULL_BASELINES_H_
#define KUBEXX_RELOADER_PLAN_FULL_BASELINES_H_

#include <cstddef>
#include <set>
#include <string>

#include "kubexx/base/function_ref.h"
#include "kubexx/base/mutex.h"
#include "kubexx/reloader/model/workload.h"

namespace kubexx::reloader {

/// Counts such workloads, and tells which of them are new. Thread-safe.
class FullBaselines {
 public:
  /// Reports whether the workload's baseline is full; pass false when the workload is gone, too.
  /// Returns true when the baseline was not full before. Calls `show` with the new count under the
  /// lock, so that with several threads the latest count is shown last.
  bool Note(const WorkloadId& id, bool is_full, base::FunctionRef<void(std::size_t)> show);
  /// Forgets the workloads of the namespaces for which `left` returns true. `show`: see Note.
  void Leave(base::FunctionRef<bool(const std::string& namespace_)> left,
             base::FunctionRef<void(std::size_t)> show);

 private:
  mutable base::Mutex mu_;
  std::set<WorkloadId> full_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_FULL_BASELINES_H_
