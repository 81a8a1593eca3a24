/// @file
/// SharedInformer: one list-watch of a type, one packed store, many handlers.
#ifndef KUBEXX_CACHE_SHARED_INFORMER_H_
#define KUBEXX_CACHE_SHARED_INFORMER_H_

#include <chrono>
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
#include "kubexx/base/subscription.h"
#include "kubexx/cache/lister_watcher.h"
#include "kubexx/codec/codec.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::cache {

/// A cached object: shared, never changed. To change one, copy it, edit the copy and send it to the API.
template <class T>
using Ref = std::shared_ptr<const T>;

/// Index terms of an object: pairs of index name and value, for example {"namespace", "default"}.
using IndexTerms = std::vector<std::pair<std::string, std::string>>;

/// Settings of one informer.
struct InformerOptions {
  /// For logs and metric labels; defaults to the resource's plural.
  std::string name{};
  base::Clock& clock = base::Clock::Real();
  metrics::Registry* registry = nullptr;
  /// Changes an object before it is stored, for example to drop or project fields; runs once per arriving object, before
  /// anything else sees it. An error drops the object, is logged and counted.
  std::function<apimachinery::Result<void>(Object&)> transform{};
  /// Period of resync for handlers that ask for none of their own; zero means never.
  base::Duration resync_period{0};
  /// Events that may wait for one handler before its slowness holds the informer back.
  std::size_t handler_buffer = 1024;
};

/// The untyped core. Use SharedInformer<T>.
class SharedInformerBase {
 public:
  /// An event for one handler. The objects are unpacked bytes, decoded by the typed layer. Views live for the call.
  struct RawEvent {
    enum class Type : std::uint8_t { kAdd, kUpdate, kDelete } type = Type::kAdd;
    const Object* object = nullptr;      ///< new state; for kDelete the last state known
    const Object* old_object = nullptr;  ///< kUpdate only
    bool is_in_initial_list = false;     ///< kAdd: part of the first list, or replayed to a late handler
    bool final_state_unknown = false;    ///< kDelete: the delete was found by a relist; the object may be stale
  };
  using RawHandler = std::function<void(const RawEvent&)>;

  SharedInformerBase(std::shared_ptr<ListerWatcher> lister_watcher, InformerOptions options);
  virtual ~SharedInformerBase();

  /// Starts the informer's threads; they end when the returned... see Stop, or the destructor. Does nothing when it runs.
  void Start();
  /// Stops and joins. Start may be called again.
  void Stop();
  /// True once the first full list is in the store.
  bool HasSynced() const;
  /// Blocks until HasSynced; false when `stop` was requested first.
  bool WaitForSync(std::stop_token stop) const;
  /// The store's resourceVersion: every change up to it has been applied.
  std::string LastSyncResourceVersion() const;

  /// Adds a handler, before or after Start; a late one is given the store's content as adds first. Events of one handler
  /// come in order on a thread of its own, after the store has them. A handler that throws loses that event only; it is
  /// logged and counted. Ending the subscription from within the handler is not allowed.
  base::Subscription AddRawHandler(std::string name, RawHandler handler);
  /// As AddRawHandler, for whether this handler has been given the whole initial list.
  bool HandlerHasSynced(std::string_view name) const;

  /// Adds an index; before Start only. `terms` gets the object as stored (after the transform).
  void AddIndexer(std::function<IndexTerms(const Object&)> terms);

  /// Store access; thread-safe. Objects are unpacked copies.
  apimachinery::Result<Object> GetRaw(const apimachinery::ObjectKey& key) const;
  std::vector<apimachinery::ObjectKey> Keys() const;
  std::vector<apimachinery::ObjectKey> KeysByIndex(std::string_view index, std::string_view value) const;
  std::size_t Size() const;
  void ForEachRaw(base::FunctionRef<void(const Object&)> each) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Callbacks of one handler; leave out what is not needed. They may block, at the cost of their own events only.
template <class T>
struct EventHandler {
  std::function<void(const Ref<T>& object, bool is_in_initial_list)> on_add{};
  std::function<void(const Ref<T>& old_object, const Ref<T>& object)> on_update{};
  std::function<void(const Ref<T>& object, bool final_state_unknown)> on_delete{};
};

/// As client-go's SharedIndexInformer, typed. Thread-safe.
template <class T>
class SharedInformer final : public SharedInformerBase {
 public:
  using SharedInformerBase::SharedInformerBase;

  base::Subscription AddEventHandler(std::string name, EventHandler<T> handler) {
    return AddRawHandler(std::move(name), [handler = std::move(handler)](const RawEvent& event) {
      switch (event.type) {
        case RawEvent::Type::kAdd:
          if (handler.on_add) {
            handler.on_add(DecodeRef(*event.object), event.is_in_initial_list);
          }
          break;
        case RawEvent::Type::kUpdate:
          if (handler.on_update) {
            handler.on_update(DecodeRef(*event.old_object), DecodeRef(*event.object));
          }
          break;
        case RawEvent::Type::kDelete:
          if (handler.on_delete) {
            handler.on_delete(DecodeRef(*event.object), event.final_state_unknown);
          }
          break;
      }
    });
  }

  /// The object, decoded; kNotFound when the store has none at `key`.
  apimachinery::Result<Ref<T>> Get(const apimachinery::ObjectKey& key) const {
    KX_ASSIGN_OR_RETURN(const Object raw, GetRaw(key));
    KX_ASSIGN_OR_RETURN(T object, codec::Decode<T>(raw.encoding, raw.bytes));
    return std::make_shared<const T>(std::move(object));
  }

 private:
  static Ref<T> DecodeRef(const Object& raw);
};

/// Logs and returns an empty object when stored bytes do not decode, which the arrival check makes impossible.
void ReportUndecodable(const Object& raw, const apimachinery::Status& status);

template <class T>
Ref<T> SharedInformer<T>::DecodeRef(const Object& raw) {
  auto object = codec::Decode<T>(raw.encoding, raw.bytes);
  if (!object) {
    ReportUndecodable(raw, object.status());
    return std::make_shared<const T>();
  }
  return std::make_shared<const T>(std::move(*object));
}

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_SHARED_INFORMER_H_
