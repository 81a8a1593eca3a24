/// @file
/// The watch cache of one type with what feeds it.
#ifndef KUBEXX_APISERVER_CACHER_CACHER_H_
#define KUBEXX_APISERVER_CACHER_CACHER_H_

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
  /// How many events watches can begin in the past of.
  std::size_t window = 1000;
  /// How long a request waits for the cache to be as fresh as it asks.
  base::Duration patience = std::chrono::seconds(3);
};

/// A cache::Reflector, the client's own, follows the storage into a WatchCache, on a thread that
/// this starts and ends. Thread-safe.
class Cacher {
 public:
  using Options = CacherOptions;

  /// `storage` must outlive it.
  Cacher(ResourceTypeRef type, storage::Storage& storage, Options options);
  /// Ends all watches.
  ~Cacher();
  Cacher(const Cacher&) = delete;
  Cacher& operator=(const Cacher&) = delete;

  /// Waits until the cache has at least `revision`: 0 for whatever it has once it is filled. "Too
  /// large resource version" when that takes too long; WatchCache::NotBegun when it cannot be
  /// filled, or that takes too long.
  apimachinery::Result<void> WaitFor(std::int64_t revision, const std::stop_token& stop);
  /// The same for the latest write that has been acknowledged.
  apimachinery::Result<void> WaitForLatest(const std::stop_token& stop);
  /// The same for whoever is not to wait while the storage cannot be followed.
  apimachinery::Result<void> CatchUpWithLatest(const std::stop_token& stop);
  /// Waits until the cache has at least `revision`, which the storage has given out, for those who
  /// can do without it: an error at once when it is not filled, or cannot follow the storage.
  apimachinery::Result<void> CatchUp(std::int64_t revision, const std::stop_token& stop);

  /// Makes the window of events reach back to a version, where the storage remembers what has
  /// happened since: the cache of a type begins with the first request that needs it, and whoever
  /// listed or wrote before that watches from there. kExpired (410) for a version that the storage
  /// has not given out: whoever knows it has it from another history, of a storage that has been
  /// emptied, say, and is to list anew. kube-apiserver is silent until its versions have caught up,
  /// and what came before is missed then. Success says not that events from there are known;
  /// WatchCache::Add does. The cache must be filled.
  /// A storage that is silent is waited for as long as CacherOptions::patience says, once for all
  /// who wait.
  apimachinery::Result<void> ReachBack(std::int64_t revision, const std::stop_token& stop);

  /// Ends all watches once they have been told what has happened up to `revision`, which the
  /// storage has given out: the type is served no more, or is another one from there on.
  void EndAt(std::int64_t revision);

  WatchCache& cache() { return cache_; }

  /// To be called about once a second.
  void Tick();

 private:
  /// Reads what the cache does not have since `revision`; nobody else does so meanwhile.
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
  base::TimePoint last_bookmarks_ KX_GUARDED_BY(mu_);
  std::jthread thread_;
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_CACHER_CACHER_H_
