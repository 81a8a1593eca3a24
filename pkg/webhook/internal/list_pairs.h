/// @file
/// Finds the elements of a changed list that are versions of elements of the original list.
#ifndef KUBEXX_WEBHOOK_INTERNAL_LIST_PAIRS_H_
#define KUBEXX_WEBHOOK_INTERNAL_LIST_PAIRS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "kubexx/webhook/internal/patch_budget.h"

namespace kubexx::webhook::internal {

/// An element of a list. The numbers stand for JSON values: equal values have equal numbers.
struct ListElement {
  enum class Type : std::uint8_t { kObject, kArray, kScalar };

  Type type = Type::kScalar;
  std::uint32_t value = 0;
  /// The keys and values of an object's members, ascending by the key's number.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> members{};
  std::optional<std::uint32_t> name{};
};

/// Pairs of the index of an element in the original list and the index of its version in the
/// changed list.
using ListPairs = std::vector<std::pair<std::size_t, std::size_t>>;

/// Returns the indexes of the elements of `before` and `after` that are versions of each other,
/// ascending by the index in `before`. They are found in this order:
/// - In the order of the lists, as many equal elements as possible, and between these the objects
///   that have the same name or, if one of them has no name, at least half of their members in
///   common. Two lists may also be versions of each other, but other values may not. If an equal
///   element exists in another place, the element counts as moved there, and not as changed.
/// - In any order, equal elements.
/// - In any order, objects with a name that no other element of either list has.
/// The first step compares each element with each; it is left out if the budget is too small for
/// it.
ListPairs PairLists(std::span<const ListElement> before, std::span<const ListElement> after,
                    PatchBudget& budget);

}  // namespace kubexx::webhook::internal

#endif  // KUBEXX_WEBHOOK_INTERNAL_LIST_PAIRS_H_
