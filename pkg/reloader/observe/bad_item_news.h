/// @file
/// Finds the bad items of reload annotations that have not been reported yet.
#ifndef KUBEXX_RELOADER_OBSERVE_BAD_ITEM_NEWS_H_
#define KUBEXX_RELOADER_OBSERVE_BAD_ITEM_NEWS_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "kubexx/base/function_ref.h"
#include "kubexx/base/mutex.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloader/plan/decision.h"

namespace kubexx::reloader {

/// Distinguishes new bad items of a workload from those that it had at the previous look. Keeps a
/// digest of each bad item of each existing workload. Thread-safe.
class BadItemNews {
 public:
  /// Returns those of `items` that the workload did not have at the previous call, without
  /// duplicates.
  std::vector<BadItem> News(const WorkloadId& id, const std::vector<BadItem>& items);
  /// The workload was deleted.
  void Forget(const WorkloadId& id);
  /// Forgets the workloads in the namespaces for which `left` returns true: another replica works
  /// on them now.
  void Leave(base::FunctionRef<bool(const std::string& namespace_)> left);

 private:
  base::Mutex mu_;
  std::map<WorkloadId, std::set<Digest>> known_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OBSERVE_BAD_ITEM_NEWS_H_
