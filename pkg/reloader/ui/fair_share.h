/// @file
/// Who gives way when there are too many of something that several people share.
#ifndef KUBEXX_RELOADER_UI_FAIR_SHARE_H_
#define KUBEXX_RELOADER_UI_FAIR_SHARE_H_

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>

namespace kubexx::reloader {

/// How many of the entries of a map belong to `owner`. `owner_of` tells whose a mapped value is.
template <class Map, class OwnerOf>
std::size_t ShareOf(const Map& entries, const std::string& owner, const OwnerOf& owner_of) {
  return static_cast<std::size_t>(std::ranges::count_if(
      entries, [&](const auto& each) { return owner_of(each.second) == owner; }));
}

/// The entry that gives way: of those whose owner has most of them, the one with the smallest
/// `since_of`, which gets a whole entry. Nobody can so make others lose what they have by taking
/// more. `entries` must not be empty.
template <class Map, class OwnerOf, class SinceOf>
auto FirstToGo(Map& entries, const OwnerOf& owner_of, const SinceOf& since_of) {
  std::map<std::string, std::size_t> shares;
  for (const auto& [key, value] : entries) {
    ++shares[owner_of(value)];
  }
  const std::size_t most =
      std::ranges::max_element(shares, {}, [](const auto& each) { return each.second; })->second;
  auto first = entries.end();
  for (auto it = entries.begin(); it != entries.end(); ++it) {
    if (shares[owner_of(it->second)] == most &&
        (first == entries.end() || since_of(*it) < since_of(*first))) {
      first = it;
    }
  }
  return first;
}

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_UI_FAIR_SHARE_H_
