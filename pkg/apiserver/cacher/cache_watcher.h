/// @file
/// One client's watch of a cacher.
#ifndef KUBEXX_APISERVER_CACHER_CACHE_WATCHER_H_
#define KUBEXX_APISERVER_CACHER_CACHE_WATCHER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kubexx/apiserver/cacher/beginning.h"
#include "kubexx/apiserver/cacher/cached_object.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/http/message.h"

namespace kubexx::apiserver {

/// What a client asks of its watch, and the limits of the watch.
struct WatcherOptions {
  Selection selection{};
  std::shared_ptr<const FrameFormat> format{};
  /// The format of the first event; null when it is that of the others.
  std::shared_ptr<const FrameFormat> first_format{};
  bool bookmarks = false;
  /// The time at which the watch ends.
  base::TimePoint deadline = base::TimePoint::max();
  /// The watch ends when more than this many bytes wait for the client, including what tells which
  /// objects of the state are still to come. The client can then watch again from where it was.
  std::size_t max_waiting_bytes = 16 << 20;
  /// What belongs to the watch until it is closed, such as its place among those of its user.
  std::shared_ptr<const void> lease{};
  /// The watch also ends when more than this many frames wait.
  std::size_t max_waiting_frames = 10000;
};

/// The frames that wait for one client. The cacher pushes them and the connection takes them. The
/// initial events of a watch are encoded only when the connection takes them, and those of the
/// state are found only then, so that they need next to no memory. Later events are already encoded
/// when they are pushed, and all watchers share those bytes. Thread-safe.
class CacheWatcher final : public http::BodyStream {
 public:
  CacheWatcher(ResourceTypeRef type, WatcherOptions options);
  CacheWatcher(const CacheWatcher&) = delete;
  CacheWatcher& operator=(const CacheWatcher&) = delete;

  const WatcherOptions& options() const { return options_; }

  /// Lets the watch begin with an ADDED event for each of these objects. May be called only before
  /// anything is pushed.
  void BeginWith(Beginning beginning);
  /// Pushes an initial event. May be called only before the watch is started.
  void PushFirst(SelectedEvent event);
  /// The format of the next event that will be pushed.
  const FrameFormat& NextFormat() const;
  /// Pushes an encoded event, which other watchers may share. It must have the format that
  /// NextFormat returned.
  void Push(Chunk frame);
  /// Pushes a bookmark at `revision`. With `initial_end` it says that the initial events end here.
  void PushBookmark(std::int64_t revision, bool initial_end);
  /// Pushes an ERROR event and ends the watch. `status_json` is a Status.
  void PushError(std::string status_json);
  /// Ends the watch after the frames that wait.
  void End();
  /// Ends the watch at once, without what waits, if it has not told all of its beginning yet, and
  /// that holds a state that is as old as this; see ObjectsAtATime::replaced.
  void EndIfBegun(std::uint64_t replaced);
  /// Whether the connection is closed, or the watch has ended and all frames are taken. The cacher
  /// then drops the watcher.
  bool closed() const;

  void Start(std::function<void()> wake) override;
  bool Take(std::vector<Chunk>& chunks) override;
  void Closed() override;

  /// The revision at which the watch began; it does not get events up to this one. The cache sets
  /// and reads it under its own mutex.
  std::int64_t begin() const { return begin_; }
  void SetBegin(std::int64_t revision) { begin_ = revision; }

 private:
  // There may be a thousand for each watch, so it is small.
  struct Item {
    Chunk frame{};  ///< encoded, or the JSON of a bookmark or error that has to be encoded
    CachedObjectRef object{};  ///< to be encoded; null when there is a frame
    codec::WatchEventType type = codec::WatchEventType::kAdded;
    bool encoded = false;  ///< the frame is
    bool first = false;    ///< of the watch
  };

  void AddLocked(Item item) KX_REQUIRES(mu_);
  /// The next of what waits; there must be something.
  Item NextLocked() KX_REQUIRES(mu_);
  bool WaitsLocked() const KX_REQUIRES(mu_) { return beginning_.left() > 0 || !items_.empty(); }
  void ForgetLocked() KX_REQUIRES(mu_);
  /// Ends the watch without what waits.
  void BreakOffLocked() KX_REQUIRES(mu_);
  const FrameFormat& FormatOf(bool first) const;
  Chunk Encode(const Item& item) const;

  const ResourceTypeRef type_;
  std::shared_ptr<const void> lease_ KX_GUARDED_BY(mu_);
  const WatcherOptions options_;
  std::int64_t begin_ = 0;
  mutable base::Mutex mu_;
  Beginning beginning_ KX_GUARDED_BY(mu_);    ///< comes before items_
  bool at_first_ KX_GUARDED_BY(mu_) = false;  ///< the next object of beginning_ is the first event
  std::deque<Item> items_ KX_GUARDED_BY(mu_);
  std::size_t waiting_bytes_ KX_GUARDED_BY(mu_) = 0;
  std::size_t waiting_frames_ KX_GUARDED_BY(mu_) = 0;
  bool begun_ KX_GUARDED_BY(mu_) = false;  ///< something was pushed
  bool ended_ KX_GUARDED_BY(mu_) = false;
  std::atomic<bool> closed_ = false;  ///< the server looks at all watches each second
  std::function<void()> wake_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_CACHER_CACHE_WATCHER_H_
