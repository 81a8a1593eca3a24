#include "kubexx/cache/undelta_store.h"

#include <utility>

namespace kubexx::cache {

using apimachinery::Fail;
using apimachinery::ObjectKey;
using apimachinery::Reason;
using apimachinery::Result;

class UndeltaStore::StateReplacement final : public Replacement {
 public:
  explicit StateReplacement(UndeltaStore& owner) : owner_(owner) {}
  Result<void> Add(Object&& object) override {
    const ObjectKey key = object.key;
    content_[key] = std::make_shared<const Object>(std::move(object));
    return {};
  }
  Result<void> Delete(const ObjectKey& key) override {
    content_.erase(key);
    return {};
  }
  Result<void> Commit(std::string_view resource_version) override {
    State state;
    {
      base::MutexLock lock(owner_.mu_);
      owner_.content_ = std::move(content_);
      owner_.resource_version_ = resource_version;
      state = owner_.StateLocked();
    }
    owner_.push_(std::move(state));
    return {};
  }

 private:
  UndeltaStore& owner_;
  Content content_{};
};

UndeltaStore::State UndeltaStore::StateLocked() const {
  State state;
  state.reserve(content_.size());
  for (const auto& [key, object] : content_) {
    state.push_back(object);
  }
  return state;
}

Result<void> UndeltaStore::Add(Object&& object) {
  State state;
  {
    base::MutexLock lock(mu_);
    const ObjectKey key = object.key;
    resource_version_ = object.resource_version;
    content_[key] = std::make_shared<const Object>(std::move(object));
    state = StateLocked();
  }
  push_(std::move(state));
  return {};
}

Result<void> UndeltaStore::Delete(Object&& object) {
  State state;
  {
    base::MutexLock lock(mu_);
    content_.erase(object.key);
    if (!object.resource_version.empty()) {
      resource_version_ = object.resource_version;
    }
    state = StateLocked();
  }
  push_(std::move(state));
  return {};
}

std::unique_ptr<Replacement> UndeltaStore::BeginReplace() {
  return std::make_unique<StateReplacement>(*this);
}

void UndeltaStore::Bookmark(std::string_view resource_version) {
  base::MutexLock lock(mu_);
  resource_version_ = resource_version;
}

Result<Object> UndeltaStore::Get(const ObjectKey& key) const {
  base::MutexLock lock(mu_);
  const auto found = content_.find(key);
  if (found == content_.end()) {
    return Fail(Reason::kNotFound, "\"" + key.ToString() + "\" is not in the store", 404);
  }
  return *found->second;
}

std::vector<Object> UndeltaStore::List() const {
  std::vector<Object> objects;
  base::MutexLock lock(mu_);
  for (const auto& [key, object] : content_) {
    objects.push_back(*object);
  }
  return objects;
}

std::vector<ObjectKey> UndeltaStore::Keys() const {
  std::vector<ObjectKey> keys;
  base::MutexLock lock(mu_);
  for (const auto& [key, object] : content_) {
    keys.push_back(key);
  }
  return keys;
}

std::size_t UndeltaStore::Size() const {
  base::MutexLock lock(mu_);
  return content_.size();
}

std::string UndeltaStore::ResourceVersion() const {
  base::MutexLock lock(mu_);
  return resource_version_;
}

}  // namespace kubexx::cache
