/// @file
/// SharedInformer: one list-watch of a type, one packed store, many handlers.
#ifndef KUBEXX_CACHE_SHARED_INFORMER_H_
#define KUBEXX_CACHE_SHARED_INFORMER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/cache/handler_options.h"
#include "kubexx/cache/handler_registration.h"
#include "kubexx/cache/indexer_set.h"
#include "kubexx/cache/informer_event.h"
#include "kubexx/cache/lister_watcher.h"
#include "kubexx/cache/watch_tuning.h"
#include "kubexx/codec/codec.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::cache {

/// Settings of one informer.
struct InformerOptions {
  /// For logs and metric labels; defaults to the resource's plural when a factory makes the
  /// informer.
  std::string name{};
  base::Clock& clock = base::Clock::Real();
  /// Records reflector_* and informer_* metrics there when set; must outlive the informer.
  metrics::Registry* registry = nullptr;
  /// Changes an object before it is stored, for example to drop or project fields; runs once per
  /// arriving object, before anything else sees it, on the reflector's thread. An error drops the
  /// object, is logged and counted.
  std::function<apimachinery::Result<void>(Object&)> transform{};
  /// For handlers that name no period of their own; see HandlerOptions. Zero means never.
  base::Duration resync_period{0};
  /// For handlers that name no buffer of their own: events that may wait for one before its
  /// Overflow applies.
  std::size_t handler_buffer = 1024;
  /// Get the initial state with a streaming WatchList; servers that cannot are asked with LIST.
  bool use_watch_list = true;
  /// Told of every failed list or watch, on the reflector's thread, in place of LogWatchError.
  std::function<void(const apimachinery::Status&)> on_error{};
  /// Of the reflector's jitter; 0 takes one from the system.
  std::uint64_t seed = 0;
  WatchTuning tuning{};
  /// Of the type, for the labels of informer_* metrics.
  std::string group{};
  std::string version{};
  std::string resource{};
};

/// Where the objects of one namespace come from.
struct NamespacedSource {
  std::string namespace_{};
  std::shared_ptr<ListerWatcher> lister_watcher{};
};

class InformerCore;

/// The untyped core. Use SharedInformer<T>.
///
/// What handlers may rely on: events of one object come in order; the store has a change before any
/// handler is told; after a gap (a relist) a handler gets the difference between what it knew and
/// what is, so that intermediate states may be skipped but the last state never is. A relist that
/// brings an object unchanged delivers nothing for it. An object that was deleted and created again
/// during a gap shows as one update.
class SharedInformerBase {
 public:
  using RawEvent = cache::RawEvent;
  using RawHandler = std::function<void(const RawEvent&)>;

  SharedInformerBase(std::shared_ptr<ListerWatcher> lister_watcher, InformerOptions options);
  /// One view over several namespaces, each with a reflector of its own, so that one that is
  /// forbidden, or breaks, stops no other. It has synced when each namespace has, or has been
  /// refused (401, 403, 404): such a one is tried on, and its objects arrive as adds when it can be
  /// read.
  SharedInformerBase(std::vector<NamespacedSource> sources, InformerOptions options);
  /// Stops.
  virtual ~SharedInformerBase();
  SharedInformerBase(const SharedInformerBase&) = delete;
  SharedInformerBase& operator=(const SharedInformerBase&) = delete;

  /// Starts the informer's threads; they end with Stop or the destructor. Does nothing when it
  /// runs.
  void Start();
  /// Stops and joins; waits for handlers that are running, so a handler must not call it. The store
  /// keeps its content and handlers keep what they have not been given yet. Start may be called
  /// again.
  void Stop();
  /// True once the first full list since Start is in the store.
  bool HasSynced() const;
  /// Blocks until HasSynced; false when `stop` was requested first.
  bool WaitForSync(std::stop_token stop) const;
  /// The store's resourceVersion, with bookmarks: every change up to it has been applied. Over
  /// several namespaces the oldest of theirs. Empty before the first full list. As
  /// LastStoreSyncResourceVersion.
  std::string LastSyncResourceVersion() const;
  /// Of one namespace; the same for all but informers over several namespaces.
  std::string LastSyncResourceVersion(std::string_view namespace_) const;

  /// Adds a handler, before or after Start; a late one is given the store's content as adds first.
  /// Events of one handler come in order on a thread of its own, after the store has them. A
  /// handler that throws loses that event only; it is logged and counted. Ending the registration
  /// from within the handler is not allowed; it may outlive the informer.
  HandlerRegistration AddRawHandler(std::string name, RawHandler handler,
                                    HandlerOptions options = {});
  /// Whether the handlers of this name have been given the whole initial list; false when there are
  /// none. A HandlerRegistration tells it of one handler, and can wait for it.
  bool HandlerHasSynced(std::string_view name) const;

  /// Adds indexes, at any time; the objects that are there have been indexed when it returns. The
  /// functions get the object as stored (after the transform). kAlreadyExists when there is an
  /// index of one of the names.
  apimachinery::Result<void> AddIndexers(Indexers indexers);
  /// The same for one function that gives terms of any indexes; one too many is logged.
  void AddIndexer(TermsFunc terms);

