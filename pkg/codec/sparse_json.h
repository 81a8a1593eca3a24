/// @file
/// Writes JSON with only the fields that are set, for server-side apply.
#ifndef KUBEXX_CODEC_SPARSE_JSON_H_
#define KUBEXX_CODEC_SPARSE_JSON_H_

#include <string>

#include "kubexx/codec/schema.h"

namespace kubexx::codec {

/// Appends one value of the field's type as JSON: the value of an optional field, a list, a map, or
/// the field itself. Of messages, it writes only the fields that are not zero, whether or not Go
/// would omit them; an optional that is set counts as not zero. It serves apply requests, which
/// make their sender the owner of every field in them.
void EncodeSparseJson(const FieldSchema& field, const void* value, std::string& out);

}  // namespace kubexx::codec

#endif  // KUBEXX_CODEC_SPARSE_JSON_H_
