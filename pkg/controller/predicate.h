/// @file
/// Which events matter to a controller.
#ifndef KUBEXX_CONTROLLER_PREDICATE_H_
#define KUBEXX_CONTROLLER_PREDICATE_H_

#include <functional>
#include <utility>

#include "kubexx/controller/event.h"

namespace kubexx::controller {

/// False for events that are to be ignored. Called on the informer's threads; must not block. When
/// it throws, and when it asks for an object that does not decode, the event is not ignored.
template <class T>
using Predicate = std::function<bool(const Event<T>&)>;

namespace internal {

/// An update that is of another object of the same name: the one before was deleted meanwhile,
/// which a list after a lost watch, or a handler that lags, does not show otherwise.
template <class T>
bool IsAnother(const Event<T>& event) {
  return event.object().metadata.uid != event.old_object().metadata.uid;
}

}  // namespace internal

/// Predicates for any type. Those about changes let all adds and deletes pass, and updates that
/// stand for both, and only look at other updates, as controller-runtime's. A predicate does not
/// make a cache smaller: for that, give the cache a selector or a transform.
namespace predicates {

/// The spec has changed (metadata.generation), not just metadata or status. For types that have no
/// generation, such as ConfigMap, no update passes.
struct GenerationChanged {
  template <class T>
  bool operator()(const Event<T>& event) const {
    return !event.is_update() || internal::IsAnother(event) ||
           event.object().metadata.generation != event.old_object().metadata.generation;
  }
};

/// Updates that change labels, and all adds and deletes.
struct LabelsChanged {
  template <class T>
  bool operator()(const Event<T>& event) const {
    return !event.is_update() || internal::IsAnother(event) ||
           event.object().metadata.labels != event.old_object().metadata.labels;
  }
};

/// Updates that change annotations, and all adds and deletes.
struct AnnotationsChanged {
  template <class T>
  bool operator()(const Event<T>& event) const {
    return !event.is_update() || internal::IsAnother(event) ||
           event.object().metadata.annotations != event.old_object().metadata.annotations;
  }
};

/// Anything has changed: resyncs do not pass.
struct ResourceVersionChanged {
  template <class T>
  bool operator()(const Event<T>& event) const {
    return !event.is_unchanged();
  }
};

/// What And() returns.
template <class A, class B>
struct And {
  A a;
  B b;
  template <class T>
  bool operator()(const Event<T>& event) const {
    return a(event) && b(event);
  }
};
/// Both hold.
template <class A, class B>
And(A, B) -> And<A, B>;

/// What Or() returns.
template <class A, class B>
struct Or {
  A a;
  B b;
  template <class T>
  bool operator()(const Event<T>& event) const {
    return a(event) || b(event);
  }
};
/// At least one holds.
template <class A, class B>
Or(A, B) -> Or<A, B>;

/// What Not() returns.
template <class A>
struct Not {
  A a;
  template <class T>
  bool operator()(const Event<T>& event) const {
    return !a(event);
  }
};
/// It does not hold.
template <class A>
Not(A) -> Not<A>;

}  // namespace predicates

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_PREDICATE_H_