  /// Store access; thread-safe. Objects are unpacked copies.
  apimachinery::Result<Object> GetRaw(const apimachinery::ObjectKey& key) const;
  /// Calls `read` with the object, which is gone when `read` returns; errors as GetRaw's.
  apimachinery::Result<void> ReadRaw(const apimachinery::ObjectKey& key,
                                     base::FunctionRef<void(const Object&)> read) const;
  std::vector<apimachinery::ObjectKey> Keys() const;
  std::vector<apimachinery::ObjectKey> KeysByIndex(std::string_view index,
                                                   std::string_view value) const;
  /// Of the objects that have all of `terms`; none when `terms` is empty. Like the other queries
  /// for keys it unpacks nothing.
  std::vector<apimachinery::ObjectKey> KeysByIndex(const IndexTerms& terms) const;
  std::size_t CountByIndex(std::string_view index, std::string_view value) const;
  /// The values under which `index` has objects.
  std::vector<std::string> IndexValues(std::string_view index) const;
  bool Contains(const apimachinery::ObjectKey& key) const;
  std::size_t Size() const;
  /// Bytes of the packed entries and their table.
  std::size_t StoreBytes() const;
  /// The objects at one moment, unpacked one after the other.
  void ForEachRaw(base::FunctionRef<void(const Object&)> each) const;
  /// Of one namespace only; by its index when there is one (see kNamespaceIndex).
  void ForEachRaw(std::string_view namespace_, base::FunctionRef<void(const Object&)> each) const;
  /// Those that have all of `terms`.
  void ForEachRawByIndex(const IndexTerms& terms,
                         base::FunctionRef<void(const Object&)> each) const;

 private:
  std::unique_ptr<InformerCore> core_;
};

/// Logs that bytes in the store do not decode as their type.
void ReportUndecodable(const Object& raw, const apimachinery::Status& status);

/// `raw` as a T; kMalformed when its bytes do not decode. Decoded where it stays: moving a large
/// object costs as much as decoding some of it.
template <class T>
apimachinery::Result<Ref<T>> DecodeShared(const Object& raw) {
  auto object = std::make_shared<T>();
  const codec::TypeSchema& schema = codec::SchemaOf<T>();
  KX_RETURN_IF_ERROR(raw.encoding == codec::Encoding::kProtobuf
                         ? codec::DecodeProtobuf(schema, raw.bytes, object.get())
                         : codec::DecodeJson(schema, raw.bytes, object.get()));
  return object;
}

/// `raw` as a T; an empty T, after a log line, when its bytes do not decode, so that one bad object
/// from the server does not stop the others.
template <class T>
Ref<T> DecodeRef(const Object& raw) {
  auto object = DecodeShared<T>(raw);
  if (!object) {
    ReportUndecodable(raw, object.status());
    return std::make_shared<const T>();
  }
  return std::move(*object);
}

/// Callbacks of one handler; leave out what is not needed. They may block, at the cost of their own
/// events only.
template <class T>
struct EventHandler {
  std::function<void(const Ref<T>& object, bool is_in_initial_list)> on_add{};
  std::function<void(const Ref<T>& old_object, const Ref<T>& object)> on_update{};
  std::function<void(const Ref<T>& object, bool final_state_unknown)> on_delete{};
};

/// As client-go's SharedIndexInformer, typed. Thread-safe. An event's objects are decoded once and
/// shared by all handlers.
template <class T>
class SharedInformer final : public SharedInformerBase {
 public:
  using SharedInformerBase::SharedInformerBase;

  HandlerRegistration AddEventHandler(std::string name, EventHandler<T> handler,
                                      HandlerOptions options = {}) {
    const auto call = [handler = std::move(handler)](const RawEvent& event) {
      switch (event.type) {
        case RawEvent::Type::kAdd:
          if (handler.on_add) {
            handler.on_add(ObjectOf(event), event.is_in_initial_list);
          }
          break;
        case RawEvent::Type::kUpdate:
          if (handler.on_update) {
            handler.on_update(OldObjectOf(event), ObjectOf(event));
          }
          break;
        case RawEvent::Type::kDelete:
          if (handler.on_delete) {
            handler.on_delete(ObjectOf(event), event.final_state_unknown);
          }
          break;
      }
    };
    return AddRawHandler(std::move(name), call, options);
  }

  /// The object, decoded; kNotFound when the store has none at `key`, kMalformed when its bytes do
  /// not decode.
  apimachinery::Result<Ref<T>> Get(const apimachinery::ObjectKey& key) const {
    apimachinery::Result<Ref<T>> object = Ref<T>();
    KX_RETURN_IF_ERROR(
        ReadRaw(key, [&object](const Object& raw) { object = DecodeShared<T>(raw); }));
    return object;
  }

  /// The event's object and its state before, decoded; for raw handlers that need them sometimes.
  static Ref<T> ObjectOf(const RawEvent& event) {
    return std::static_pointer_cast<const T>(event.Decoded(Decode));
  }
  static Ref<T> OldObjectOf(const RawEvent& event) {
    return std::static_pointer_cast<const T>(event.DecodedOld(Decode));
  }

 private:
  static std::shared_ptr<const void> Decode(const Object& raw) { return DecodeRef<T>(raw); }
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_SHARED_INFORMER_H_
