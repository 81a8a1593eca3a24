/// @file
/// A change of an object as predicates and mappings see it.
#ifndef KUBEXX_CONTROLLER_EVENT_H_
#define KUBEXX_CONTROLLER_EVENT_H_

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/cache/shared_informer.h"

namespace kubexx::controller {

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

  /// The new state; of a deleted object the last one known.
  const T& object() const { return *cache::SharedInformer<T>::ObjectOf(raw_); }
  /// The state before an update; otherwise as object().
  const T& old_object() const { return *cache::SharedInformer<T>::OldObjectOf(raw_); }

 private:
  const cache::RawEvent& raw_;
};

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_EVENT_H_
