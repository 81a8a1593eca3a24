#include "kubexx/reloader/plan/pattern_cache.h"

namespace kubexx::reloader {

std::shared_ptr<const PatternList> PatternCache::GetIfHere(std::string_view list) const {
  const base::MutexLock lock(mu_);
  const auto found = lists_.find(list);
  return found == lists_.end() ? nullptr : found->second;
}

std::shared_ptr<const PatternList> PatternCache::Get(std::string_view list) {
  if (auto found = GetIfHere(list)) {
    return found;
  }
  auto compiled = std::make_shared<const PatternList>(list);
  const std::size_t size = compiled->bytes() + list.size();  // the list itself is the key
  const base::MutexLock lock(mu_);
  ++compiled_;
  if (bytes_ + size > max_bytes_) {
    lists_.clear();  // this is rare, and cheaper than to track the order of use at every match
    bytes_ = 0;
  }
  if (size <= max_bytes_ && lists_.emplace(list, compiled).second) {
    bytes_ += size;
  }
  return compiled;
}

std::size_t PatternCache::bytes() const {
  const base::MutexLock lock(mu_);
  return bytes_;
}

std::size_t PatternCache::compiled() const {
  const base::MutexLock lock(mu_);
  return compiled_;
}

}  // namespace kubexx::reloader
