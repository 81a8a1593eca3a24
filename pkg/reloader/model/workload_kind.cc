#include "kubexx/reloader/model/workload_kind.h"

#include <algorithm>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/reloader/model/provider_class_projection.h"
#include "kubexx/reloadpolicy/clusterreloadpolicy_v1alpha1.gen.h"
#include "kubexx/reloadpolicy/reloadpolicy_v1alpha1.gen.h"

namespace kubexx::reloader {

using apimachinery::ResourceInfo;

std::vector<WorkloadKind> AllWorkloadKinds() {
  std::vector<WorkloadKind> kinds(kWorkloadKinds.begin(), kWorkloadKinds.end());
  for (std::size_t i = 0; i < CustomKinds().size(); ++i) {
    kinds.push_back(static_cast<WorkloadKind>(kWorkloadKinds.size() + i));
  }
  return kinds;
}

const std::array<const ResourceInfo*, 5>& OtherResources() {
  static const std::array<const ResourceInfo*, 5> resources{
      &api::ResourceOf<api::core::v1::ConfigMap>(), &api::ResourceOf<api::core::v1::Secret>(),
      &kProviderClassResource, &reloadpolicy::v1alpha1::kReloadPolicyResource,
      &reloadpolicy::v1alpha1::kClusterReloadPolicyResource};
  return resources;
}

std::vector<ResourceInfo> OwnResources() {
  std::vector<ResourceInfo> all(kWorkloadResources.begin(), kWorkloadResources.end());
  for (const ResourceInfo* each : OtherResources()) {
    all.push_back(*each);
  }
  return all;
}

std::optional<WorkloadKind> ParseWorkloadKind(std::string_view name) {
  const auto index_in = [name](const auto& resources) {
    return std::ranges::find(resources, name, &apimachinery::ResourceInfo::kind) -
           resources.begin();
  };
  std::size_t index = static_cast<std::size_t>(index_in(kWorkloadResources));
  if (index == kWorkloadResources.size()) {
    const auto& resources = CustomResources();  // others may add some meanwhile
    const auto custom = static_cast<std::size_t>(index_in(resources));
    if (custom == resources.size()) {
      return std::nullopt;
    }
    index += custom;
  }
  return static_cast<WorkloadKind>(index);
}

}  // namespace kubexx::reloader
