/// @file
/// RawEvent: a change that an informer reports to its handlers. It is unpacked and decoded at most
/// once, however many handlers there are.
#ifndef KUBEXX_CACHE_INFORMER_EVENT_H_
#define KUBEXX_CACHE_INFORMER_EVENT_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/cache/object.h"

namespace kubexx::cache {

/// One change. All handlers of an informer share it; only informers make one. Thread-safe.
class RawEvent {
 public:
  enum class Type : std::uint8_t { kAdd, kUpdate, kDelete };
  using DecodeResult = apimachinery::Result<std::shared_ptr<const void>>;
  using Decoder = base::FunctionRef<DecodeResult(const Object&)>;

  /// The properties of an event other than its objects.
  struct Flags {
    bool is_in_initial_list = false;
    bool final_state_unknown = false;
    bool is_single_change = false;
  };

  RawEvent(const RawEvent&) = delete;
  RawEvent& operator=(const RawEvent&) = delete;
  virtual ~RawEvent() = default;

  const Type type;
  const bool is_in_initial_list;   ///< kAdd: from the first list, or replayed to a late handler
  const bool final_state_unknown;  ///< kDelete: a relist found it; the object may be stale
  /// True when the event comes from a watch and no changes were merged into it. The difference to
  /// the old state was then written at exactly resource_version(); otherwise at that version or an
  /// earlier one.
  const bool is_single_change;

  virtual apimachinery::ObjectKey key() const = 0;
  /// The views are valid as long as the event.
  virtual std::string_view resource_version() const = 0;
  /// The version before an update; for other events the same as resource_version().
  virtual std::string_view old_resource_version() const = 0;

  /// Whether old_object() is another state than object(): of each update but a resync, and of a
  /// delete with a last state that the informer did not have before.
  virtual bool HasOtherOldObject() const = 0;
  /// The new state; for kDelete the last known one. Unpacked on the first call.
  virtual const Object& object() const = 0;
  /// The state before an update or a delete. In a resync it is the same object as the new state;
  /// for an add it is object().
  virtual const Object& old_object() const = 0;

  /// The bytes of object() and of old_object(). The event unpacks and copies them only if the store
  /// has them packed. The views are valid as long as the event. kInternalError when they cannot be
  /// unpacked.
  virtual apimachinery::Result<EncodedObject> encoded() const = 0;
  virtual apimachinery::Result<EncodedObject> encoded_old() const = 0;

  /// Return the states decoded; the first call decodes with `decode`. It must be the same function
  /// for every call and every event of the informer, because the next event of the object reuses
  /// what was decoded for this one. Errors of `decode`, and of unpacking, are returned, counted
  /// and, with a limited rate, logged.
  virtual DecodeResult Decoded(Decoder decode) const = 0;
  virtual DecodeResult DecodedOld(Decoder decode) const = 0;

 protected:
  RawEvent(Type type_in, Flags flags)
      : type(type_in),
        is_in_initial_list(flags.is_in_initial_list),
        final_state_unknown(flags.final_state_unknown),
        is_single_change(flags.is_single_change) {}
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INFORMER_EVENT_H_
