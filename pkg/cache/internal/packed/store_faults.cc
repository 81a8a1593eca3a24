#include "kubexx/cache/internal/packed/store_faults.h"

#include <utility>

#include "kubexx/logging/log.h"

namespace kubexx::cache {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;

void StoreFaults::ReportUndecodable(const apimachinery::ObjectKey& key, const Status& status) {
  CountUndecodable();
  if (const auto left_out = undecodable_lines_.Admit()) {
    logging::Error("Cannot decode a cached object", {{"informer", options_.name},
                                                     {"key", key.ToString()},
                                                     {"error", status},
                                                     {"others", *left_out}});
  }
}

Status StoreFaults::Named(const apimachinery::ObjectKey& key, const Status& status) const {
  return status.WithContext((options_.name.empty() ? "" : "the cache of " + options_.name + ": ") +
                            '"' + key.ToString() + '"');
}

bool StoreFaults::HasState(std::string_view scope) const {
  const base::MutexLock lock(mu_);
  return scopes_with_state_.contains(scope);
}

void StoreFaults::Replace(std::string_view scope, Unreadable unreadable) {
  const base::MutexLock lock(mu_);
  scopes_with_state_.emplace(scope);
  if (unreadable.count > 0) {
    unreadable_.insert_or_assign(std::string(scope), std::move(unreadable));
  } else if (const auto found = unreadable_.find(scope); found != unreadable_.end()) {
    unreadable_.erase(found);
  }
}

void StoreFaults::Add(std::string_view scope, const Status& why) {
  const base::MutexLock lock(mu_);
  unreadable_[std::string(scope)].Add(why);
}

Result<void> StoreFaults::Check(std::string_view scope) const {
  const base::MutexLock lock(mu_);
  const auto found = unreadable_.find(scope);
  return found == unreadable_.end() ? Result<void>() : ErrorOf(found->second);
}

Result<void> StoreFaults::CheckAll() const {
  const base::MutexLock lock(mu_);
  return unreadable_.empty() ? Result<void>() : ErrorOf(unreadable_.begin()->second);
}

apimachinery::Error StoreFaults::ErrorOf(const Unreadable& unreadable) const {
  return Fail(
      Reason::kMalformed,
      "the cache of " + options_.name + " lacks " + std::to_string(unreadable.count) +
          " objects or changes that could not be read; the first: " + unreadable.first.ToString());
}

}  // namespace kubexx::cache
