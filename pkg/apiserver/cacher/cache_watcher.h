/// @file
/// One client's watch of a cacher.
#ifndef KUBEXX_APISERVER_CACHER_CACHE_WATCHER_H_
#define KUBEXX_APISERVER_CACHER_CACHE_WATCHER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kubexx/apiserver/cacher/cached_object.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/http/message.h"

namespace kubexx::apiserver {

/// What a watcher wants.
struct WatcherOptions {
  Selection selection{};
  std::shared_ptr<const FrameFormat> format{};
  /// How its first event is written; null: as the others.
  std::shared_ptr<const FrameFormat> first_format{};
  bool bookmarks = false;
  /// When the watch ends.
  base::TimePoint deadline = base::TimePoint::max();
  /// A watcher that lets more than this wait is ended: it can begin again where it was.
  std::size_t max_waiting_bytes = 16 << 20;
  /// Frames that wait, besides.
  std::size_t max_waiting_frames = 10000;
};

/// The frames that wait for one client. The cacher pushes, the connection takes. What the client
/// gets of the state at its beginning is encoded when it is taken, so that it costs no memory; what
/// happens afterwards comes encoded, shared with the other watchers. Thread-safe.
class CacheWatcher final : public http::BodyStream {
 public:
  CacheWatcher(ResourceTypeRef type, WatcherOptions options);
  CacheWatcher(const CacheWatcher&) = delete;
  CacheWatcher& operator=(const CacheWatcher&) = delete;

  const WatcherOptions& options() const { return options_; }

  /// Before it is started: an event to be told first.
  void PushFirst(SelectedEvent event);
  /// In which format the next event to be pushed is written.
  const FrameFormat& NextFormat() const;
  /// An event that others are told, too, in the format that NextFormat has told.
  void Push(Chunk frame);
  /// A bookmark at `revision`. `initial_end`: the initial events end here.
  void PushBookmark(std::int64_t revision, bool initial_end);
  /// An error, and the end. `status_json` is a Status.
  void PushError(std::string status_json);
  /// No more after what waits.
  void End();
  /// The connection is gone, or what waits has been given: the cacher forgets it.
  bool closed() const;

  void Start(std::function<void()> wake) override;
  bool Take(std::vector<Chunk>& chunks) override;
  void Closed() override;

  /// The version that the watch began at: what is not later is not for it. Set and read by the
  /// cache under its lock.
  std::int64_t begin() const { return begin_; }
  void SetBegin(std::int64_t revision) { begin_ = revision; }

 private:
  struct Item {
    Chunk frame{};  ///< null: encode the rest
    codec::WatchEventType type = codec::WatchEventType::kAdded;
    CachedObjectRef object{};
    std::string json{};  ///< of a bookmark or error
    bool first = false;  ///< of the watch
  };

  void AddLocked(Item item) KX_REQUIRES(mu_);
  const FrameFormat& FormatOf(bool first) const;
  Chunk Encode(const Item& item) const;

  const ResourceTypeRef type_;
  const WatcherOptions options_;
  std::int64_t begin_ = 0;
  mutable base::Mutex mu_;
  std::deque<Item> items_ KX_GUARDED_BY(mu_);
  std::size_t waiting_bytes_ KX_GUARDED_BY(mu_) = 0;
  std::size_t waiting_frames_ KX_GUARDED_BY(mu_) = 0;
  bool begun_ KX_GUARDED_BY(mu_) = false;  ///< something was pushed
  bool ended_ KX_GUARDED_BY(mu_) = false;
  bool closed_ KX_GUARDED_BY(mu_) = false;
  std::function<void()> wake_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_CACHER_CACHE_WATCHER_H_
