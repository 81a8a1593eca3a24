/// @file
/// UndeltaStore: a store that reports its whole content after each change.
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

/// As client-go's UndeltaStore, for consumers that need the whole state rather than changes, such
/// as a node's pod source. It keeps the objects as they came and shares them with the consumer, so
/// that a push costs one pointer per object. Suitable for some hundred objects, because the cost of
/// each change grows with their number.
///
/// Writes must come one at a time, as a Reflector's do; reads are thread-safe. Bookmarks and
/// resyncs push nothing.
class UndeltaStore final : public Store {
 public:
  /// All objects, in ascending order of their keys.
  using State = std::vector<std::shared_ptr<const Object>>;
  /// Called after each Add, Update and Delete, and once after each Replace, even when the content
  /// did not change; on the writer's thread, without a lock held.
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
