/// @file
/// Event: a change of an object, as predicates and mappings get it.
#ifndef KUBEXX_CONTROLLER_EVENT_H_
#define KUBEXX_CONTROLLER_EVENT_H_

#include <stdexcept>
#include <utility>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/cache/decode.h"
#include "kubexx/cache/informer_event.h"
#include "kubexx/cache/typed_event.h"

namespace kubexx::controller {

/// An Event throws it when its object cannot be decoded, because it has no object to return.
/// Sources catch it and do not ignore the event, so predicates and mappings need not catch it.
class UndecodableObject final : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One change of a T. The event decodes its objects on first use, once for all its users; fields()
/// and old_fields() read a few fields without decoding the objects. It refers to the informer's
/// event and is valid only during the call that it is passed to.
template <class T>
class Event {
 public:
  using Type = cache::RawEvent::Type;

  explicit Event(const cache::RawEvent& raw) : raw_(raw) {}

  Type type() const { return raw_.type; }
  bool is_update() const { return type() == Type::kUpdate; }
  apimachinery::ObjectKey key() const { return raw_.key(); }
  /// Whether the object came with a first list.
  bool is_in_initial_list() const { return raw_.is_in_initial_list; }
  /// Whether this is an update without a change, as a resync causes it.
  bool is_unchanged() const {
    return is_update() && raw_.old_resource_version() == raw_.resource_version();
  }

  /// The new state, or for a deleted object its last known state. Throws UndecodableObject.
  const T& object() const { return Decoded(cache::ObjectOf<T>(raw_)); }
  /// The state before an update; for other events the same as object(). Throws UndecodableObject.
  const T& old_object() const { return Decoded(cache::OldObjectOf<T>(raw_)); }

  /// The fields of object(), of which single ones can be read without decoding the others:
  /// `event.fields().Text(&Pod::spec, &PodSpec::node_name)`. Throws UndecodableObject for a custom
  /// resource that cannot be decoded. Valid as long as the event.
  cache::ObjectFields<T> fields() const { return ValueOf(cache::FieldsOf<T>(raw_)); }
  /// The fields of old_object(), in the same way.
  cache::ObjectFields<T> old_fields() const { return ValueOf(cache::OldFieldsOf<T>(raw_)); }
  /// Whether a field is the same in object() and old_object(), without decoding the others. Throws
  /// UndecodableObject when the field cannot be read. `path` is that of codec::Fields.
  template <class... Members>
  bool IsSame(Members... path) const {
    return ValueOf(fields().SameAs(old_fields(), path...));
  }

 private:
  template <class V>
  static V ValueOf(apimachinery::Result<V>&& value) {
    if (!value) {
      throw UndecodableObject(value.error().ToString());
    }
    return *std::move(value);
  }
  // The event keeps what it has decoded.
  static const T& Decoded(const apimachinery::Result<cache::Ref<T>>& object) {
    if (!object) {
      throw UndecodableObject(object.error().ToString());
    }
    return **object;
  }

  const cache::RawEvent& raw_;
};

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_EVENT_H_
