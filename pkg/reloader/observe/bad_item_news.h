/// @file
/// Which bad items of reload annotations have not been told of.
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

/// Tells the bad items that a workload has got from those that it had at the last look. Keeps a
/// digest of each that is in an annotation of a workload that is there. Thread-safe.
class BadItemNews {
 public:
  /// Those of `items`, each once, that the workload did not have at the last call.
  std::vector<BadItem> News(const WorkloadId& id, const std::vector<BadItem>& items);
  /// The workload is gone.
  void Forget(const WorkloadId& id);
  /// Those of these namespaces are somebody else's.
  void Leave(base::FunctionRef<bool(const std::string& namespace_)> left);

 private:
  base::Mutex mu_;
  std::map<WorkloadId, std::set<Digest>> known_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OBSERVE_BAD_ITEM_NEWS_H_
