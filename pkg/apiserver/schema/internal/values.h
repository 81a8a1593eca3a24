/// @file
/// Comparing values, where that counts as work.
#ifndef KUBEXX_APISERVER_SCHEMA_INTERNAL_VALUES_H_
#define KUBEXX_APISERVER_SCHEMA_INTERNAL_VALUES_H_

#include <cstddef>
#include <string>

#include "kubexx/apiserver/schema/budget.h"
#include "kubexx/apiserver/schema/schema.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::schema::internal {

/// So many bytes are read, compared or copied in the time of a step.
constexpr std::size_t kBytesPerStep = 32;

/// Whether they are equal; false when the budget ends.
bool Same(const codec::JsonTree& a, const codec::JsonTree& b, Budget& budget);

/// A text that equal values share: without the order of members.
std::string SortedText(const codec::JsonTree& value, Budget& budget);

/// The same of what tells an element of a map-like list apart.
std::string KeyText(const Schema& list, const codec::JsonTree& element, Budget& budget);

/// The members that tell the elements of a map-like list apart.
codec::JsonTree KeysOf(const Schema& list, const codec::JsonTree& element);

}  // namespace kubexx::apiserver::schema::internal

#endif  // KUBEXX_APISERVER_SCHEMA_INTERNAL_VALUES_H_
