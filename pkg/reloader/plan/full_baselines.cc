#include "kubexx/reloader/plan/full_baselines.h"

namespace kubexx::reloader {

bool FullBaselines::Note(const WorkloadId& id, bool is_full,
                         base::FunctionRef<void(std::size_t)> show) {
  const base::MutexLock lock(mu_);
  const bool has_changed = is_full ? full_.insert(id).second : full_.erase(id) > 0;
  show(full_.size());
  return is_full && has_changed;
}

void FullBaselines::Leave(base::FunctionRef<bool(const std::string& namespace_)> left,
                          base::FunctionRef<void(std::size_t)> show) {
  const base::MutexLock lock(mu_);
  std::erase_if(full_, [&](const WorkloadId& id) { return left(id.key.namespace_); });
  show(full_.size());
}

}  // namespace kubexx::reloader
