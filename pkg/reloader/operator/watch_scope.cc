#include "kubexx/reloader/operator/watch_scope.h"

#include <algorithm>
#include <vector>

namespace kubexx::reloader {

std::set<WorkloadKind> WatchedKinds(const Config& config) {
  const std::vector<WorkloadKind> all = AllWorkloadKinds();
  std::set<WorkloadKind> kinds(all.begin(), all.end());
  std::erase_if(kinds, [&](WorkloadKind kind) {
    return CustomKindOf(kind) != nullptr &&
           std::ranges::find(config.workload_kinds, KindName(kind), &CustomKind::kind) ==
               config.workload_kinds.end();
  });
  if (config.ignore_jobs) {
    kinds.erase(WorkloadKind::kJob);
  }
  if (config.ignore_cron_jobs) {
    kinds.erase(WorkloadKind::kCronJob);
  }
  if (!config.argo_rollouts) {
    kinds.erase(WorkloadKind::kRollout);
  }
  return kinds;
}

apimachinery::Result<std::string> WhyNotWatched(WorkloadKind kind, const std::string& namespace_,
                                                const Config& config,
                                                const NamespaceLabels& labels) {
  if (!config.webhook_url.empty()) {
    return std::string("nothing is rolled, because of --webhook-url: changes are posted there");
  }
  if (!WatchedKinds(config).contains(kind)) {
    const std::string not_watched = std::string(KindName(kind)) + "s are not watched, because of ";
    return not_watched + (kind == WorkloadKind::kRollout ? "--is-Argo-Rollouts: it is not true"
                          : CustomKindOf(kind) != nullptr
                              ? "--workload-kinds: it does not name them"
                              : "--ignored-workload-types");
  }
  const std::string space = "the namespace " + namespace_ + " is not watched, because of ";
  if (!config.namespaces.empty() &&
      std::ranges::find(config.namespaces, namespace_) == config.namespaces.end()) {
    return space + "--namespaces or KUBERNETES_NAMESPACE: it is not among them";
  }
  if (config.ignored_namespaces.contains(namespace_)) {
    return space + "--namespaces-to-ignore";
  }
  if (!config.namespace_selector.empty()) {
    KX_ASSIGN_OR_RETURN(const auto selector,
                        apimachinery::LabelSelector::Parse(config.namespace_selector));
    KX_ASSIGN_OR_RETURN(const apimachinery::LabelMap has, labels());
    if (!selector.Matches(has)) {
      return space + "--namespace-selector: its labels do not match " + config.namespace_selector;
    }
  }
  return std::string();
}

}  // namespace kubexx::reloader
