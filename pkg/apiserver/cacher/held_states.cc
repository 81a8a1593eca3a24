#include "kubexx/apiserver/cacher/held_states.h"

#include <algorithm>
#include <iterator>
#include <ranges>

namespace kubexx::apiserver {

void HeldStates::Add(const std::shared_ptr<const ObjectsAtATime>& state) {
  // Watches that begin at the same time may come here in another order.
  auto place = states_.end();
  while (place != states_.begin()) {
    const auto before = std::prev(place)->lock();
    if (before != nullptr && before->replaced <= state->replaced) {
      break;
    }
    --place;
  }
  states_.insert(place, state);
}

std::optional<std::uint64_t> HeldStates::Beyond(std::size_t max_bytes, std::uint64_t replaced) {
  struct Held {
    std::size_t cache_bytes;
    std::uint64_t replaced;
  };
  std::vector<Held> held;
  held.reserve(states_.size());
  std::uint64_t all = 0;
  std::erase_if(states_, [&](const auto& state) {
    const auto one = state.lock();
    if (one == nullptr) {
      return true;
    }
    held.push_back({.cache_bytes = one->cache_bytes, .replaced = one->replaced});
    all += one->bytes;
    return false;
  });
  if (all <= max_bytes) {
    return std::nullopt;
  }
  // What is replaced between one state and the next, and is held, was in the cache at the time of
  // the first of the two. So it is at most what the cache had then, however many hold it.
  std::uint64_t bytes = 0;
  for (const Held& state : held | std::views::reverse) {
    bytes += std::min<std::uint64_t>(state.cache_bytes, replaced - state.replaced);
    if (bytes > max_bytes) {
      return state.replaced;
    }
    replaced = state.replaced;
  }
  return std::nullopt;
}

std::size_t HeldStates::size() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(states_, [](const auto& state) { return !state.expired(); }));
}

}  // namespace kubexx::apiserver
