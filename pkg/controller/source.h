/// @file
/// Sources of requests over informers.
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

/// Whether an event matters, for who does not know its type.
using UntypedPredicate = std::function<bool(const cache::RawEvent&)>;

/// The predicate without its type. A copy of it is all that is compiled for each.
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

/// The same of several.
template <class T>
std::vector<UntypedPredicate> UntypedAll(std::vector<Predicate<T>> predicates) {
  std::vector<UntypedPredicate> untyped;
  for (Predicate<T>& predicate : predicates) {
    untyped.push_back(Untyped<T>(std::move(predicate)));
  }
  return untyped;
}

/// The requests that follow from an object.
using UntypedMapping = std::function<std::vector<workqueue::Key>(const void* object)>;

/// What a source is made of when its type is left out: an informer of some type, and functions
/// that know the type. Nothing of it is compiled again for each type.
struct UntypedSource {
  std::shared_ptr<cache::SharedInformerBase> informer{};
  /// For errors, and unique within the controller.
  std::string name{};
  /// All must hold for an event to matter.
  std::vector<UntypedPredicate> predicates{};
  /// Counts events that a predicate or a mapping has thrown at, or could not be given.
  metrics::Counter failures{};
};

/// Passes what matters on to `enqueue`. An event that `enqueue` throws at is lost, which is logged
/// and counted: it would most likely throw again, and the next change of the object, or a resync,
/// brings the next chance. Its wait_for_sync starts the informer when it does not run, and is over
/// once every handler that start has added, and whose subscription has not ended, has been given
/// the first list. It is false at once when there is no such handler.
Source NewUntypedSource(
    UntypedSource source,
    std::function<void(const cache::RawEvent&, workqueue::Queue&, int priority)> enqueue);
/// Adds the objects that change; news of them with `priority`.
Source NewUntypedObjectSource(UntypedSource source, int priority);
/// Adds what `map` says of the objects that change, as `decode` reads them, in their new and their
/// old state. A state that does not decode, or that `map` throws at, is left out, the other is not.
/// While the state of an object does not decode, every event of it, its deletion too, adds what the
/// last state that did had added.
Source NewUntypedMappedSource(UntypedSource source, cache::UntypedDecoder decode,
                              UntypedMapping map);

/// A source that passes events on to `enqueue` when all `predicates` hold.
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

/// Adds the objects that change; news of them with `priority`.
template <class T>
Source NewObjectSource(std::shared_ptr<cache::SharedInformer<T>> informer, std::string name,
                       std::vector<Predicate<T>> predicates, int priority = 0) {
  return NewUntypedObjectSource(
      {std::move(informer), std::move(name), UntypedAll<T>(std::move(predicates))}, priority);
}

/// The mapping without its type.
template <class T>
UntypedMapping UntypedMap(std::function<std::vector<workqueue::Key>(const T&)> map) {
  return [map = std::move(map)](const void* object) { return map(*static_cast<const T*>(object)); };
}

/// Adds what `map` says of the objects that change, in their new and their old state.
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
