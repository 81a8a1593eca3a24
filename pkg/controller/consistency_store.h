/// @file
/// Read-your-writes: what a controller wrote, and whether its caches have seen it.
#ifndef KUBEXX_CONTROLLER_CONSISTENCY_STORE_H_
#define KUBEXX_CONTROLLER_CONSISTENCY_STORE_H_

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/report_limit.h"
#include "kubexx/workqueue/key.h"

namespace kubexx::controller {

/// Notes, for each key that is reconciled, each resource and each namespace, the version of the
/// last write made while reconciling it. A reconcile that would read an older cache is put off: it
/// would take its own work for missing and do it again. As the ConsistencyStore of Kubernetes' own
/// controllers (pkg/controller/util/consistency). A write is forgotten once it has been seen, that
/// of a key which is never reconciled again some writes later, so memory is bounded by twice the
/// keys with writes that the caches have not seen, and some. A cache that goes back to before what
/// it had at the write, as that of a server that was restored, will never see it: it is forgotten.
/// A write that a cache has not reached after kGiveUp, as where the permission to list and watch
/// was taken away meanwhile, is forgotten with a warning: the key is reconciled with what there is.
/// Thread-safe.
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

  /// One write.
  struct Write {
    std::string resource{};    ///< "apps/v1/deployments"
    std::string namespace_{};  ///< of the object that was written
    std::string version{};     ///< that it got
    /// A selector may keep the object from the cache: then nothing tells when it has been seen, and
    /// it is waited for no longer than kPatience.
    bool may_be_unseen = false;
    /// Of that namespace. Called by Check. While it is empty, as it stays where the namespace may
    /// not be read, it is waited for no longer than kPatience either.
    CacheVersion cached{};
  };
  /// The looks at a cache come further and further apart, the last one within twice this time: no
  /// key waits for longer than a second.
  static constexpr base::Duration kPatience = std::chrono::milliseconds(500);
  /// Longer than a watch takes to come back after a failure, most of the time. Not kPatience: such
  /// a cache is known to be old, and what was made under a generated name would be made again.
  static constexpr base::Duration kGiveUp = std::chrono::seconds(30);
  static constexpr std::size_t kFirstSweep = 1024;

  explicit ConsistencyStore(base::Clock& clock = base::Clock::Real())
      : clock_(clock), given_up_lines_(clock) {}

  /// While reconciling `owner`, something was written. A version that cannot be compared is not
  /// waited for.
  void Wrote(const workqueue::Key& owner, Write write);

  /// The first write of `owner` that its cache has not seen; nothing when all have been.
  std::optional<Stale> Check(const workqueue::Key& owner);

  /// Keys with writes that have not been seen.
  std::size_t size() const;

 private:
  struct Waiting {
    Write write{};
    base::TimePoint since{};
    std::string cached{};  ///< when it was written
  };

  /// What a cache has not seen of the write; nothing when it need not be waited for any more.
  std::optional<Stale> Look(const Waiting& waiting) const;
  /// Forgets what has been seen, whatever key it is of.
  void Sweep();
  std::vector<Waiting> Find(const workqueue::Key& owner) const;
  /// Whether it was there.
  bool Erase(const workqueue::Key& owner, const Write& write);
  /// Tells of a write that is waited for no more.
  void TellGivenUp(const workqueue::Key& owner, const Stale& stale, const Write& write);

  base::Clock& clock_;
  base::ReportLimit given_up_lines_;
  mutable base::Mutex mu_;
  std::unordered_map<workqueue::Key, std::vector<Waiting>> writes_ KX_GUARDED_BY(mu_);
  /// So many keys are looked through.
  std::size_t sweep_at_ KX_GUARDED_BY(mu_) = kFirstSweep;
};

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_CONSISTENCY_STORE_H_
