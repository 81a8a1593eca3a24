/// @file
/// Sources that turn the events of informers into requests.
#ifndef KUBEXX_CONTROLLER_SOURCE_H_
#define KUBEXX_CONTROLLER_SOURCE_H_

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kubexx/cache/shared_informer.h"
#include "kubexx/controller/controller.h"
#include "kubexx/controller/event.h"
#include "kubexx/controller/predicate.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::controller {

/// A predicate for code that does not know the event's type. Returns false for events to ignore.
using UntypedPredicate = std::function<bool(const cache::RawEvent&)>;

/// Returns the predicate without its type. The compiler only generates a copy of it for each type.
template <class T, class P>
UntypedPredicate Untyped(P predicate) {
  constexpr bool kIsPredicate = std::is_invocable_r_v<bool, const P&, const Event<T>&>;
  static_assert(kIsPredicate,
                "kubexx: a predicate is a function bool(const Event<T>&) of the type that is "
                "watched.");
  if constexpr (kIsPredicate) {
    return [predicate = std::move(predicate)](const cache::RawEvent& event) {
      return predicate(Event<T>(event));
    };
  } else {
    std::unreachable();  // one error is enough
  }
}

/// Untyped for several predicates.
template <class T>
std::vector<UntypedPredicate> UntypedAll(std::vector<Predicate<T>> predicates) {
  std::vector<UntypedPredicate> untyped;
  for (Predicate<T>& predicate : predicates) {
    untyped.push_back(Untyped<T>(std::move(predicate)));
  }
  return untyped;
}

/// Returns the requests that an object causes.
using UntypedMapping = std::function<std::vector<workqueue::Key>(const void* object)>;

/// The untyped parts of a source: an informer of some type, and functions that know the type. The
/// code that uses it is compiled once, not for each type.
struct UntypedSource {
  std::shared_ptr<cache::SharedInformerBase> informer{};
  /// Appears in errors; must be unique within the controller.
  std::string name{};
  /// The source ignores an event unless all of them return true.
  std::vector<UntypedPredicate> predicates{};
  /// Counts events for which a predicate or a mapping threw, or whose object could not be decoded
  /// for it.
  metrics::Counter failures{};
};

/// Makes a source that passes the events that its predicates do not ignore to `enqueue`. When
/// `enqueue` throws, the source logs, counts and drops the event: `enqueue` would most likely throw
/// again, and the object's next change, or a resync, calls it again anyway. The source's
/// wait_for_sync starts the informer when it does not run, and returns true when every handler that
/// `start` has added, and whose subscription has not ended, has got the first list. It returns
/// false at once when there is no such handler.
Source NewUntypedSource(
    UntypedSource source,
    std::function<void(const cache::RawEvent&, workqueue::Queue&, int priority)> enqueue);
/// Makes a source that adds a changed object's key as a request. The request has the priority
/// `priority` when the object really changed, and kLowPriority when only a first list or a resync
/// brought it.
Source NewUntypedObjectSource(UntypedSource source, int priority);
/// Makes a source that adds the requests that `map` returns for a changed object, decoded with
/// `decode`, in its new and its old state. The source skips a state that cannot be decoded, or for
/// which `map` throws, but not the other one. While an object's state cannot be decoded, every
/// event of it, including its deletion, adds the requests of the last state that could be decoded.
Source NewUntypedMappedSource(UntypedSource source, cache::UntypedDecoder decode,
                              UntypedMapping map);

/// Makes a source that passes an event to `enqueue` when all `predicates` return true.
template <class T>
Source NewInformerSource(
    std::shared_ptr<cache::SharedInformer<T>> informer, std::string name,
    std::vector<Predicate<T>> predicates,
    std::function<void(const Event<T>&, workqueue::Queue&, int priority)> enqueue) {
  return NewUntypedSource(
      {std::move(informer), std::move(name), UntypedAll<T>(std::move(predicates))},
      [enqueue = std::move(enqueue)](const cache::RawEvent& event, workqueue::Queue& queue,
                                     int priority) { enqueue(Event<T>(event), queue, priority); });
}

/// Makes a source that adds a changed object's key as a request; see NewUntypedObjectSource.
template <class T>
Source NewObjectSource(std::shared_ptr<cache::SharedInformer<T>> informer, std::string name,
                       std::vector<Predicate<T>> predicates, int priority = 0) {
  return NewUntypedObjectSource(
      {std::move(informer), std::move(name), UntypedAll<T>(std::move(predicates))}, priority);
}

/// Returns the mapping without its type.
template <class T>
UntypedMapping UntypedMap(std::function<std::vector<workqueue::Key>(const T&)> map) {
  return [map = std::move(map)](const void* object) { return map(*static_cast<const T*>(object)); };
}

/// Makes a source that adds the requests that `map` returns for a changed object in its new and its
/// old state; see NewUntypedMappedSource.
template <class T>
Source NewMappedSource(std::shared_ptr<cache::SharedInformer<T>> informer, std::string name,
                       std::function<std::vector<workqueue::Key>(const T&)> map,
                       std::vector<Predicate<T>> predicates) {
  return NewUntypedMappedSource(
      {std::move(informer), std::move(name), UntypedAll<T>(std::move(predicates))},
      cache::DecodeUntyped<T>, UntypedMap<T>(std::move(map)));
}

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_SOURCE_H_
