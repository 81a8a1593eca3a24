/// @file
/// The state and the latest events of one type, and who watches them.
#ifndef KUBEXX_APISERVER_CACHER_WATCH_CACHE_H_
#define KUBEXX_APISERVER_CACHER_WATCH_CACHE_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apiserver/cacher/cache_watcher.h"
#include "kubexx/apiserver/cacher/cached_object.h"
#include "kubexx/apiserver/cacher/past_changes.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/cache/reflector_store.h"

namespace kubexx::apiserver {

/// Objects of a list, in the order of their storage keys, and the state that they are of.
struct CachedList {
  std::vector<CachedObjectRef> items{};
  std::int64_t revision = 0;
  /// Of the last change of any object of the type: from there on the state was the same.
  std::int64_t since = 0;
};

/// Where a watch begins.
struct WatchStart {
  /// First the state as ADDED events; else the events after `revision`.
  bool initial_events = false;
  /// A bookmark says where the initial events end.
  bool mark_end = false;
  std::int64_t revision = 0;
};

/// Fed by one cache::Reflector, read by many. As kube-apiserver's watch cache
/// (`apiserver/pkg/storage/cacher`): a window of events lets watches begin in the past; a watcher
/// is given each event once, encoded once for all that want the same format. Thread-safe.
class WatchCache final : public cache::ReflectorStore {
 public:
  /// Remembers `window` events.
  WatchCache(ResourceTypeRef type, base::Clock& clock, std::size_t window);

  /// What becomes of a wait when the storage cannot be followed, which may pass.
  enum class OnFailure : std::uint8_t { kWait, kGiveUp };
  /// Waits until the cache has a state of at least `revision`. "Too large resource version" when
  /// it has not by `deadline`; kCancelled. NotBegun at once when the storage could not be read, and
  /// with kGiveUp also while it can be followed no more.
  apimachinery::Result<void> WaitFor(std::int64_t revision, base::TimePoint deadline,
                                     const std::stop_token& stop,
                                     OnFailure on_failure = OnFailure::kWait) const;
  /// Waits for nobody, as revision() does not: what holds the cache up holds up no authorization.
  bool Has(std::int64_t revision) const { return reached_ >= revision; }
  /// What to say of a cache that was not filled yet, as kube-apiserver does: kTooManyRequests.
  static apimachinery::Status NotBegun();
  /// The storage could not be read or followed.
  void NoteFailure();

  /// Compares the objects with the selectors, which are clients', after it has let go of the cache.
  /// Finds the one of a name without looking at others.
  CachedList List(const Selection& selection) const;
  /// Of the state that List gives: as long as it is the same, so is the state. 0 before the first.
  std::int64_t revision() const { return std::max<std::int64_t>(reached_, 0); }

  /// Where the window begins, as long as it has lost no event since the cache was filled: the
  /// storage may know what was before. Nothing when events were dropped.
  std::optional<std::int64_t> BeginOfAll() const;
  /// How many more events the window has room for.
  std::size_t Room() const;
  /// Puts the changes after `revision` up to `begin` before the window, which reaches back to
  /// `revision` then. Does nothing when the window does not begin at `begin` any more, or has no
  /// room for them.
  apimachinery::Result<void> Prepend(std::int64_t begin, std::int64_t revision,
                                     std::vector<PastChange>&& changes);

  /// Adds a watcher; it gets what it has missed first. When that is not known any more, it gets
  /// error 410 and the end.
  void Add(std::shared_ptr<CacheWatcher> watcher, const WatchStart& start);

  /// Sends bookmarks to those who want them, ends the watches whose time is over.
  void Tick(bool bookmarks);
  /// Ends all watches.
  void EndWatches();
  /// Ends all watches once they have been told what has happened up to `revision`, and nothing of
  /// what comes later; those that are added then get what they have missed until there, and the
  /// end.
  void EndWatchesAt(std::int64_t revision);
  std::size_t watchers() const;

  apimachinery::Result<void> Add(cache::Object&& object) override;
  apimachinery::Result<void> Update(cache::Object&& object) override;
  apimachinery::Result<void> Delete(cache::Object&& object) override;
  std::unique_ptr<cache::Replacement> BeginReplace() override;
  /// The next change is not the last of its revision: only with that is the cache at it.
  void MoreFollow() override;
  void Bookmark(std::string_view resource_version) override;
  apimachinery::Result<void> Resync() override { return {}; }

 private:
  using Objects = std::map<std::string, CachedObjectRef, std::less<>>;
  class NewState;

  apimachinery::Result<CachedObjectRef> Make(cache::Object&& object);
  apimachinery::Result<void> Put(cache::Object&& object);
  void Commit(Objects objects, std::int64_t revision);
  void RecordLocked(CacheEvent event) KX_REQUIRES(mu_);
  void DispatchLocked(const CacheEvent& event) KX_REQUIRES(mu_);
  void AdvanceLocked(std::int64_t revision) KX_REQUIRES(mu_);
  /// An event of this revision is there: the last of it, unless others follow.
  void NoteLocked(std::int64_t revision) KX_REQUIRES(mu_);
  void EndWatchesLocked() KX_REQUIRES(mu_);
  /// All of the namespace, or of all when it is empty; those that `name` is not of may be left out.
  CachedList ListLocked(const std::string& namespace_, const std::string& name) const
      KX_REQUIRES(mu_);
  /// The events after a revision; nothing when the window does not reach back to it.
  std::optional<std::vector<CacheEvent>> After(std::int64_t revision) const KX_REQUIRES(mu_);

  const ResourceTypeRef type_;
  base::Clock& clock_;
  const std::size_t window_;
  TextPool texts_;
  mutable base::Mutex mu_;
  mutable base::CondVar advanced_;
  Objects objects_ KX_GUARDED_BY(mu_);
  std::uint64_t generation_ KX_GUARDED_BY(mu_) =
      0;  ///< counts the states that took the place of another
  std::deque<CacheEvent> events_ KX_GUARDED_BY(mu_);
  /// Everything after this revision is in events_.
  std::int64_t window_begin_ KX_GUARDED_BY(mu_) = 0;
  bool dropped_ KX_GUARDED_BY(mu_) = false;  // an event, since the cache was filled
  std::int64_t revision_ KX_GUARDED_BY(mu_) = 0;
  std::int64_t recorded_ KX_GUARDED_BY(mu_) = 0;  // of the last event
  bool is_partial_ KX_GUARDED_BY(mu_) = false;    // see MoreFollow
  /// revision_ once there is a state, and -1 before.
  std::atomic<std::int64_t> reached_ = -1;
  bool synced_ KX_GUARDED_BY(mu_) = false;
  bool failed_ KX_GUARDED_BY(mu_) = false;       // since it has last heard of the storage
  std::int64_t changed_ KX_GUARDED_BY(mu_) = 0;  // see CachedList::since
  std::vector<std::shared_ptr<CacheWatcher>> watchers_ KX_GUARDED_BY(mu_);
  /// No watch is told of what is later.
  std::int64_t last_ KX_GUARDED_BY(mu_) = std::numeric_limits<std::int64_t>::max();
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_CACHER_WATCH_CACHE_H_
