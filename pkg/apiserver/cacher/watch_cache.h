/// @file
/// The state and the latest events of one type, and the watchers of that type.
#ifndef KUBEXX_APISERVER_CACHER_WATCH_CACHE_H_
#define KUBEXX_APISERVER_CACHER_WATCH_CACHE_H_

#include <algorithm>
#include <atomic>
#include <chrono>
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

#include "kubexx/apiserver/cacher/beginning.h"
#include "kubexx/apiserver/cacher/cache_watcher.h"
#include "kubexx/apiserver/cacher/cached_object.h"
#include "kubexx/apiserver/cacher/held_states.h"
#include "kubexx/apiserver/cacher/past_changes.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/cache/reflector_store.h"

namespace kubexx::apiserver {

/// The objects of a list in the order of their storage keys, and the revision of the list.
struct CachedList {
  std::vector<CachedObjectRef> items{};
  std::int64_t revision = 0;
  /// The revision of the last change of any object of the type. From there to `revision` the state
  /// was the same.
  std::int64_t since = 0;
};

/// Where a watch begins, and with which events.
struct WatchStart {
  /// The watch begins with ADDED events of the current state; otherwise it begins with the events
  /// after `revision`.
  bool initial_events = false;
  /// A bookmark marks the end of the initial events.
  bool mark_end = false;
  std::int64_t revision = 0;
};

/// How many past events a cache keeps.
struct WindowLimits {
  /// At most so many.
  std::size_t events = 100'000;
  /// At most so many bytes, so that updates of large objects do not need any amount of memory: of
  /// the objects of the events and of those before them. If the cache itself has more bytes, twice
  /// as many as it has. Otherwise whoever writes often enough could keep everybody from watching:
  /// the events since a list began would be gone when it has been read.
  std::size_t bytes = 32 << 20;
  /// Events that are older are kept only as long as all of them have at most `old_bytes`.
  base::Duration fresh = std::chrono::minutes(5);
  std::size_t old_bytes = 2 << 20;
};

/// The watch cache of one type. One cache::Reflector feeds it, and many requests read it. As
/// kube-apiserver's watch cache (`apiserver/pkg/storage/cacher`) it keeps a window of past events,
/// so that watches can begin in the past. It gives each event to a watcher once, and encodes an
/// event once for all watchers with the same format. Thread-safe.
class WatchCache final : public cache::ReflectorStore {
 public:
  /// The cache keeps the last events within the limits. A watch that is up to date needs none of
  /// them.
  WatchCache(ResourceTypeRef type, base::Clock& clock, WindowLimits limits);

  /// Whether a wait continues or ends with an error when the cache cannot follow the storage at the
  /// moment.
  enum class OnFailure : std::uint8_t { kWait, kGiveUp };
  /// Waits until the cache has a state of at least `revision`. Returns the error "Too large
  /// resource version" at `deadline`, and kCancelled when `stop` is requested. Returns NotBegun at
  /// once when the cache was never filled and the storage cannot be read, and with kGiveUp also
  /// when the cache cannot follow the storage any more.
  apimachinery::Result<void> WaitFor(std::int64_t revision, base::TimePoint deadline,
                                     const std::stop_token& stop,
                                     OnFailure on_failure = OnFailure::kWait) const;
  /// Whether the cache has a state of at least `revision`. Like revision() it takes no lock, so
  /// that a busy cache does not delay authorization.
  bool Has(std::int64_t revision) const { return reached_ >= revision; }
  /// The error for a cache that is not filled yet: kTooManyRequests, as kube-apiserver answers.
  static apimachinery::Status NotBegun();
  /// Tells the cache that the storage could not be listed or watched.
  void NoteFailure();

  /// Returns the selected objects. It compares objects with the selectors without holding the lock,
  /// because clients choose the selectors. It finds an object that is selected by name without
  /// comparing others.
  CachedList List(const Selection& selection) const;
  /// The revision of the state that List returns. While it stays the same, so does the state. It is
  /// 0 before the cache is filled.
  std::int64_t revision() const { return std::max<std::int64_t>(reached_, 0); }

  /// The revision at which the window of events begins, if the cache has dropped no event since it
  /// was filled; the storage may know earlier events then. std::nullopt when events were dropped.
  std::optional<std::int64_t> BeginOfAll() const;
  /// What the window has room for.
  struct WindowRoom {
    std::size_t events = 0;
    std::size_t bytes = 0;  ///< as WindowLimits::bytes counts them
  };
  WindowRoom Room() const;
  /// Inserts the changes after `revision` up to `begin` at the front of the window, which then
  /// reaches back to `revision`. Does nothing when the window does not begin at `begin` any more,
  /// or has no room for them.
  apimachinery::Result<void> Prepend(std::int64_t begin, std::int64_t revision,
                                     std::vector<PastChange>&& changes);

