/// @file
/// SharedInformer: lists and watches one type, keeps its objects in a packed store, and serves many
/// handlers.
#ifndef KUBEXX_CACHE_SHARED_INFORMER_H_
#define KUBEXX_CACHE_SHARED_INFORMER_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/cache/decode.h"
#include "kubexx/cache/handler_options.h"
#include "kubexx/cache/handler_registration.h"
#include "kubexx/cache/indexer_set.h"
#include "kubexx/cache/shared_informer_base.h"
#include "kubexx/cache/typed_event.h"

namespace kubexx::cache {
/// @cond
namespace internal {

/// A std::function that turns a function with other parameters into one readable error.
template <class... Args>
class Callback : public std::function<void(Args...)> {
 public:
  using Function = std::function<void(Args...)>;

  Callback() = default;
  Callback(std::nullptr_t) {}  // NOLINT(google-explicit-constructor)
  Callback(Function callback)  // NOLINT(google-explicit-constructor)
      : Function(std::move(callback)) {}
  template <class F>
    requires(!std::is_base_of_v<Function, F> && !std::is_same_v<F, std::nullptr_t>)
  Callback(F callback) {  // NOLINT(google-explicit-constructor)
    constexpr bool kFits = std::is_invocable_v<F&, Args...>;
    static_assert(kFits,
                  "kubexx: a function of an EventHandler<T> has other parameters: on_add takes "
                  "(const Ref<T>&, bool), on_update (const Ref<T>&, const Ref<T>&), on_change "
                  "(const Ref<T>&), and on_delete (const Ref<T>&, bool).");
    if constexpr (kFits) {
      Function::operator=(std::move(callback));
    }
  }
};

}  // namespace internal
/// @endcond

/// Callbacks of one handler; leave out those that are not needed. They may block, which delays only
/// the events of this handler.
///
/// Only `on_undecodable` is called for a state of an object that cannot be decoded. When a later
/// state of the object can be decoded, the handler gets it as follows. `on_add` is called, even if
/// it has been called for the object before. A handler without `on_update` gets this add only when
/// it has not got one before, and with `on_change` it gets a change instead; a handler without
/// `on_add` gets an update whose old and new states are the same. When the object is deleted
/// instead, `on_delete` gets the last state that could be decoded, if there is one. For a handler
/// without `on_update`, states in between are not decoded, so this works only when that state is
/// the last or the last but one.
template <class T>
struct EventHandler {
  /// Called with the object, and with whether it is in the initial list.
  internal::Callback<const Ref<T>&, bool> on_add{};
  /// Called with the old state of the object and with the new one.
  internal::Callback<const Ref<T>&, const Ref<T>&> on_update{};
  /// For updates instead of `on_update`, and only without it: it costs half, because nobody unpacks
  /// and decodes the old state. Also called for an object of which no state could be decoded
  /// before.
  internal::Callback<const Ref<T>&> on_change{};
  /// Called with the last known state, and with whether the final state is unknown.
  internal::Callback<const Ref<T>&, bool> on_delete{};
  /// Called with an event whose object could not be decoded. The informer has logged and counted
  /// it.
  std::function<void(const RawEvent& event, const apimachinery::Status& why)> on_undecodable{};
};

/// As client-go's SharedIndexInformer, typed. Thread-safe. The informer decodes an event's objects
/// once, and all handlers share them.
template <class T>
class SharedInformer final : public SharedInformerBase {
 public:
  using SharedInformerBase::SharedInformerBase;

  /// Like SharedInformerBase::AddIndexers. In addition, when a function returns no value for an
  /// object that cannot be decoded, the function counts as having thrown.
  apimachinery::Result<void> AddIndexers(Indexers indexers) {
    return SharedInformerBase::AddIndexers(Reading(std::move(indexers), DecodeUntyped<T>));
  }
  /// Adds what IndexField<T> returns.
  template <class U>
  apimachinery::Result<void> AddIndexers(FieldIndex<U> index) {
    static_assert(
        std::is_same_v<T, U>,
        "kubexx: an IndexField<T> is for an informer of T; for MetadataInformerFor<T> make an "
        "IndexField<PartialObjectMetadata>");
    return AddIndexers(std::move(index.indexers));
  }

  HandlerRegistration AddEventHandler(std::string name, EventHandler<T> handler,
                                      HandlerOptions options = {}) {
    auto call = [handler = std::move(handler), owed = Owed()](const RawEvent& event) mutable {
      if (const auto told = Tell(handler, owed, event); !told && handler.on_undecodable) {
        handler.on_undecodable(event, told.error());
      }
    };
    return AddRawHandler(std::move(name), std::move(call), options);
  }

