#include "kubexx/reloadpolicy/last_starts.h"

#include <algorithm>

namespace kubexx::reloadpolicy {

bool LastStarts::IsAnother(const ObjectRef& workload, const Entry& entry, const std::string& uid) {
  return workload.kind != "Job" && !uid.empty() && !entry.uid.empty() && entry.uid != uid;
}

void LastStarts::Note(const ObjectRef& workload, const std::string& uid, base::WallTime started,
                      base::Duration own_interval) {
  const auto [at, is_new] = starts_.try_emplace(workload, Entry{uid, started, own_interval});
  if (is_new) {
    return;
  }
  Entry& entry = at->second;
  if (IsAnother(workload, entry, uid)) {
    entry = {uid, started, own_interval};
    return;
  }
  if (!uid.empty()) {
    entry.uid = uid;
  }
  entry.started = std::max(entry.started, started);
  entry.own_interval = own_interval;
}

std::optional<base::WallTime> LastStarts::Find(const ObjectRef& workload,
                                               const std::string& uid) const {
  const auto found = starts_.find(workload);
  if (found == starts_.end() || IsAnother(workload, found->second, uid)) {
    return std::nullopt;
  }
  return found->second.started;
}

void LastStarts::Clamp(base::WallTime now) {
  for (auto& [workload, entry] : starts_) {
    entry.started = std::min(entry.started, now);
  }
}

void LastStarts::Prune(base::WallTime now,
                       base::FunctionRef<base::Duration(const ObjectRef&)> longest_for) {
  std::erase_if(starts_, [&](const auto& item) {
    const auto& [workload, entry] = item;
    return entry.started + std::chrono::duration_cast<base::WallTime::duration>(
                               std::max(longest_for(workload), entry.own_interval)) <=
           now;
  });
}

}  // namespace kubexx::reloadpolicy
