/// @file
/// Finds the member that a JSON name stands for.
#ifndef KUBEXX_CODEC_INTERNAL_JSON_TARGET_H_
#define KUBEXX_CODEC_INTERNAL_JSON_TARGET_H_

#include <string_view>

#include "kubexx/codec/schema.h"

namespace kubexx::codec::internal {

/// Where a JSON name leads: a field of the object or of a message that is inlined into it.
struct Target {
  const FieldSchema* field = nullptr;  ///< null when the type has no such field
  void* member = nullptr;
};

/// Looks `name` up, beginning with the field at `hint`, which moves on: names arrive mostly in the
/// order of the table. An optional inlined message comes into being when one of its fields is
/// named.
Target FindTarget(const TypeSchema& schema, void* object, std::string_view name, std::size_t& hint);

}  // namespace kubexx::codec::internal

#endif  // KUBEXX_CODEC_INTERNAL_JSON_TARGET_H_
