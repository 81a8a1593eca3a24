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
};

/// The selected objects of a state, one after the other. Many watches may begin at about the same
/// time and be read slowly or not at all. So each keeps only a bit for an object, and what differs
/// from a state that all of them share. Not thread-safe.
class Beginning {
 public:
  Beginning() = default;
  /// The state that `base` became by `changes`, which came in this order and may include some that
  /// `base` has already.
  Beginning(std::shared_ptr<const ObjectsAtATime> base, const std::vector<CacheEvent>& changes,
            const Selection& selection);

  /// How many objects are still to come.
  std::size_t left() const { return left_; }
  /// The next object in the order of the storage keys. left() must not be 0.
  CachedObjectRef Next();
  /// The memory that this beginning needs for itself, without the objects, which the cache, its
  /// events and other watches share. It is 0 when nothing is left, and does not change before.
  std::size_t bytes() const { return bytes_; }

 private:
  /// An object that has changed since the base, and the number of objects of the base before it.
  struct Changed {
    CachedObjectRef object{};
    std::size_t before = 0;
  };

  void SkipLeftOut();

  std::shared_ptr<const ObjectsAtATime> base_{};
  std::vector<bool> left_out_{};    // of the base; empty when there is none
  std::vector<Changed> changed_{};  // in the order of the storage keys
  std::size_t at_ = 0;              // in base_
  std::size_t at_changed_ = 0;
  std::size_t left_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_CACHER_BEGINNING_H_
