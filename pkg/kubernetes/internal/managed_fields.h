/// @file
/// Reads meta/v1 FieldsV1, the set of fields that one manager owns.
#ifndef KUBEXX_KUBERNETES_INTERNAL_MANAGED_FIELDS_H_
#define KUBEXX_KUBERNETES_INTERNAL_MANAGED_FIELDS_H_

#include <optional>

#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::kubernetes::internal {

/// Returns the part of `value` that the set `fields` contains. In the set, "f:" is a member, "k:"
/// the list's element with these keys (which are always in the result), "v:" the element with this
/// value, "i:" the element at this index, and {} everything below. std::nullopt when `value` has
/// none of it. kMalformed when the set cannot be read. Takes time in proportion to the sizes of
/// both, and their logarithms.
apimachinery::Result<std::optional<codec::JsonTree>> ExtractFields(const codec::JsonTree& value,
                                                                   const codec::JsonTree& fields);

}  // namespace kubexx::kubernetes::internal

#endif  // KUBEXX_KUBERNETES_INTERNAL_MANAGED_FIELDS_H_
