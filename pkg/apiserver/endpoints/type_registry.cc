#include "kubexx/apiserver/endpoints/type_registry.h"

#include <algorithm>
#include <utility>

namespace kubexx::apiserver {

TypeRegistry::TypeRegistry(storage::Storage& storage, CacherOptions options)
    : storage_(storage), options_(options), types_(BuiltinTypes()) {}

TypeRegistry::~TypeRegistry() = default;

ResourceTypeRef TypeRegistry::Find(std::string_view group, std::string_view version,
                                   std::string_view plural) const {
  const auto found = std::ranges::find_if(types_, [&](const ResourceTypeRef& type) {
    return type->plural == plural && type->group == group && type->version == version;
  });
  return found == types_.end() ? nullptr : *found;
}

std::vector<ResourceTypeRef> TypeRegistry::All() const { return types_; }

std::shared_ptr<Cacher> TypeRegistry::CacherOf(const ResourceTypeRef& type) {
  base::MutexLock lock(mu_);
  std::shared_ptr<Cacher>& cacher = cachers_[type->prefix];
  if (cacher == nullptr) {
    cacher = std::make_shared<Cacher>(type, storage_, options_);
  }
  return cacher;
}

void TypeRegistry::Tick() {
  std::vector<std::shared_ptr<Cacher>> cachers;
  {
    base::MutexLock lock(mu_);
    for (const auto& [prefix, cacher] : cachers_) {
      cachers.push_back(cacher);
    }
  }
  for (const std::shared_ptr<Cacher>& cacher : cachers) {
    cacher->Tick();
  }
}

}  // namespace kubexx::apiserver
