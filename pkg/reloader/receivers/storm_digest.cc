#include "kubexx/reloader/receivers/storm_digest.h"

#include <algorithm>

namespace kubexx::reloader {

void StormDigest::Add(const Notification& notification) {
  end_ = std::max(end_, notification.time);
  ++counts_[static_cast<std::size_t>(notification.severity)];
  Key key{.severity = notification.severity,
          .reason = notification.reason,
          .namespace_ = notification.namespace_};
  if (!notification.sources.empty()) {
    key.source = notification.sources.front().ToString();
  } else if (notification.is_of_policy) {
    key.source = PolicyRef(notification.policies.front());
  }
  auto found = groups_.find(key);
  if (found == groups_.end()) {
    if (!MakeRoom(key.severity)) {
      ++others_;
      return;
    }
    found = groups_.try_emplace(std::move(key)).first;
  }
  Group& group = found->second;
  ++group.count;
  if (group.names.size() < kMaxNames && notification.workload) {
    std::string name = notification.workload->ToString();
    if (std::ranges::find(group.names, name) == group.names.end()) {
      group.names.push_back(std::move(name));
    }
  }
}

bool StormDigest::MakeRoom(Severity severity) {
  if (groups_.size() < kMaxGroups) {
    return true;
  }
  const auto rank = [](const auto& group) {
    return std::pair(group.first.severity, group.second.count);
  };
  const auto least = std::ranges::min_element(groups_, {}, rank);
  if (least->first.severity >= severity) {
    return false;
  }
  others_ += least->second.count;
  groups_.erase(least);
  return true;
}

Severity StormDigest::severity() const {
  return Count(Severity::kError) > 0     ? Severity::kError
         : Count(Severity::kWarning) > 0 ? Severity::kWarning
                                         : Severity::kInfo;
}

std::vector<std::pair<StormDigest::Key, StormDigest::Group>> StormDigest::Groups() const {
  std::vector<std::pair<Key, Group>> groups(groups_.begin(), groups_.end());
  std::ranges::stable_sort(groups, [](const auto& a, const auto& b) {
    return a.first.severity != b.first.severity ? a.first.severity > b.first.severity
                                                : a.second.count > b.second.count;
  });
  return groups;
}

}  // namespace kubexx::reloader
