#include <cstdint>
#include <deque>
#include <map>
#include <utility>

#include "kubexx/base/mutex.h"
#include "kubexx/cache/store.h"

namespace kubexx::cache {
namespace {

using apimachinery::Fail;
using apimachinery::ObjectKey;
using apimachinery::Reason;
using apimachinery::Result;

// Every object lives equally long, so objects expire in the order in which they were written.
class TtlStore final : public Store {
 public:
  explicit TtlStore(TtlStoreOptions options) : options_(options) {}

  Result<void> Add(Object&& object) override {
    const base::TimePoint now = options_.clock.Now();
    base::MutexLock lock(mu_);
    ExpireLocked(now);
    resource_version_ = object.resource_version;
    PutLocked(std::move(object), now);
    return {};
  }
  Result<void> Update(Object&& object) override { return Add(std::move(object)); }
  Result<void> Delete(Object&& object) override {
    const base::TimePoint now = options_.clock.Now();
    base::MutexLock lock(mu_);
    ExpireLocked(now);
    objects_.erase(object.key);
    if (!object.resource_version.empty()) {
      resource_version_ = object.resource_version;
    }
    return {};
  }
  std::unique_ptr<Replacement> BeginReplace() override {
    return std::make_unique<TtlReplacement>(*this);
  }
  void Bookmark(std::string_view resource_version) override {
    base::MutexLock lock(mu_);
    resource_version_ = resource_version;
  }

  Result<Object> Get(const ObjectKey& key) const override {
    const base::TimePoint now = options_.clock.Now();
    base::MutexLock lock(mu_);
    ExpireLocked(now);
    const auto found = objects_.find(key);
    if (found == objects_.end()) {
      return Fail(Reason::kNotFound, "\"" + key.ToString() + "\" is not in the store", 404);
    }
    return found->second.object;
  }
  std::vector<Object> List() const override {
    const base::TimePoint now = options_.clock.Now();
    std::vector<Object> objects;
    base::MutexLock lock(mu_);
    ExpireLocked(now);
    for (const auto& [key, item] : objects_) {
      objects.push_back(item.object);
    }
    return objects;
  }
  std::vector<ObjectKey> Keys() const override {
    const base::TimePoint now = options_.clock.Now();
    std::vector<ObjectKey> keys;
    base::MutexLock lock(mu_);
    ExpireLocked(now);
    for (const auto& [key, item] : objects_) {
      keys.push_back(key);
    }
    return keys;
  }
  std::size_t Size() const override {
    const base::TimePoint now = options_.clock.Now();
    base::MutexLock lock(mu_);
    ExpireLocked(now);
    return objects_.size();
  }
  std::string ResourceVersion() const override {
    base::MutexLock lock(mu_);
    return resource_version_;
  }

 private:
  struct Item {
    Object object{};
    std::uint64_t write = 0;
  };
  struct Write {
    base::TimePoint at;
    std::uint64_t number;
    ObjectKey key;
  };

  class TtlReplacement final : public Replacement {
   public:
    explicit TtlReplacement(TtlStore& owner) : owner_(owner) {}
    Result<void> Add(Object&& object) override {
      const ObjectKey key = object.key;
      objects_.insert_or_assign(key, std::move(object));
      return {};
    }
    Result<void> Delete(const ObjectKey& key) override {
      objects_.erase(key);
      return {};
    }
    Result<void> Commit(std::string_view resource_version) override {
      const base::TimePoint now = owner_.options_.clock.Now();
      base::MutexLock lock(owner_.mu_);
      owner_.objects_.clear();
      owner_.writes_.clear();
      owner_.resource_version_ = resource_version;
      for (auto& [key, object] : objects_) {
        owner_.PutLocked(std::move(object), now);
      }
      return {};
    }

   private:
    TtlStore& owner_;
    std::map<ObjectKey, Object> objects_{};
  };

  void PutLocked(Object&& object, base::TimePoint now) KX_REQUIRES(mu_) {
    writes_.push_back({now, ++written_, object.key});
    ObjectKey key = object.key;
    objects_.insert_or_assign(std::move(key), Item{std::move(object), written_});
    // An object that is written repeatedly leaves records of its older writes.
    if (writes_.size() > 2 * objects_.size() + kSpareRecords) {
      std::erase_if(writes_, [this](const Write& write) KX_REQUIRES(mu_) {
        const auto found = objects_.find(write.key);
        return found == objects_.end() || found->second.write != write.number;
      });
    }
  }

  void ExpireLocked(base::TimePoint now) const KX_REQUIRES(mu_) {
    while (!writes_.empty() && now - writes_.front().at >= options_.ttl) {
      const auto found = objects_.find(writes_.front().key);
      if (found != objects_.end() && found->second.write == writes_.front().number) {
        objects_.erase(found);
      }
      writes_.pop_front();
    }
  }

  static constexpr std::size_t kSpareRecords = 64;

  const TtlStoreOptions options_;
  mutable base::Mutex mu_;
  mutable std::map<ObjectKey, Item> objects_ KX_GUARDED_BY(mu_);
  mutable std::deque<Write> writes_ KX_GUARDED_BY(mu_);
  std::uint64_t written_ KX_GUARDED_BY(mu_) = 0;
  std::string resource_version_ KX_GUARDED_BY(mu_);
};

}  // namespace

std::unique_ptr<Store> NewTtlStore(TtlStoreOptions options) {
  return std::make_unique<TtlStore>(options);
}

}  // namespace kubexx::cache
