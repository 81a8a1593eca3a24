/// @file
/// Read-your-writes: what a controller wrote, and whether its caches have seen it.
#ifndef KUBEXX_CONTROLLER_CONSISTENCY_STORE_H_
#define KUBEXX_CONTROLLER_CONSISTENCY_STORE_H_

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/workqueue/key.h"

namespace kubexx::controller {

/// Notes, for each key that is reconciled and each resource, the version of the last write made
/// while reconciling it. A reconcile that would read an older cache is put off: it would take its
/// own work for missing and do it again. As the ConsistencyStore of Kubernetes' own controllers
/// (pkg/controller/util/consistency). A write is forgotten once it has been seen, so memory is
/// bounded by the keys with writes that the caches have not seen. Thread-safe.
///
/// Deletes are not noted, as their answer has no version; to delete twice does no harm.
class ConsistencyStore {
 public:
  /// The version up to which a cache has seen everything; empty before its first list.
  using CacheVersion = std::function<std::string()>;

  /// A write that a cache has not seen.
  struct Stale {
    std::string resource{};
    std::string written{};
    std::string cached{};
  };

  /// While reconciling `owner`, an object of `resource` ("apps/v1/deployments") was written and got
  /// version `written`. `cached` is called by Check; an empty one, or a version that cannot be
  /// compared, is not waited for.
  void Wrote(const workqueue::Key& owner, const std::string& resource, const std::string& written,
             CacheVersion cached);

  /// The first write of `owner` that its cache has not seen; nothing when all have been.
  std::optional<Stale> Check(const workqueue::Key& owner);

  /// Keys with writes that have not been seen.
  std::size_t size() const;

 private:
  struct Write {
    std::string resource{};
    std::string version{};
    CacheVersion cached{};
  };

  std::vector<Write> Find(const workqueue::Key& owner) const;
  void Erase(const workqueue::Key& owner, const Write& write);

  mutable base::Mutex mu_;
  std::unordered_map<workqueue::Key, std::vector<Write>> writes_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_CONSISTENCY_STORE_H_
