/// @file
/// The columns of the tables in which objects are shown.
#ifndef KUBEXX_APISERVER_OBJECT_COLUMN_H_
#define KUBEXX_APISERVER_OBJECT_COLUMN_H_

#include <span>
#include <string_view>

#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// The value of a column in an object's row. Where the object lacks what is asked for, it says so
/// as kube-apiserver does.
using Cell = codec::JsonTree (*)(const codec::JsonTree& object);

/// One column of a table.
struct Column {
  const char* name;
  const char* type;
  Cell cell;
  int priority = 0;  ///< 1: only with -o wide
  const char* format = "";
};

/// The table of a type; constant data with static storage duration.
struct ColumnTable {
  std::span<const Column> columns{};
  /// What a row says of its object besides its cells, as JSON; "" for nothing. Null where no row
  /// says anything.
  std::string_view (*row_conditions)(const codec::JsonTree& object) = nullptr;
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_OBJECT_COLUMN_H_
