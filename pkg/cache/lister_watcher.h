/// @file
/// Where objects come from: the API server, an etcd store, or a test.
#ifndef KUBEXX_CACHE_LISTER_WATCHER_H_
#define KUBEXX_CACHE_LISTER_WATCHER_H_

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "kubexx/apimachinery/list_options.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/cache/object.h"
#include "kubexx/codec/list_reader.h"
#include "kubexx/codec/watch_reader.h"

namespace kubexx::cache {

/// One watch event. For kBookmark the object has a resourceVersion and no key. kError never arrives
/// here: it ends the watch and is returned as its Status.
struct WatchEvent {
  codec::WatchEventType type = codec::WatchEventType::kAdded;
  Object object{};
  /// A bookmark that ends the initial events of a WatchList (annotation k8s.io/initial-events-end).
  bool initial_events_end = false;
  /// Another event of this watch is there already and follows, so that a receiver may put off what
  /// it would do once for several. The last event before an error or a wait does not say so.
  bool more = false;
};

/// Lists and watches one type. As client-go's ListerWatcher (`tools/cache`), but both calls block
/// and hand objects over one by one as they arrive, so that a caller never holds a response.
/// Implementations are thread-safe.
class ListerWatcher {
 public:
  using ObjectSink = base::FunctionRef<apimachinery::Result<void>(Object&&)>;
  using EventSink = base::FunctionRef<apimachinery::Result<void>(WatchEvent&&)>;

  virtual ~ListerWatcher() = default;

  /// One page of a list. Returns its metadata after the last object; an error of `sink` ends it and
  /// is returned. An item that cannot be read is handed over as such (Object::unreadable), and the
  /// others follow.
  virtual apimachinery::Result<codec::ListMeta> List(const apimachinery::ListOptions& options,
                                                     ObjectSink sink, std::stop_token stop) = 0;

  /// Watches until the stream ends. A clean end (server timeout, EOF) is success; an ERROR event, a
  /// refused request, or an error of `sink` is returned as its Status; kCancelled when `stop` was
  /// requested. An event that cannot be read is handed over as such, and the others follow.
  virtual apimachinery::Result<void> Watch(const apimachinery::ListOptions& options, EventSink sink,
                                           std::stop_token stop) = 0;

  /// The version that the server's data have now, for a reflector that wants to know whether they
  /// have gone back. It asks for a list of one object, which nobody stores; who counts lists, or
  /// tells by them what is permitted, passes the question on instead.
  virtual apimachinery::Result<std::string> CurrentVersion(std::stop_token stop);
};

/// A ListerWatcher made of two functions, as client-go's ListWatch.
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
