/// @file
/// What watches that have not told all of their beginning yet keep in memory.
#ifndef KUBEXX_APISERVER_CACHER_HELD_STATES_H_
#define KUBEXX_APISERVER_CACHER_HELD_STATES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kubexx/apiserver/cacher/beginning.h"

namespace kubexx::apiserver {

/// The states that watches which are read slowly, or not at all, still hold, and a bound of the
/// bytes that nobody but them needs. Not thread-safe.
class HeldStates {
 public:
  /// Notes a state of the cache, or a part of one, for as long as anybody holds it.
  void Add(const std::shared_ptr<const ObjectsAtATime>& state);

  /// When all of them together may hold more than `max_bytes` that the cache has replaced since,
  /// returns the ObjectsAtATime::replaced of the newest of those that have to be given up, which
  /// are the oldest ones. `replaced` is that of the present.
  std::optional<std::uint64_t> Beyond(std::size_t max_bytes, std::uint64_t replaced);

  /// How many states are held.
  std::size_t size() const;

 private:
  std::vector<std::weak_ptr<const ObjectsAtATime>> states_{};  // the oldest first
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_CACHER_HELD_STATES_H_
