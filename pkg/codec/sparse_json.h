/// @file
/// JSON of what is set only, for server-side apply.
#ifndef KUBEXX_CODEC_SPARSE_JSON_H_
#define KUBEXX_CODEC_SPARSE_JSON_H_

#include <string>

#include "kubexx/codec/schema.h"

namespace kubexx::codec {

/// Appends one value of the field's type as JSON: what an optional field holds, a list, a map, or
/// the field itself. Of messages in it only those fields are written that are not zero, whether or
/// not Go would omit them; an optional that is set counts as not zero. This is for apply requests,
/// with which one owns what one writes.
void EncodeSparseJson(const FieldSchema& field, const void* value, std::string& out);

}  // namespace kubexx::codec

#endif  // KUBEXX_CODEC_SPARSE_JSON_H_
