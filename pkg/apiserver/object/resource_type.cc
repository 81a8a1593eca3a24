#include "kubexx/apiserver/object/resource_type.h"

#include <algorithm>

namespace kubexx::apiserver {

apimachinery::ObjectKey ResourceType::KeyOf(std::string_view storage_key) const {
  storage_key.remove_prefix(std::min(prefix.size(), storage_key.size()));
  const auto slash = namespaced ? storage_key.find('/') : std::string_view::npos;
  if (slash == std::string_view::npos) {
    return {.name = std::string(storage_key)};
  }
  return {.namespace_ = std::string(storage_key.substr(0, slash)),
          .name = std::string(storage_key.substr(slash + 1))};
}

const Subresource* ResourceType::FindSubresource(std::string_view name) const {
  const auto found = std::ranges::find(subresources, name, &Subresource::name);
  return found == subresources.end() ? nullptr : &*found;
}

bool ResourceType::Has(Subresource::Is subresource) const {
  return std::ranges::find(subresources, subresource, &Subresource::is) != subresources.end();
}

}  // namespace kubexx::apiserver
