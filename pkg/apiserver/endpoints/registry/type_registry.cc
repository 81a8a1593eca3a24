#include "kubexx/apiserver/endpoints/registry/type_registry.h"

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

#include "kubexx/apiserver/resources/builtin_types.h"

namespace kubexx::apiserver {

namespace {

/// Reading so few objects is as fast as making a cache.
constexpr std::size_t kMostInVain = 1000;

/// The time in which the watches of a cache that is no longer used have to receive their last
/// events.
constexpr base::Duration kTimeToLeave = std::chrono::seconds(30);

std::string NameOfType(const ResourceType& type) {
  return type.QualifiedPlural() + "/" + type.version;
}

/// Returns the key of a type in a Table.
auto PlaceOf(const ResourceTypeRef& type) {
  return std::tuple<std::string_view, std::string_view, std::string_view>(
      type->group, type->version, type->plural);
}

}  // namespace

class TypeRegistry::Table {
 public:
  explicit Table(std::vector<ResourceTypeRef> all) : all_(std::move(all)), sorted_(all_) {
    std::ranges::stable_sort(sorted_, {}, PlaceOf);
  }

  const std::vector<ResourceTypeRef>& all() const { return all_; }

  /// Returns null when there is no such type, and the first one of several with the same name.
  ResourceTypeRef Find(std::string_view group, std::string_view version,
                       std::string_view plural) const {
    const std::tuple wanted(group, version, plural);
    const auto found = std::ranges::lower_bound(sorted_, wanted, {}, PlaceOf);
    return found == sorted_.end() || PlaceOf(*found) != wanted ? nullptr : *found;
  }
  ResourceTypeRef Find(const ResourceType& type) const {
    return Find(type.group, type.version, type.plural);
  }

 private:
  const std::vector<ResourceTypeRef> all_;
  std::vector<ResourceTypeRef> sorted_;
};

TypeRegistry::TypeRegistry(storage::Storage& storage, CacherOptions options)
    : storage_(storage),
      options_(options),
      builtin_(std::make_shared<const Table>(BuiltinTypes())),
      custom_(std::make_shared<const Table>(std::vector<ResourceTypeRef>())) {}

TypeRegistry::~TypeRegistry() = default;

TypeRegistry::TableRef TypeRegistry::Custom() const {
  base::MutexLock lock(mu_);
  return custom_;
}

ResourceTypeRef TypeRegistry::Find(std::string_view group, std::string_view version,
                                   std::string_view plural) const {
  if (ResourceTypeRef found = builtin_->Find(group, version, plural)) {
    return found;
  }
  return Custom()->Find(group, version, plural);
}

std::vector<ResourceTypeRef> TypeRegistry::All() const {
  std::vector<ResourceTypeRef> all = builtin_->all();
  const TableRef custom = Custom();
  all.insert(all.end(), custom->all().begin(), custom->all().end());
  return all;
}

void TypeRegistry::SetCustom(std::vector<ResourceTypeRef> types, storage::Revision revision) {
  const base::MutexLock turn(turn_);
  const TableRef before = Custom();
  for (ResourceTypeRef& type : types) {  // A type that has not changed stays the same object.
    ResourceTypeRef old = before->Find(*type);
    if (old != nullptr && old != type && *old == *type) {
      type = std::move(old);
    }
  }
  const auto now = std::make_shared<const Table>(std::move(types));
  std::vector<std::string> changed;
  for (const ResourceTypeRef& old : before->all()) {
    if (now->Find(*old) != old) {
      changed.push_back(NameOfType(*old));
    }
  }
  std::vector<std::shared_ptr<Cacher>> ended;
  {
    base::MutexLock lock(mu_);
    for (const std::string& name : changed) {
      read_in_vain_.erase(name);
      if (const auto found = cachers_.find(name); found != cachers_.end()) {
        ended.push_back(std::move(found->second));
        cachers_.erase(found);
      }
    }
    custom_ = now;
  }
  const base::TimePoint deadline = options_.clock.Now() + kTimeToLeave;
  for (std::shared_ptr<Cacher>& cacher : ended) {
    // If only this place has the cache, nobody watches it or is about to.
    if (cacher.use_count() > 1 || cacher->cache().watchers() > 0) {
      cacher->EndAt(revision);
      base::MutexLock lock(mu_);
      leaving_.push_back({.cacher = cacher, .until = revision, .deadline = deadline});
    }
  }
}

std::shared_ptr<Cacher> TypeRegistry::CacherOf(const ResourceTypeRef& type) {
  base::MutexLock lock(mu_);
  ResourceTypeRef now = builtin_->Find(*type);
  if (now == nullptr) {
    now = custom_->Find(*type);
  }
  if (now == nullptr) {  // its definition has been deleted since the request came
    return std::make_shared<Cacher>(type, storage_, options_);
  }
  const std::string name = NameOfType(*now);
  if (const auto found = cachers_.find(name); found != cachers_.end()) {
    return found->second;
  }
  // The cache is made first: when there is no thread for it, there is no entry without a cache.
  auto cacher = std::make_shared<Cacher>(std::move(now), storage_, options_);
  cachers_.emplace(name, cacher);
  return cacher;
}

std::shared_ptr<Cacher> TypeRegistry::CacherIfAny(const ResourceTypeRef& type) const {
  base::MutexLock lock(mu_);
  ResourceTypeRef now = builtin_->Find(*type);
  if (now == nullptr) {
    now = custom_->Find(*type);
  }
  const auto found = now == type ? cachers_.find(NameOfType(*type)) : cachers_.end();
  return found == cachers_.end() ? nullptr : found->second;
}

void TypeRegistry::NoteReadInVain(const ResourceTypeRef& type, std::size_t objects) {
  {
    base::MutexLock lock(mu_);
    const std::string name = NameOfType(*type);
    if (cachers_.contains(name)) {
      return;
    }
    std::size_t& sum = read_in_vain_[name];
    sum += objects;
    if (sum <= std::max(objects, kMostInVain)) {
      return;
    }
    read_in_vain_.erase(name);
  }
  CacherOf(type);
}

std::vector<std::shared_ptr<Cacher>> TypeRegistry::Cachers() const {
  std::vector<std::shared_ptr<Cacher>> cachers;
  base::MutexLock lock(mu_);
  for (const auto& [name, cacher] : cachers_) {
    cachers.push_back(cacher);
  }
  for (const Leaving& one : leaving_) {
    cachers.push_back(one.cacher);
  }
  return cachers;
}

void TypeRegistry::EndLeaving() {
  std::vector<Leaving> waiting;
  {
    base::MutexLock lock(mu_);
    waiting = leaving_;
  }
  for (const Leaving& one :
       waiting) {  // The storage is asked, and the caches are destroyed, without the lock.
    if (!one.cacher->cache().Has(one.until) && options_.clock.Now() < one.deadline) {
      one.cacher->EndAt(one.until);
      continue;
    }
    base::MutexLock lock(mu_);
    std::erase_if(leaving_, [&one](const Leaving& left) { return left.cacher == one.cacher; });
  }
}

void TypeRegistry::Tick() {
  const base::TimePoint now = options_.clock.Now();
  for (const std::shared_ptr<Cacher>& cacher : Cachers()) {
    cacher->Tick(now);
  }
  EndLeaving();
}

std::size_t TypeRegistry::watchers() const {
  std::size_t sum = 0;
  for (const std::shared_ptr<Cacher>& cacher : Cachers()) {
    sum += cacher->cache().watchers();
  }
  return sum;
}

}  // namespace kubexx::apiserver
