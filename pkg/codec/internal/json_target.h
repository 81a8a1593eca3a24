/// @file
/// Finds the field for a JSON name.
#ifndef KUBEXX_CODEC_INTERNAL_JSON_TARGET_H_
#define KUBEXX_CODEC_INTERNAL_JSON_TARGET_H_

#include <string_view>

#include "kubexx/codec/schema.h"

namespace kubexx::codec::internal {

/// The field for a JSON name, in the object or in a message that is inlined into it.
struct Target {
  const FieldSchema* field = nullptr;  ///< null when the type has no such field
  void* member = nullptr;
};

/// Looks `name` up, beginning with the field at `hint`, and sets `hint` to the field after the one
/// that it found, since names mostly arrive in the order of the table. If the field belongs to an
/// optional inlined message that is absent, the message is created.
Target FindTarget(const TypeSchema& schema, void* object, std::string_view name, std::size_t& hint);

}  // namespace kubexx::codec::internal

#endif  // KUBEXX_CODEC_INTERNAL_JSON_TARGET_H_
