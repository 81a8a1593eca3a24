/// @file
/// The workloads whose baseline has no room for all their sources.
#ifndef KUBEXX_RELOADER_PLAN_FULL_BASELINES_H_
#define KUBEXX_RELOADER_PLAN_FULL_BASELINES_H_

#include <cstddef>
#include <set>
#include <string>

#include "kubexx/base/function_ref.h"
#include "kubexx/base/mutex.h"
#include "kubexx/reloader/model/workload.h"

namespace kubexx::reloader {

/// Counts them, and tells which are new. Thread-safe.
class FullBaselines {
 public:
  /// A look at a workload; whether that its baseline is full is news. Not full: also when the
  /// workload is gone. `show` is given how many there are then, under the lock: of two threads'
  /// counts the later one is shown last.
  bool Note(const WorkloadId& id, bool is_full, base::FunctionRef<void(std::size_t)> show);
  /// Forgets the workloads of these namespaces; `show` as for Note.
  void Leave(base::FunctionRef<bool(const std::string& namespace_)> left,
             base::FunctionRef<void(std::size_t)> show);

 private:
  mutable base::Mutex mu_;
  std::set<WorkloadId> full_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_FULL_BASELINES_H_
