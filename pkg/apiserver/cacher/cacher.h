/// @file
/// The watch cache of one type together with the reflector that feeds it.
#ifndef KUBEXX_APISERVER_CACHER_CACHER_H_
#define KUBEXX_APISERVER_CACHER_CACHER_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <thread>

#include "kubexx/apiserver/cacher/watch_cache.h"
#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/cache/reflector.h"

namespace kubexx::apiserver {

/// Settings of a Cacher.
struct CacherOptions {
  base::Clock& clock = base::Clock::Real();
  /// How many past events the cache keeps, so that a watch can begin in the past.
  std::size_t window = 100'000;
  /// How long a request waits for the cache to reach the revision that it needs.
  base::Duration patience = std::chrono::seconds(3);
  /// How often watches that asked for bookmarks get one, at least a second; clients remember by
  /// them how far they are, for when they begin again. The default is kube-apiserver's.
  base::Duration bookmark_interval = std::chrono::minutes(1);
};

/// Follows the storage with a cache::Reflector, which feeds a WatchCache. Owns the thread on which
/// the reflector runs. Thread-safe.
class Cacher {
 public:
  using Options = CacherOptions;

  /// `storage` must outlive it.
  Cacher(ResourceTypeRef type, storage::Storage& storage, Options options);
  /// Ends all watches.
  ~Cacher();
  Cacher(const Cacher&) = delete;
  Cacher& operator=(const Cacher&) = delete;

  /// Waits until the cache has at least `revision`; with 0, until it is filled. Returns the error
  /// "Too large resource version" when the storage has not given out that revision or the cache
  /// does not reach it in time. Returns WatchCache::NotBegun when the cache cannot be filled, or
  /// not in time.
  apimachinery::Result<void> WaitFor(std::int64_t revision, const std::stop_token& stop);
  /// The same for the revision of the latest acknowledged write.
  apimachinery::Result<void> WaitForLatest(const std::stop_token& stop);
  /// The same, but it does not wait while the cache cannot follow the storage.
  apimachinery::Result<void> CatchUpWithLatest(const std::stop_token& stop);
  /// Waits until the cache has at least `revision`, which the storage must have given out. Returns
  /// an error at once when the cache is not filled or cannot follow the storage. For callers that
  /// can do without the cache.
  apimachinery::Result<void> CatchUp(std::int64_t revision, const std::stop_token& stop);

  /// Extends the window of events back to `revision` when the storage still has the history since
  /// then. A cache exists only from the first request that needs its type; a client that listed or
  /// wrote before may want to watch from that earlier revision. Returns kExpired (410) for a
  /// revision that the storage has not given out: such a client has seen the history of another
  /// store, for example before the store was emptied, and has to list again. kube-apiserver instead
  /// sends nothing until its revisions have caught up, so that the client misses the events before.
  /// Success does not mean that the cache knows the events from `revision` on; WatchCache::Add
  /// finds that out. The cache must be filled. All concurrent callers together wait for a silent
  /// storage at most for CacherOptions::patience.
  apimachinery::Result<void> ReachBack(std::int64_t revision, const std::stop_token& stop);

  /// Ends all watches once they have received the events up to `revision`, which the storage must
  /// have given out. For a type that is not served any more, or that changes at that revision.
  void EndAt(std::int64_t revision);

  WatchCache& cache() { return cache_; }

  /// Ends watches whose time is over, and sends bookmarks when they are due. The owner must call it
  /// about once a second, with the time that it is; of two calls at the same time, both may send
  /// bookmarks.
  void Tick(base::TimePoint now);

 private:
  /// Reads the events since `revision` that the cache does not have. Only one thread at a time may
  /// call it.
  apimachinery::Result<void> ReadPast(std::int64_t revision, const std::stop_token& stop);
  apimachinery::Result<void> Await(std::int64_t revision, WatchCache::OnFailure on_failure,
                                   const std::stop_token& stop);

  const ResourceTypeRef type_;
  storage::Storage& storage_;
  const Options options_;
  WatchCache cache_;
  cache::Reflector reflector_;
  base::Mutex mu_;
  base::CondVar reached_;
  bool reaching_ KX_GUARDED_BY(mu_) = false;
  /// A window that begins at `begin` cannot reach back to `revision`: the changes in between are
  /// gone, or too many.
  struct OutOfReach {
    std::int64_t begin = 0;
    std::int64_t revision = 0;
  };
  OutOfReach out_of_reach_ KX_GUARDED_BY(mu_);
  std::atomic<base::TimePoint> last_bookmarks_;
  std::jthread thread_;
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_CACHER_CACHER_H_
