/// @file
/// ConsistencyStore: remembers a controller's writes until its caches contain them.
#ifndef KUBEXX_CONTROLLER_CONSISTENCY_STORE_H_
#define KUBEXX_CONTROLLER_CONSISTENCY_STORE_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/report_limit.h"
#include "kubexx/workqueue/key.h"

namespace kubexx::controller {

/// Remembers the resourceVersion of the last write for each reconciled key, cache and namespace.
/// The controller postpones a reconcile while the cache is older than that write; otherwise the
/// reconcile would not see its own work and would do it again. Modelled on the ConsistencyStore of
/// Kubernetes' own controllers (pkg/controller/util/consistency). Thread-safe.
///
/// The store forgets a write when the cache contains it. It forgets writes of keys that are never
/// reconciled again in sweeps, so that its memory is bounded by about twice the number of keys
/// whose writes the caches do not contain yet. When a cache goes back to a version before the one
/// it had at the write, for example because the server's data were restored, it will never contain
/// the write, and the store forgets it. When a cache has not reached a write after kGiveUp, for
/// example because the permission to list and watch was revoked, the store logs a warning and
/// forgets the write; the controller then reconciles the key with the cache as it is.
///
/// While no cache of a type exists, there is no cache's version that a write of the type could be
/// compared with. The store remembers it for the first reads of that type: the first list of a
/// cache that is made later may come from an API server that is behind the write.
///
/// The store does not record deletes, because the server's answer has no resourceVersion. Deleting
/// an object twice does no harm.
class ConsistencyStore {
 public:
  /// Returns the resourceVersion up to which a cache has every change; empty before its first list.
  using CacheVersion = std::function<std::string()>;

  /// A write that a cache does not contain yet.
  struct Stale {
    std::string resource{};
    std::string written{};
    std::string cached{};
  };

  /// One write.
  struct Write {
    std::string resource{};    ///< "apps/v1/deployments"
    std::string namespace_{};  ///< the written object's namespace
    std::string version{};     ///< the resourceVersion after the write
    /// A selector may keep the object out of the cache, so that the cache never shows whether it
    /// has reached the write. The store then waits no longer than kPatience.
    bool may_be_unseen = false;
    /// The version of the cache of that namespace. Check calls it. While it returns an empty
    /// string, as it does when the server refuses the namespace, the store also waits no longer
    /// than kPatience.
    CacheVersion cached{};
    /// Tells the caches of one resource apart, for example that of the objects and that of their
    /// metadata: each is waited for. Only compared.
    const void* cache = nullptr;
  };
  /// The store looks at a cache at growing intervals, the last time within twice this duration, so
  /// that no key waits for longer than a second.
  static constexpr base::Duration kPatience = std::chrono::milliseconds(500);
  /// In most cases longer than a watch needs to come back after a failure. It is longer than
  /// kPatience because such a cache is known to be old, and a reconcile would create objects with a
  /// generated name again.
  static constexpr base::Duration kGiveUp = std::chrono::seconds(30);
  static constexpr std::size_t kFirstSweep = 1024;

  explicit ConsistencyStore(base::Clock& clock = base::Clock::Real())
      : clock_(clock), given_up_lines_(clock) {}

  /// Records a write made while reconciling `owner`. The store does not wait for a resourceVersion
  /// that cannot be compared.
  void Wrote(const workqueue::Key& owner, Write write);

  /// Returns the first write of `owner` that its cache does not contain; std::nullopt when the
  /// caches contain all of them.
  std::optional<Stale> Check(const workqueue::Key& owner);

  /// Records a write of a type that no cache holds yet; `cached` is not used. Only the newest write
  /// of each resource and namespace counts, whichever key it belongs to.
  void WroteUncached(Write write);

  /// For a read of `resource` in `namespace_` (empty: in all namespaces) from a cache that has its
  /// first list: returns a write of WroteUncached that the cache does not contain; std::nullopt
  /// when there is none, or it was made kGiveUp ago. `cached` returns the cache's version of a
  /// namespace.
  std::optional<Stale> CheckRead(std::string_view resource, std::string_view namespace_,
                                 base::FunctionRef<std::string(std::string_view)> cached);

  /// The number of keys with writes that the caches do not contain yet.
  std::size_t size() const;

 private:
  struct Waiting {
    Write write{};
    base::TimePoint since{};
    std::string cached{};  ///< the cache's version at the write
  };

  struct Uncached {
    std::string version{};
    base::TimePoint since{};
    bool may_be_unseen = false;
  };
  /// Whether both wait for the same cache.
  static bool AreOfOneCache(const Write& a, const Write& b) {
    return a.resource == b.resource && a.namespace_ == b.namespace_ && a.cache == b.cache;
  }
  using ResourceAndNamespace = std::pair<std::string, std::string>;

  bool IsOver(const Uncached& write) const;
  /// Returns the write when the cache does not contain it; std::nullopt when the store need not
  /// wait for it any more.
  std::optional<Stale> Look(const Waiting& waiting) const;
  /// Forgets the writes of all keys that their caches contain.
  void Sweep();
  std::vector<Waiting> Find(const workqueue::Key& owner) const;
  /// Returns whether it was there.
  bool Erase(const workqueue::Key& owner, const Write& write);
  /// Logs that the store no longer waits for a write.
  void TellGivenUp(const workqueue::Key& owner, const Stale& stale, const Write& write);

  base::Clock& clock_;
  base::ReportLimit given_up_lines_;
  mutable base::Mutex mu_;
  std::unordered_map<workqueue::Key, std::vector<Waiting>> writes_ KX_GUARDED_BY(mu_);
  /// When the store has this many keys, it sweeps.
  std::size_t sweep_at_ KX_GUARDED_BY(mu_) = kFirstSweep;
  std::map<ResourceAndNamespace, Uncached> uncached_ KX_GUARDED_BY(mu_);
  std::size_t sweep_uncached_at_ KX_GUARDED_BY(mu_) = kFirstSweep;
};

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_CONSISTENCY_STORE_H_
