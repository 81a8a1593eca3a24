/// @file
/// Which elements of a changed list are versions of which elements before.
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

/// An element of a list. The numbers stand for JSON values: equal ones for equal values.
struct ListElement {
  enum class Type : std::uint8_t { kObject, kArray, kScalar };

  Type type = Type::kScalar;
  std::uint32_t value = 0;
  /// The members of an object, ascending by the number of the key, and the value of its "name".
  std::vector<std::pair<std::uint32_t, std::uint32_t>> members{};
  std::optional<std::uint32_t> name{};
};

/// Indices of an element of a list before, and of its version after.
using ListPairs = std::vector<std::pair<std::size_t, std::size_t>>;

/// The indices of the elements of `before` and `after` that are versions of one thing, ascending
/// by the first ones. These are found in this order:
/// - In their places, as many equal elements as possible, and in between objects that have the same
///   name; or, where one has no name, of which at least half of the members are equal. Two lists
///   may be versions of one thing, two other values are not. An element of which an equal one is
///   in another place counts as moved there, and not as changed.
/// - Elsewhere, equal elements.
/// - Elsewhere, objects with a name that no other element of either list has.
/// The first step compares each with each; it is left out when the budget has not enough for it.
ListPairs PairLists(std::span<const ListElement> before, std::span<const ListElement> after,
                    PatchBudget& budget);

}  // namespace kubexx::webhook::internal

#endif  // KUBEXX_WEBHOOK_INTERNAL_LIST_PAIRS_H_
