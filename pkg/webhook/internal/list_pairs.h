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

/// The indices of the elements of `before` and `after` that are versions of one thing, ascending in
/// both. As many elements as possible are paired with an equal one. In between two objects are
/// versions of one thing when they have the same name; or, where one has no name, when at least
/// half of their members are equal. Two lists may be, two other values are not. In lists with more
/// than a million combinations only elements in the same place are paired, with equal values or
/// names. Pure.
std::vector<std::pair<std::size_t, std::size_t>> PairLists(std::span<const ListElement> before,
                                                           std::span<const ListElement> after);

}  // namespace kubexx::webhook::internal

#endif  // KUBEXX_WEBHOOK_INTERNAL_LIST_PAIRS_H_
