/// @file
/// Go's notions of an empty and of a zero field.
#ifndef KUBEXX_CODEC_INTERNAL_ZERO_H_
#define KUBEXX_CODEC_INTERNAL_ZERO_H_

#include "kubexx/codec/schema.h"

namespace kubexx::codec::internal {

/// Whether omitempty leaves the field out: false, 0, "", nothing, or an empty list or map; never
/// for a struct.
bool IsEmpty(const FieldSchema& field, const void* member);

/// Whether omitzero leaves the field out: it has its type's zero value.
bool IsZero(const FieldSchema& field, const void* member);

}  // namespace kubexx::codec::internal

#endif  // KUBEXX_CODEC_INTERNAL_ZERO_H_
