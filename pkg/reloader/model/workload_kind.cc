#include "kubexx/reloader/model/workload_kind.h"

#include <algorithm>

namespace kubexx::reloader {

std::vector<WorkloadKind> AllWorkloadKinds() {
  std::vector<WorkloadKind> kinds(kWorkloadKinds.begin(), kWorkloadKinds.end());
  for (std::size_t i = 0; i < CustomKinds().size(); ++i) {
    kinds.push_back(static_cast<WorkloadKind>(kWorkloadKinds.size() + i));
  }
  return kinds;
}

std::vector<std::string_view> OwnKindNames() {
  std::vector<std::string_view> names;
  for (const apimachinery::ResourceInfo& resource : kWorkloadResources) {
    names.push_back(resource.kind);
  }
  return names;
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
