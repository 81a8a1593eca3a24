/// @file
/// Decodes the protobuf messages of Kubernetes that are a single value of a C++ type.
#ifndef KUBEXX_CODEC_INTERNAL_PROTOBUF_VALUE_H_
#define KUBEXX_CODEC_INTERNAL_PROTOBUF_VALUE_H_

#include <string_view>

#include "kubexx/codec/internal/field_error.h"
#include "kubexx/codec/internal/wire.h"
#include "kubexx/codec/schema.h"

namespace kubexx::codec::internal {

inline constexpr std::string_view kBadLength = "length beyond the end of the input";
inline constexpr std::string_view kBadVarint = "bad varint";
inline constexpr std::string_view kWrongType = "wrong wire type";
inline constexpr std::string_view kBadTag = "bad field tag";
inline constexpr std::string_view kBadUnknown = "bad unknown field";

/// Calls `on_field(tag, reader, handled)` for each field of a message, and skips the fields that it
/// leaves unhandled. Returns false, with an error in `error`, if the message is malformed or
/// `on_field` returns false.
template <class F>
bool ForEachField(std::string_view bytes, FieldError& error, const F& on_field) {
  WireReader in(bytes);
  while (!in.AtEnd()) {
    Tag tag;
    if (!in.ReadTag(tag)) {
      return error.Set(kBadTag);
    }
    bool handled = false;
    if (!on_field(tag, in, handled)) {
      return false;
    }
    if (!handled && !in.Skip(tag.type)) {
      return error.Set(kBadUnknown);
    }
  }
  return true;
}

/// Decodes a message into `value`, which is a time, a quantity, a list of strings or another value
/// with the C++ type of `kind`. Returns false, with an error in `error`, if the message is
/// malformed. `kind` must be a kind that is a message, but not kMessage.
bool DecodeProtobufValue(Kind kind, std::string_view bytes, void* value, FieldError& error);

}  // namespace kubexx::codec::internal

#endif  // KUBEXX_CODEC_INTERNAL_PROTOBUF_VALUE_H_
