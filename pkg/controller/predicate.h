/// @file
/// Predicates: functions that decide which events a controller ignores.
#ifndef KUBEXX_CONTROLLER_PREDICATE_H_
#define KUBEXX_CONTROLLER_PREDICATE_H_

#include <functional>
#include <utility>

#include "kubexx/controller/event.h"

namespace kubexx::controller {

/// Returns false for events that the controller has to ignore. Called on the informer's threads;
/// must not block. The controller does not ignore an event when the predicate throws, or asks for
/// an object that cannot be decoded.
template <class T>
using Predicate = std::function<bool(const Event<T>&)>;

namespace internal {

/// The type of the metadata of a T.
template <class T>
using Metadata = decltype(T::metadata);

/// Whether an update replaces an object by another one of the same name, because the old one was
/// deleted in between. A list after a lost watch, and a handler that lags behind, report this as a
/// single update.
template <class T>
bool IsAnother(const Event<T>& event) {
  return !event.IsSame(&T::metadata, &Metadata<T>::uid);
}

}  // namespace internal

/// Predicates for any type. Those about changes pass all adds and deletes, and updates that stand
/// for a delete and an add; they look only at other updates, as controller-runtime's do. They read
/// the fields that they compare, and do not decode the objects. A predicate does not make a cache
/// smaller; a selector or a transform of the cache does.
namespace predicates {

/// Passes updates that change the spec (metadata.generation), not only metadata or status. Types
/// without a generation, such as ConfigMap, pass no update.
struct GenerationChanged {
  template <class T>
  bool operator()(const Event<T>& event) const {
    return !event.is_update() || internal::IsAnother(event) ||
           !event.IsSame(&T::metadata, &internal::Metadata<T>::generation);
  }
};

/// Passes updates that change labels, and all adds and deletes.
struct LabelsChanged {
  template <class T>
  bool operator()(const Event<T>& event) const {
    return !event.is_update() || internal::IsAnother(event) ||
           !event.IsSame(&T::metadata, &internal::Metadata<T>::labels);
  }
};

/// Passes updates that change annotations, and all adds and deletes.
struct AnnotationsChanged {
  template <class T>
  bool operator()(const Event<T>& event) const {
    return !event.is_update() || internal::IsAnother(event) ||
           !event.IsSame(&T::metadata, &internal::Metadata<T>::annotations);
  }
};

/// Passes everything except updates without a change, which a resync causes.
struct ResourceVersionChanged {
  template <class T>
  bool operator()(const Event<T>& event) const {
    return !event.is_unchanged();
  }
};

/// A predicate that passes an event when `a` and `b` pass it.
template <class A, class B>
struct And {
  A a;
  B b;
  template <class T>
  bool operator()(const Event<T>& event) const {
    return a(event) && b(event);
  }
};
/// Lets the compiler deduce the types of `And(a, b)`.
template <class A, class B>
And(A, B) -> And<A, B>;

/// A predicate that passes an event when `a` or `b` passes it.
template <class A, class B>
struct Or {
  A a;
  B b;
  template <class T>
  bool operator()(const Event<T>& event) const {
    return a(event) || b(event);
  }
};
/// Lets the compiler deduce the types of `Or(a, b)`.
template <class A, class B>
Or(A, B) -> Or<A, B>;

/// A predicate that passes an event when `a` does not.
template <class A>
struct Not {
  A a;
  template <class T>
  bool operator()(const Event<T>& event) const {
    return !a(event);
  }
};
/// Lets the compiler deduce the type of `Not(a)`.
template <class A>
Not(A) -> Not<A>;

}  // namespace predicates

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_PREDICATE_H_
