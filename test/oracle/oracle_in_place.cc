// What an Oracle knows of pods that read their files anew.
#include <functional>
#include <optional>
#include <string>

#include "kubexx/base/mutex.h"
#include "oracle/oracle.h"

namespace kubexx::oracle {
namespace {

/// Begins the names of the pods of its present template.
std::string PodsOf(const std::string& key, const ObservedWorkload& workload) {
  return key.substr(key.rfind('/') + 1) + "-" +
         std::to_string(std::hash<std::string>()(key + workload.uid + workload.template_text));
}

}  // namespace

std::optional<Oracle::Running> Oracle::RunningOf(const std::string& workload) {
  const base::MutexLock lock(mu_);
  const auto found = workloads_.find(workload);
  if (found == workloads_.end()) {
    return std::nullopt;
  }
  return Running{.uid = found->second.uid,
                 .pods = PodsOf(workload, found->second),
                 .pod_template = found->second.template_text,
                 .read = found->second.read};
}

std::optional<std::string> Oracle::PresentData(const std::string& source) {
  const base::MutexLock lock(mu_);
  const auto found = data_.find(source);
  return found == data_.end() ? std::nullopt : std::optional(found->second);
}

void Oracle::Reloaded(const std::string& workload, const std::string& pods,
                      const std::string& source, const std::string& data) {
  const base::MutexLock lock(mu_);
  const auto found = workloads_.find(workload);
  if (found == workloads_.end() || PodsOf(workload, found->second) != pods) {
    return;  // others have taken their place
  }
  found->second.read_later.erase(source);
  const auto read = found->second.read.find(source);
  if (read == found->second.read.end() || read->second == data) {
    return;
  }
  read->second = data;
  ++counts_.reloaded;
  tell_("pods", "of " + workload + " have read " + source + " anew: " + data);
  ProveLocked(workload, found->second);
}

}  // namespace kubexx::oracle
