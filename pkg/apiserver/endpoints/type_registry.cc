#include "kubexx/apiserver/endpoints/type_registry.h"

#include <algorithm>
#include <utility>

namespace kubexx::apiserver {

namespace {

std::string NameOfType(const ResourceType& type) {
  return type.QualifiedPlural() + "/" + type.version;
}

ResourceTypeRef FindIn(const std::vector<ResourceTypeRef>& types, std::string_view group,
                       std::string_view version, std::string_view plural) {
  const auto found = std::ranges::find_if(types, [&](const ResourceTypeRef& type) {
    return type->plural == plural && type->group == group && type->version == version;
  });
  return found == types.end() ? nullptr : *found;
}

}  // namespace

TypeRegistry::TypeRegistry(storage::Storage& storage, CacherOptions options)
    : storage_(storage), options_(options), builtin_(BuiltinTypes()) {}

TypeRegistry::~TypeRegistry() = default;

ResourceTypeRef TypeRegistry::Find(std::string_view group, std::string_view version,
                                   std::string_view plural) const {
  if (ResourceTypeRef found = FindIn(builtin_, group, version, plural)) {
    return found;
  }
  base::MutexLock lock(mu_);
  return FindIn(custom_, group, version, plural);
}

std::vector<ResourceTypeRef> TypeRegistry::All() const {
  std::vector<ResourceTypeRef> all = builtin_;
  base::MutexLock lock(mu_);
  all.insert(all.end(), custom_.begin(), custom_.end());
  return all;
}

void TypeRegistry::SetCustom(std::vector<ResourceTypeRef> types) {
  std::vector<std::shared_ptr<Cacher>> ended;  // Destroyed without the lock.
  base::MutexLock lock(mu_);
  for (const ResourceTypeRef& old : custom_) {
    const auto same =
        std::ranges::find_if(types, [&](const ResourceTypeRef& type) { return *type == *old; });
    if (same != types.end()) {
      *same = old;
      continue;
    }
    if (const auto found = cachers_.find(NameOfType(*old)); found != cachers_.end()) {
      ended.push_back(std::move(found->second));
      cachers_.erase(found);
    }
  }
  custom_ = std::move(types);
}

std::shared_ptr<Cacher> TypeRegistry::CacherOf(const ResourceTypeRef& type) {
  base::MutexLock lock(mu_);
  ResourceTypeRef now = FindIn(builtin_, type->group, type->version, type->plural);
  if (now == nullptr) {
    now = FindIn(custom_, type->group, type->version, type->plural);
  }
  if (now == nullptr) {  // its definition has gone since the request came
    return std::make_shared<Cacher>(type, storage_, options_);
  }
  std::shared_ptr<Cacher>& cacher = cachers_[NameOfType(*now)];
  if (cacher == nullptr) {
    cacher = std::make_shared<Cacher>(std::move(now), storage_, options_);
  }
  return cacher;
}

std::vector<std::shared_ptr<Cacher>> TypeRegistry::Cachers() const {
  std::vector<std::shared_ptr<Cacher>> cachers;
  base::MutexLock lock(mu_);
  for (const auto& [name, cacher] : cachers_) {
    cachers.push_back(cacher);
  }
  return cachers;
}

void TypeRegistry::Tick() {
  for (const std::shared_ptr<Cacher>& cacher : Cachers()) {
    cacher->Tick();
  }
}

std::size_t TypeRegistry::watchers() const {
  std::size_t sum = 0;
  for (const std::shared_ptr<Cacher>& cacher : Cachers()) {
    sum += cacher->cache().watchers();
  }
  return sum;
}

}  // namespace kubexx::apiserver
