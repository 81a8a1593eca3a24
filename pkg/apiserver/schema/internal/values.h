/// @file
/// Compares values and counts that as work of a Budget.
#ifndef KUBEXX_APISERVER_SCHEMA_INTERNAL_VALUES_H_
#define KUBEXX_APISERVER_SCHEMA_INTERNAL_VALUES_H_

#include <cstddef>
#include <string>

#include "kubexx/apiserver/schema/budget.h"
#include "kubexx/apiserver/schema/schema.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::schema::internal {

/// The number of bytes that are read, compared or copied in one step.
constexpr std::size_t kBytesPerStep = 32;

/// Whether the values are equal; false when the budget ends.
bool Same(const codec::JsonTree& a, const codec::JsonTree& b, Budget& budget);

/// Returns a text that is the same for equal values, whatever the order of their members is.
std::string SortedText(const codec::JsonTree& value, Budget& budget);

/// Returns such a text for the key members of an element of a map-like list.
std::string KeyText(const Schema& list, const codec::JsonTree& element, Budget& budget);

/// The key members of an element of a map-like list.
codec::JsonTree KeysOf(const Schema& list, const codec::JsonTree& element);

}  // namespace kubexx::apiserver::schema::internal

#endif  // KUBEXX_APISERVER_SCHEMA_INTERNAL_VALUES_H_
