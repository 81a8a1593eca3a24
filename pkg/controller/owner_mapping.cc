#include "kubexx/controller/owner_mapping.h"

#include <string>

namespace kubexx::controller {

std::vector<workqueue::Key> OwnersOf(const api::meta::v1::ObjectMeta& metadata,
                                     const apimachinery::ResourceInfo& owner, OwnerMatch match) {
  std::vector<workqueue::Key> owners;
  for (const api::meta::v1::OwnerReference& reference : metadata.owner_references) {
    if (match == OwnerMatch::kController && !reference.controller.value_or(false)) {
      continue;
    }
    const auto kind =
        apimachinery::GroupVersionKind::FromApiVersionKind(reference.api_version, reference.kind);
    if (kind.group == owner.group && kind.kind == owner.kind) {
      owners.push_back(
          {.object = {.namespace_ = owner.namespaced ? metadata.namespace_ : std::string(),
                      .name = reference.name}});
    }
  }
  return owners;
}

}  // namespace kubexx::controller
