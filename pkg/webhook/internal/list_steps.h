/// @file
/// Finds the operations of a JSON patch that turn one list into another.
#ifndef KUBEXX_WEBHOOK_INTERNAL_LIST_STEPS_H_
#define KUBEXX_WEBHOOK_INTERNAL_LIST_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kubexx/webhook/internal/list_pairs.h"

namespace kubexx::webhook::internal {

/// One operation of RFC 6902 on a list.
struct ListStep {
  enum class Kind : std::uint8_t { kRemove, kReplace, kAdd, kMove };

  Kind kind = Kind::kRemove;
  std::size_t index = 0;    ///< in the list after the earlier steps; for kMove, without the moved
                            ///< element
  std::size_t from = 0;     ///< for kMove: the index from which the element is moved
  std::size_t element = 0;  ///< for kReplace and kAdd: the index of the new element in the changed
                            ///< list

  bool operator==(const ListStep&) const = default;
};

/// Returns the steps that turn a list of `before` elements into one of `after` elements, in which
/// the elements of `pairs` (see PairLists) are at their new indexes and all others are new. Moves
/// as few elements as possible. Pure; takes time n log n.
std::vector<ListStep> ListSteps(std::size_t before, std::size_t after, const ListPairs& pairs);

}  // namespace kubexx::webhook::internal

#endif  // KUBEXX_WEBHOOK_INTERNAL_LIST_STEPS_H_