  /// Adds a watcher, which first gets the events since its start. When the window does not reach
  /// back that far, the watcher gets an ERROR event with code 410, and its watch ends.
  void Add(std::shared_ptr<CacheWatcher> watcher, const WatchStart& start);

  /// Ends the watches whose deadline has passed, and sends a bookmark to the watchers that want
  /// them: with `bookmarks` to all, otherwise to those that end, so that the next watch goes on
  /// from there. (kube-apiserver's is sent two seconds before.) Also drops old events. Costs
  /// nothing, and takes no lock, while nobody watches and there are few events.
  void Tick(base::TimePoint now, bool bookmarks);
  /// Ends all watches.
  void EndWatches();
  /// Ends all watches once they have received the events up to `revision`; they get no later
  /// events. A watcher that is added afterwards gets the events that it has missed up to
  /// `revision`, and its watch ends.
  void EndWatchesAt(std::int64_t revision);
  std::size_t watchers() const;

  apimachinery::Result<void> Add(cache::Object&& object) override;
  apimachinery::Result<void> Update(cache::Object&& object) override;
  apimachinery::Result<void> Delete(cache::Object&& object) override;
  std::unique_ptr<cache::Replacement> BeginReplace() override;
  /// Says that more changes of the same revision follow the next one. The cache reaches that
  /// revision only with the last of them.
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
  /// How many bytes the window may have at present.
  std::size_t MaxWindowBytesLocked() const KX_REQUIRES(mu_);
  /// Drops the events that are beyond the limits.
  void TrimLocked(base::TimePoint now) KX_REQUIRES(mu_);
  void DropOldestLocked() KX_REQUIRES(mu_);
  /// The selected objects of the present state. Sets `revision` to that of the state. Ends the
  /// watches with the oldest states when clients that do not read keep more of what was replaced in
  /// memory than the window may have; such a client can begin again, with the present state.
  Beginning Begin(const Selection& selection, std::int64_t& revision);
  void DispatchLocked(const CacheEvent& event) KX_REQUIRES(mu_);
  void AdvanceLocked(std::int64_t revision) KX_REQUIRES(mu_);
  /// Notes that an event of this revision has arrived. The revision is reached unless others of it
  /// follow.
  void NoteLocked(std::int64_t revision) KX_REQUIRES(mu_);
  void EndWatchesLocked() KX_REQUIRES(mu_);
  /// The objects of the namespace, or of all namespaces when it is empty. When `name` is set,
  /// objects of other names may be missing.
  CachedList ListLocked(const std::string& namespace_, const std::string& name) const
      KX_REQUIRES(mu_);
  /// The events after a revision; std::nullopt when the window does not reach back to it.
  std::optional<std::vector<CacheEvent>> After(std::int64_t revision) const KX_REQUIRES(mu_);

  const ResourceTypeRef type_;
  base::Clock& clock_;
  const WindowLimits limits_;
  TextPool texts_;
  mutable base::Mutex mu_;
  mutable base::CondVar advanced_;
  Objects objects_ KX_GUARDED_BY(mu_);
  std::uint64_t generation_ KX_GUARDED_BY(mu_) = 0;  ///< how often the whole state was replaced
  std::deque<CacheEvent> events_ KX_GUARDED_BY(mu_);
  std::deque<base::TimePoint> times_ KX_GUARDED_BY(mu_);  ///< when events_ were recorded
  std::size_t window_bytes_ KX_GUARDED_BY(mu_) = 0;       ///< of events_
  std::size_t object_bytes_ KX_GUARDED_BY(mu_) = 0;       ///< of the texts of objects_
  std::atomic<bool> is_large_ = false;                    ///< the window is; see Tick
  /// The states with which watches began that have not told all of it yet, by their namespaces.
  std::map<std::string, std::weak_ptr<const ObjectsAtATime>> states_ KX_GUARDED_BY(mu_);
  /// These and the other states that such watches hold. Those that are too old and too large end;
  /// see Begin.
  HeldStates held_ KX_GUARDED_BY(mu_);
  std::uint64_t replaced_bytes_ KX_GUARDED_BY(mu_) = 0;  ///< see ObjectsAtATime::replaced
  /// All events after this revision are in events_.
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
  std::atomic<bool> is_watched_ = false;  ///< since the last watcher was added; see Tick
  /// Watchers get no events after this revision; see EndWatchesAt.
  std::int64_t last_ KX_GUARDED_BY(mu_) = std::numeric_limits<std::int64_t>::max();
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_CACHER_WATCH_CACHE_H_
