/// @file
/// Reads JSON values that are a single token.
#ifndef KUBEXX_CODEC_INTERNAL_JSON_SCALAR_H_
#define KUBEXX_CODEC_INTERNAL_JSON_SCALAR_H_

#include <string>
#include <string_view>

#include "kubexx/codec/internal/field_error.h"
#include "kubexx/codec/schema.h"

namespace kubexx::codec::internal {

/// Returns `text` without white space at its ends.
std::string_view TrimJsonSpace(std::string_view text);

/// Reads the string literal `token`, whose characters, but not its escapes, have been checked
/// already.
bool ReadStringToken(std::string_view token, std::string& out, FieldError& error);

/// Reads `token`, which is not null, into `value`, which has the type of `kind`. `kind` may be any
/// kind except messages, string lists and raw JSON.
bool ReadScalarToken(Kind kind, std::string_view token, void* value, FieldError& error);

}  // namespace kubexx::codec::internal

#endif  // KUBEXX_CODEC_INTERNAL_JSON_SCALAR_H_
