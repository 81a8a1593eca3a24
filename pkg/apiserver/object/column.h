/// @file
/// The columns of the tables that show objects.
#ifndef KUBEXX_APISERVER_OBJECT_COLUMN_H_
#define KUBEXX_APISERVER_OBJECT_COLUMN_H_

#include <span>
#include <string_view>

#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Computes the value of a column for an object. When the object lacks the field, the value says so
/// in the same words as in kube-apiserver.
using Cell = codec::JsonTree (*)(const codec::JsonTree& object);

/// One column of a table.
struct Column {
  const char* name;
  const char* type;
  Cell cell;
  int priority = 0;  ///< 1: kubectl shows the column only with -o wide
  const char* format = "";
};

/// The table of a type; constant data with static storage duration.
struct ColumnTable {
  std::span<const Column> columns{};
  /// Computes the conditions of a row as JSON, or "" for none. Null when no row of the type has
  /// conditions.
  std::string_view (*row_conditions)(const codec::JsonTree& object) = nullptr;
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_OBJECT_COLUMN_H_
