/// @file
/// Reads the JSON of fields that are a single token.
#ifndef KUBEXX_CODEC_INTERNAL_JSON_SCALAR_H_
#define KUBEXX_CODEC_INTERNAL_JSON_SCALAR_H_

#include <string>
#include <string_view>

#include "kubexx/codec/internal/field_error.h"
#include "kubexx/codec/schema.h"

namespace kubexx::codec::internal {

/// `text` without white space at its ends.
std::string_view TrimJsonSpace(std::string_view text);

/// Reads the string literal `token`, whose characters have been checked already (not its escapes).
bool ReadStringToken(std::string_view token, std::string& out, FieldError& error);

/// Reads `token`, which is not null, into `value`, whose type is that of `kind`: any kind but
/// messages, string lists and raw JSON.
bool ReadScalarToken(Kind kind, std::string_view token, void* value, FieldError& error);

}  // namespace kubexx::codec::internal

#endif  // KUBEXX_CODEC_INTERNAL_JSON_SCALAR_H_