  /// Returns the decoded object. Errors are those of GetRaw: kNotFound when the store has no object
  /// at `key`, kUnavailable when it has none and there was no list yet, kMalformed when the object
  /// cannot be decoded.
  apimachinery::Result<Ref<T>> Get(const apimachinery::ObjectKey& key) const {
    return Typed<T>(GetDecoded(key, DecodeUntyped<T>));
  }

  /// Decode the event's object and its old state; for raw handlers that need them only sometimes.
  static apimachinery::Result<Ref<T>> ObjectOf(const RawEvent& event) {
    return cache::ObjectOf<T>(event);
  }
  static apimachinery::Result<Ref<T>> OldObjectOf(const RawEvent& event) {
    return cache::OldObjectOf<T>(event);
  }

 private:
  /// The calls that a handler has yet to get for objects that could not be decoded.
  struct Owed {
    /// Objects for which `on_add` has yet to be called, when the handler has no `on_update`.
    std::set<apimachinery::ObjectKey> adds{};
    /// The last states that could be decoded, in case `on_delete` needs them; null when there is
    /// none.
    std::map<apimachinery::ObjectKey, UntypedRef> deletes{};
  };

  // The handler decodes nothing for a callback that is not set.
  static apimachinery::Result<void> Tell(const EventHandler<T>& handler, Owed& owed,
                                         const RawEvent& event) {
    switch (event.type) {
      case RawEvent::Type::kAdd:
        return handler.on_add ? TellAdd(handler, owed, event) : apimachinery::Result<void>();
      case RawEvent::Type::kUpdate:
        if (handler.on_update || handler.on_change) {
          return TellUpdate(handler, owed, event);
        }
        return !owed.adds.empty() && owed.adds.contains(event.key()) ? TellAdd(handler, owed, event)
                                                                     : apimachinery::Result<void>();
      case RawEvent::Type::kDelete:
        if (!owed.adds.empty()) {
          owed.adds.erase(event.key());
        }
        return handler.on_delete ? TellDelete(handler, owed, event) : apimachinery::Result<void>();
    }
    return {};
  }

  static apimachinery::Result<void> TellAdd(const EventHandler<T>& handler, Owed& owed,
                                            const RawEvent& event) {
    const auto object = ObjectOf(event);
    if (!object) {
      if (!handler.on_update && !handler.on_change) {
        owed.adds.insert(event.key());
      }
      return apimachinery::Fail(object.error());
    }
    if (!owed.adds.empty()) {
      owed.adds.erase(event.key());
    }
    handler.on_add(*object, event.is_in_initial_list);
    return {};
  }

  static apimachinery::Result<void> TellUpdate(const EventHandler<T>& handler, Owed& owed,
                                               const RawEvent& event) {
    const auto decoded = ObjectOf(event);
    if (!decoded) {
      if (handler.on_delete) {
        Remember(owed, event);
      }
      return apimachinery::Fail(decoded.error());
    }
    if (!owed.deletes.empty()) {
      owed.deletes.erase(event.key());
    }
    const Ref<T>& object = *decoded;
    if (!handler.on_update) {
      handler.on_change(object);
    } else if (const auto old = OldObjectOf(event)) {
      handler.on_update(*old, object);
    } else if (handler.on_add) {
      handler.on_add(object, false);  // it was told of none of its states, or of none lately
    } else {
      handler.on_update(object, object);
    }
    return {};
  }

  // Remembers the state before an event whose object cannot be decoded. When several such events
  // follow each other, only the state before the first one is needed.
  static void Remember(Owed& owed, const RawEvent& event) {
    const auto [known, is_new] = owed.deletes.try_emplace(event.key());
    if (is_new) {
      if (const auto old = OldObjectOf(event)) {
        known->second = *old;
      }
    }
  }

  static apimachinery::Result<void> TellDelete(const EventHandler<T>& handler, Owed& owed,
                                               const RawEvent& event) {
    std::map<apimachinery::ObjectKey, UntypedRef>::node_type known;
    if (!owed.deletes.empty()) {
      known = owed.deletes.extract(event.key());
    }
    if (const auto object = ObjectOf(event)) {
      handler.on_delete(*object, event.final_state_unknown);
      return {};
    }
    if (const auto old = OldObjectOf(event)) {
      handler.on_delete(*old, true);
      return {};
    } else if (!known || known.mapped() == nullptr) {
      return apimachinery::Fail(old.error());
    }
    handler.on_delete(std::static_pointer_cast<const T>(known.mapped()), true);
    return {};
  }
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_SHARED_INFORMER_H_
