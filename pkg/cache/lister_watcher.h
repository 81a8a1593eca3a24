/// @file
/// ListerWatcher: a source of objects, such as the API server, an etcd store, or a test.
#ifndef KUBEXX_CACHE_LISTER_WATCHER_H_
#define KUBEXX_CACHE_LISTER_WATCHER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "kubexx/apimachinery/list_options.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/cache/object.h"
#include "kubexx/codec/list_reader.h"
#include "kubexx/codec/watch_reader.h"

namespace kubexx::cache {

/// One watch event. For kBookmark the object has a resourceVersion but no key. kError never occurs
/// here: it ends the watch, which returns the event's Status.
struct WatchEvent {
  codec::WatchEventType type = codec::WatchEventType::kAdded;
  Object object{};
  /// Whether this is the bookmark that ends the initial events of a WatchList (annotation
  /// k8s.io/initial-events-end).
  bool initial_events_end = false;
  /// Whether another event of this watch has already arrived and follows. A receiver may then
  /// postpone work that it can do once for several events. It is false for the last event before an
  /// error or a wait.
  bool more = false;
};

/// A watch that has begun, for those who do not wait for its events; see
/// ListerWatcher::StartWatch. The destructor ends the watch. Not thread-safe; may go from one
/// thread to another.
class OpenWatch {
 public:
  using EventSink = base::FunctionRef<apimachinery::Result<void>(WatchEvent&&)>;

  /// What Read has found.
  enum class Found : std::uint8_t {
    kSome,     ///< something arrived, and there may be more; not all that arrives is an event
    kNothing,  ///< nothing has arrived
    kEnd,      ///< a clean end
  };

  virtual ~OpenWatch() = default;

  /// Hands over some of the events that have arrived, and does not wait for others. Errors are
  /// those of ListerWatcher::Watch, and the watch has ended then.
  virtual apimachinery::Result<Found> Read(EventSink sink) = 0;

  /// `tell` is what Arm has called. It is called on any thread, and must neither block nor throw.
  /// Called once, before Arm.
  virtual void Notify(std::function<void()> tell) = 0;

  /// After kNothing: has somebody told once, as soon as Read finds something. May also tell without
  /// a reason. Returns when Read has to be called in any case, by the clock of the source, which is
  /// that of whoever reads; TimePoint::max(): never.
  virtual base::TimePoint Arm() = 0;
};

/// Lists and watches one type. As client-go's ListerWatcher (`tools/cache`), but both calls block
/// and hand over the objects one by one as they arrive, so that a caller never holds a whole
/// response. Implementations are thread-safe. An exception counts as a failed attempt of the
/// reflector; see Reflector.
class ListerWatcher {
 public:
  using ObjectSink = base::FunctionRef<apimachinery::Result<void>(Object&&)>;
  using EventSink = base::FunctionRef<apimachinery::Result<void>(WatchEvent&&)>;

  virtual ~ListerWatcher() = default;

  /// Reads one page of a list and returns the list's metadata after the last object. An error of
  /// `sink` ends the list and is returned. An item that cannot be read is handed over with its
  /// error (Object::unreadable), and the list continues.
  virtual apimachinery::Result<codec::ListMeta> List(const apimachinery::ListOptions& options,
                                                     ObjectSink sink, std::stop_token stop) = 0;

  /// Watches until the stream ends. A clean end (server timeout, EOF) is success. An ERROR event, a
  /// refused request, or an error of `sink` is returned as its Status; kCancelled when `stop` was
  /// requested. An event that cannot be read is handed over with its error, and the watch
  /// continues.
  virtual apimachinery::Result<void> Watch(const apimachinery::ListOptions& options, EventSink sink,
                                           std::stop_token stop) = 0;

  /// Whether StartWatch works. A source for which this is false, which is the default, keeps a
  /// thread of its reflector for as long as it watches.
  virtual bool CanStartWatch() const { return false; }

  /// As Watch, but returns when the watch has begun, and the events are read without a thread that
  /// waits for them. It may block until the server has answered, as Watch does, and until `stop`.
  /// The source outlives the result. By default it fails with kInternalError.
  virtual apimachinery::Result<std::unique_ptr<OpenWatch>> StartWatch(
      const apimachinery::ListOptions& options, std::stop_token stop);

  /// Returns the present resourceVersion of the server's data. A reflector uses it to find out
  /// whether the data have gone back to an older version. The default implementation lists a single
  /// object and drops it. An implementation that counts lists, or checks permissions with them,
  /// should forward this call instead.
  virtual apimachinery::Result<std::string> CurrentVersion(std::stop_token stop);
};

/// A ListerWatcher that consists of two functions, as client-go's ListWatch.
class ListWatch final : public ListerWatcher {
 public:
  using ListFunc = std::function<apimachinery::Result<codec::ListMeta>(
      const apimachinery::ListOptions&, ObjectSink, std::stop_token)>;
  using WatchFunc = std::function<apimachinery::Result<void>(const apimachinery::ListOptions&,
                                                             EventSink, std::stop_token)>;

  ListWatch(ListFunc list, WatchFunc watch) : list_(std::move(list)), watch_(std::move(watch)) {}

  apimachinery::Result<codec::ListMeta> List(const apimachinery::ListOptions& options,
                                             ObjectSink sink, std::stop_token stop) override {
    return list_(options, sink, std::move(stop));
  }
  apimachinery::Result<void> Watch(const apimachinery::ListOptions& options, EventSink sink,
                                   std::stop_token stop) override {
    return watch_(options, sink, std::move(stop));
  }

 private:
  ListFunc list_;
  WatchFunc watch_;
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_LISTER_WATCHER_H_
