#include "kubexx/reloader/watch/provider_classes.h"

#include <algorithm>
#include <iterator>

namespace kubexx::reloader {

bool ProviderClasses::Observe(const PodReport& report) {
  const base::MutexLock lock(mu_);
  History& history = classes_[report.source];
  const auto newest_change =
      std::ranges::find_if(history, [](const auto& each) { return each.second.updated; });
  if (newest_change != history.end() && report.version <= newest_change->first) {
    return false;  // it is older than what is known
  }
  const bool is_known = std::ranges::any_of(
      history, [&](const auto& each) { return each.second.digest == report.digest; });
  if (is_known && !report.updated) {
    return false;
  }
  const std::vector<Seen> before = States(history);
  if (report.updated) {
    history.erase(history.begin(), history.upper_bound(report.version));
  }
  std::erase_if(history, [&](const auto& each) { return each.second.digest == report.digest; });
  history[report.version] = {report.digest, report.updated};
  if (history.size() > kMaxDigests) {
    history.erase(std::next(history.begin()));  // the newest change stays
  }
  return States(history) != before;
}

std::vector<ProviderClasses::Seen> ProviderClasses::States(const History& history) {
  std::vector<Seen> states;
  for (const auto& [version, seen] : history) {
    states.push_back(seen);
  }
  return states;
}

void ProviderClasses::Forget(const SourceId& id) {
  const base::MutexLock lock(mu_);
  classes_.erase(id);
}

std::optional<Source> ProviderClasses::Get(const SourceId& id) const {
  const base::MutexLock lock(mu_);
  const auto found = classes_.find(id);
  if (found == classes_.end() || found->second.empty()) {
    return std::nullopt;
  }
  Source source{.id = id, .digest = found->second.rbegin()->second.digest, .updated = false};
  for (const auto& [version, seen] : found->second) {
    source.current.push_back(seen.digest);
    if (seen.updated) {
      source.updated = true;
      source.resource_version = version;
    }
  }
  return source;
}

std::vector<std::string> ProviderClasses::Names(std::string_view namespace_) const {
  std::vector<std::string> names;
  const base::MutexLock lock(mu_);
  const SourceId first{SourceType::kSecretProviderClass, {std::string(namespace_), ""}};
  for (auto each = classes_.lower_bound(first);
       each != classes_.end() && each->first.key.namespace_ == namespace_; ++each) {
    names.push_back(each->first.key.name);
  }
  return names;
}

}  // namespace kubexx::reloader
