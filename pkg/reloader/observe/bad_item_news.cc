#include "kubexx/reloader/observe/bad_item_news.h"

#include <utility>

namespace kubexx::reloader {

std::vector<BadItem> BadItemNews::News(const WorkloadId& id, const std::vector<BadItem>& items) {
  const base::MutexLock lock(mu_);
  if (items.empty()) {
    known_.erase(id);
    return {};
  }
  std::set<Digest>& known = known_[id];
  std::set<Digest> present;
  std::vector<BadItem> news;
  for (const BadItem& item : items) {
    const Digest digest = DigestOf(item.item);
    if (present.insert(digest).second && !known.contains(digest)) {
      news.push_back(item);
    }
  }
  known = std::move(present);
  return news;
}

void BadItemNews::Forget(const WorkloadId& id) {
  const base::MutexLock lock(mu_);
  known_.erase(id);
}

void BadItemNews::Leave(base::FunctionRef<bool(const std::string& namespace_)> left) {
  const base::MutexLock lock(mu_);
  std::erase_if(known_, [&](const auto& entry) { return left(entry.first.key.namespace_); });
}

}  // namespace kubexx::reloader
