/// @file
/// MapStore: the simplest ReflectorStore, for tests of a Reflector.
#ifndef KUBEXX_CACHE_TESTING_MAP_STORE_H_
#define KUBEXX_CACHE_TESTING_MAP_STORE_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/cache/reflector_store.h"

namespace kubexx::cache::testing {

/// Keeps objects' bytes by key. Tests can make it refuse a change. Thread-safe; the Await methods
/// block until a condition is true.
class MapStore final : public ReflectorStore {
 public:
  using Content = std::map<apimachinery::ObjectKey, std::string>;

  apimachinery::Result<void> Add(Object&& object) override { return Set(std::move(object)); }
  apimachinery::Result<void> Update(Object&& object) override { return Set(std::move(object)); }
  apimachinery::Result<void> Delete(Object&& object) override {
    base::MutexLock lock(mu_);
    KX_RETURN_IF_ERROR(RefusalLocked());
    content_.erase(object.key);
    changed_.notify_all();
    return {};
  }
  std::unique_ptr<Replacement> BeginReplace() override { return std::make_unique<New>(*this); }
  void Bookmark(std::string_view resource_version) override {
    base::MutexLock lock(mu_);
    bookmark_ = resource_version;
    changed_.notify_all();
  }
  apimachinery::Result<void> Resync() override {
    base::MutexLock lock(mu_);
    ++resyncs_;
    changed_.notify_all();
    return {};
  }

  /// Refuses the next change.
  void RefuseOnce() {
    base::MutexLock lock(mu_);
    refuse_ = true;
  }

  Content content() const {
    base::MutexLock lock(mu_);
    return content_;
  }
  int replaces() const {
    base::MutexLock lock(mu_);
    return replaces_;
  }
  int resyncs() const {
    base::MutexLock lock(mu_);
    return resyncs_;
  }
  void AwaitReplaces(int n,
                     const base::testing::Where& where = base::testing::Where::current()) const {
    base::MutexLock lock(mu_);
    base::testing::Patience patience(base::testing::Shown(n) + " replacements of the whole content",
                                     where);
    while (replaces_ < n) {
      patience.Wait(changed_, mu_, replaces_);
    }
  }
  void AwaitResyncs(int n,
                    const base::testing::Where& where = base::testing::Where::current()) const {
    base::MutexLock lock(mu_);
    base::testing::Patience patience(base::testing::Shown(n) + " resyncs", where);
    while (resyncs_ < n) {
      patience.Wait(changed_, mu_, resyncs_);
    }
  }
  void AwaitBookmark(std::string_view resource_version,
                     const base::testing::Where& where = base::testing::Where::current()) const {
    base::MutexLock lock(mu_);
    base::testing::Patience patience("the bookmark " + base::testing::Shown(resource_version),
                                     where);
    while (bookmark_ != resource_version) {
      patience.Wait(changed_, mu_, bookmark_);
    }
  }
  void AwaitContent(const Content& content,
                    const base::testing::Where& where = base::testing::Where::current()) const {
    base::MutexLock lock(mu_);
    base::testing::Patience patience("the content " + base::testing::Shown(content), where);
    while (content_ != content) {
      patience.Wait(changed_, mu_, content_);
    }
  }

 private:
  class New final : public Replacement {
   public:
    explicit New(MapStore& owner) : owner_(owner) {}
    apimachinery::Result<void> Add(Object&& object) override {
      content_[object.key] = std::move(object.bytes);
      return {};
    }
    apimachinery::Result<void> Delete(const apimachinery::ObjectKey& key) override {
      content_.erase(key);
      return {};
    }
    apimachinery::Result<void> Commit(std::string_view) override {
      base::MutexLock lock(owner_.mu_);
      KX_RETURN_IF_ERROR(owner_.RefusalLocked());
      owner_.content_ = std::move(content_);
      ++owner_.replaces_;
      owner_.changed_.notify_all();
      return {};
    }

   private:
    MapStore& owner_;
    Content content_{};
  };

  apimachinery::Result<void> Set(Object&& object) {
    base::MutexLock lock(mu_);
    KX_RETURN_IF_ERROR(RefusalLocked());
    content_[object.key] = std::move(object.bytes);
    changed_.notify_all();
    return {};
  }

  apimachinery::Result<void> RefusalLocked() KX_REQUIRES(mu_) {
    if (std::exchange(refuse_, false)) {
      return apimachinery::Fail(apimachinery::Reason::kInternalError, "the store refuses");
    }
    return {};
  }

  mutable base::Mutex mu_;
  mutable base::CondVar changed_;
  Content content_ KX_GUARDED_BY(mu_);
  std::string bookmark_ KX_GUARDED_BY(mu_);
  int replaces_ KX_GUARDED_BY(mu_) = 0;
  int resyncs_ KX_GUARDED_BY(mu_) = 0;
  bool refuse_ KX_GUARDED_BY(mu_) = false;
};

}  // namespace kubexx::cache::testing

#endif  // KUBEXX_CACHE_TESTING_MAP_STORE_H_
