/// @file
/// A change of an object as predicates and mappings see it.
#ifndef KUBEXX_CONTROLLER_EVENT_H_
#define KUBEXX_CONTROLLER_EVENT_H_

#include <stdexcept>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/cache/typed_event.h"

namespace kubexx::controller {

/// Thrown by an Event whose object does not decode: there is nothing that it could return. Sources
/// catch it, and let the event pass, so that nobody else needs to.
class UndecodableObject final : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One change of a T. Objects are decoded on first use, once for all who look. Refers to the
/// informer's event; valid during the call that it is passed to.
template <class T>
class Event {
 public:
  using Type = cache::RawEvent::Type;

  explicit Event(const cache::RawEvent& raw) : raw_(raw) {}

  Type type() const { return raw_.type; }
  bool is_update() const { return type() == Type::kUpdate; }
  apimachinery::ObjectKey key() const { return raw_.key(); }
  /// An object of a first list.
  bool is_in_initial_list() const { return raw_.is_in_initial_list; }
  /// An update that changes nothing: a resync.
  bool is_unchanged() const {
    return is_update() && raw_.old_resource_version() == raw_.resource_version();
  }

  /// The new state; of a deleted object the last one known. Throws UndecodableObject.
  const T& object() const { return Decoded(cache::ObjectOf<T>(raw_)); }
  /// The state before an update; otherwise as object().
  const T& old_object() const { return Decoded(cache::OldObjectOf<T>(raw_)); }

 private:
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
