/// @file
/// How one list becomes another with the operations of a JSON patch.
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
  std::size_t index = 0;    ///< in the list as the steps before have left it; kMove: without it
  std::size_t from = 0;     ///< of kMove: the index that it leaves
  std::size_t element = 0;  ///< of kReplace and kAdd: the index of the element in the list after

  bool operator==(const ListStep&) const = default;
};

/// The steps that make of a list of `before` elements one of `after` elements, in which the
/// elements of `pairs` (see PairLists) stand at their places and all others are new. As few
/// elements as possible are moved. Pure; takes n log n.
std::vector<ListStep> ListSteps(std::size_t before, std::size_t after, const ListPairs& pairs);

}  // namespace kubexx::webhook::internal

#endif  // KUBEXX_WEBHOOK_INTERNAL_LIST_STEPS_H_
