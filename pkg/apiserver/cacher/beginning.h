/// @file
/// The objects with which a watch begins.
#ifndef KUBEXX_APISERVER_CACHER_BEGINNING_H_
#define KUBEXX_APISERVER_CACHER_BEGINNING_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kubexx/apiserver/cacher/cached_object.h"

namespace kubexx::apiserver {

/// The objects of one namespace, or of all namespaces, at one time, in the order of their storage
/// keys. Immutable, so that many watches share it.
struct ObjectsAtATime {
  std::vector<CachedObjectRef> objects{};
  std::int64_t revision = 0;
  std::uint64_t generation = 0;  ///< of the cache's state; see WatchCache
  std::size_t bytes = 0;         ///< of the texts of `objects`, and of what refers to them
  /// What the cache had at that time: the bytes of the texts of all its objects.
  std::size_t cache_bytes = 0;
  /// The bytes of the texts that the cache had replaced by then since it began; it only grows.
  std::uint64_t replaced = 0;
};

/// A state with these objects and what else `now` says of it.
std::shared_ptr<const ObjectsAtATime> StateOf(std::vector<CachedObjectRef>&& objects,
                                              const ObjectsAtATime& now);

/// The selected objects of a state, one after the other. Many watches may begin at about the same
/// time and be read slowly or not at all. So each keeps only a bit for an object, and what differs
/// from a state that all of them share. A watch that has selected few objects keeps these instead,
/// so that it does not keep all others in memory. Not thread-safe.
class Beginning {
 public:
  Beginning() = default;
  /// The state that `base` became by `changes`, which came in this order and may include some that
  /// `base` has already. `now` has the times and bytes of that state, and no objects.
  Beginning(std::shared_ptr<const ObjectsAtATime> base, const std::vector<CacheEvent>& changes,
            const Selection& selection, const ObjectsAtATime& now);

  /// How many objects are still to come.
  std::size_t left() const { return left_; }
  /// The next object in the order of the storage keys. left() must not be 0.
  CachedObjectRef Next();
  /// The memory that this beginning needs for itself, without the objects, which the cache, its
  /// events and other watches share. It is 0 when nothing is left, and does not change before.
  std::size_t bytes() const { return bytes_; }

  /// The objects that this beginning keeps itself: those that have changed since the shared state,
  /// or the few that are selected. Null when there are none.
  const std::shared_ptr<const ObjectsAtATime>& own() const { return own_; }
  /// ObjectsAtATime::replaced of the oldest state that it keeps. left() must not be 0.
  std::uint64_t replaced() const { return (base_ == nullptr ? own_ : base_)->replaced; }

 private:
  void SkipLeftOut();
  /// Keeps the objects that are left itself, and not the base.
  void LeaveBase(const ObjectsAtATime& now);

  std::shared_ptr<const ObjectsAtATime> base_{};  // null when own_ has all
  std::vector<bool> left_out_{};                  // of the base; empty when there is none
  std::shared_ptr<const ObjectsAtATime> own_{};
  std::vector<std::size_t> before_{};  // for each of own_ the number of the base's before it
  std::size_t at_ = 0;                 // in base_
  std::size_t at_own_ = 0;
  std::size_t left_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_CACHER_BEGINNING_H_
