// What an Oracle knows of pods of a template that began after others, maybe with other data.
#include <algorithm>
#include <string>

#include "kubexx/base/mutex.h"
#include "oracle/oracle.h"
#include "oracle/pod_template.h"

namespace kubexx::oracle {

void Oracle::PodBegins(const std::string& workload) {
  const base::MutexLock lock(mu_);
  const auto found = workloads_.find(workload);
  if (found == workloads_.end() || found->second.observed >= found->second.growing_generation ||
      found->second.is_paused || found->second.awaits_resume) {
    return;
  }
  for (const auto& [source, data] : found->second.read) {
    const auto now = data_.find(source);
    // Of a class every pod tells for itself.
    if (data && now != data_.end() && *data != now->second && !IsProviderClass(source) &&
        found->second.read_later[source].insert(now->second).second) {
      ++counts_.later_pods;
      tell_("pods", "another one of " + workload + " begins with " + source + " " + now->second);
    }
  }
}

const std::string* Oracle::OldOfLaterPodsLocked(const ObservedWorkload& workload) const {
  for (const auto& [source, read] : workload.read_later) {
    const std::string* const now = DataOfLocked(source);
    if (now != nullptr &&
        std::ranges::any_of(read, [&](const std::string& data) { return data != *now; })) {
      return &source;
    }
  }
  return nullptr;
}

void Oracle::CountLeftBehindLocked(const std::string& key, ObservedWorkload& workload) {
  const std::string* const source = OldOfLaterPodsLocked(workload);
  if (source == nullptr || workload.is_left_behind || workload.is_opted_out ||
      workload.is_on_hold || workload.is_unrecorded) {
    return;
  }
  workload.is_left_behind = true;
  ++counts_.left_behind;
  tell_("oracle", key + " has pods that began later, with other data of " + *source);
}

}  // namespace kubexx::oracle
