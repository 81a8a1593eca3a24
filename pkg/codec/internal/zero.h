/// @file
/// Tests whether a field is empty or zero by the rules of Go.
#ifndef KUBEXX_CODEC_INTERNAL_ZERO_H_
#define KUBEXX_CODEC_INTERNAL_ZERO_H_

#include "kubexx/codec/schema.h"

namespace kubexx::codec::internal {

/// Returns whether omitempty leaves the field out: it is false, 0, "", unset, or an empty list or
/// map. A struct is never left out.
bool IsEmpty(const FieldSchema& field, const void* member);

/// Returns whether omitzero leaves the field out, because it has its type's zero value.
bool IsZero(const FieldSchema& field, const void* member);

}  // namespace kubexx::codec::internal

#endif  // KUBEXX_CODEC_INTERNAL_ZERO_H_
