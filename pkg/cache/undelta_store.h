/// @file
/// A store that tells its whole content after each change.
#ifndef KUBEXX_CACHE_UNDELTA_STORE_H_
#define KUBEXX_CACHE_UNDELTA_STORE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/cache/store.h"

namespace kubexx::cache {

/// As client-go's UndeltaStore: for consumers that want states, not changes, such as a node's pod
/// source. Objects are kept as they came and shared with the consumer, so that a push costs a
/// pointer an object. For some hundred objects: each change costs as much as there are.
///
/// Writes must come one at a time, as a Reflector's do; reads are thread-safe. Bookmarks and
/// resyncs push nothing.
class UndeltaStore final : public Store {
 public:
  /// Everything, by key in ascending order.
  using State = std::vector<std::shared_ptr<const Object>>;
  /// Called after each Add, Update and Delete, and once after each Replace, also when the content
  /// is what it was, on the writer's thread and not under a lock.
  using Push = std::function<void(State)>;

  explicit UndeltaStore(Push push) : push_(std::move(push)) {}

  apimachinery::Result<void> Add(Object&& object) override;
  apimachinery::Result<void> Update(Object&& object) override { return Add(std::move(object)); }
  apimachinery::Result<void> Delete(Object&& object) override;
  std::unique_ptr<Replacement> BeginReplace() override;
  void Bookmark(std::string_view resource_version) override;

  apimachinery::Result<Object> Get(const apimachinery::ObjectKey& key) const override;
  std::vector<Object> List() const override;
  std::vector<apimachinery::ObjectKey> Keys() const override;
  std::size_t Size() const override;
  std::string ResourceVersion() const override;

 private:
  class StateReplacement;
  using Content = std::map<apimachinery::ObjectKey, std::shared_ptr<const Object>>;

  State StateLocked() const KX_REQUIRES(mu_);

  const Push push_;
  mutable base::Mutex mu_;
  Content content_ KX_GUARDED_BY(mu_);
  std::string resource_version_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_UNDELTA_STORE_H_
