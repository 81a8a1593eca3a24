/// @file
/// Reads single fields of a protobuf message, and decodes nothing else of it.
#ifndef KUBEXX_CODEC_PROTOBUF_FIELDS_H_
#define KUBEXX_CODEC_PROTOBUF_FIELDS_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/codec/schema.h"

namespace kubexx::codec {

/// Fields from the outermost to the one that is read. All but the last are of Kind::kMessage, plain
/// or optional; all of them have a tag.
using FieldPath = std::span<const FieldSchema* const>;

/// A message without an envelope, and the size of the whole object that it is a part of, which
/// limits how many elements its lists may have.
struct MessageBytes {
  std::string_view bytes{};
  std::size_t object_size = 0;
};

/// Decodes the field at the end of `path` into `member`, which is value-initialised and has the
/// type of the struct's member, container included. The fields around it are passed over. For bytes
/// that DecodeProtobuf decodes, `member` becomes what it is in the decoded object, or keeps its
/// value if an optional message on the path is missing: of several occurrences of a field the last
/// counts, and messages, lists and maps are joined. Returns kMalformed, with the path of the field,
/// when the field or the framing around it is bad. It may succeed on a message that DecodeProtobuf
/// refuses, when only bytes of other fields are bad.
apimachinery::Result<void> DecodeProtobufField(FieldPath path, MessageBytes message, void* member);

/// Finds the text of a field of Kind::kString, plain or optional, without a copy. std::nullopt when
/// there is none, which the decoder reads as "" if the field is plain. Errors are those of
/// DecodeProtobufField.
apimachinery::Result<std::optional<std::string_view>> FindProtobufText(FieldPath path,
                                                                       MessageBytes message);

/// Finds the value at `key` in a map of Kind::kString, without a copy; std::nullopt when there is
/// none. Errors are those of DecodeProtobufField.
apimachinery::Result<std::optional<std::string_view>> FindProtobufEntry(FieldPath path,
                                                                        MessageBytes message,
                                                                        std::string_view key);

/// Calls `each` with the bytes of each message in a list of messages, in order, until it returns an
/// error, which is returned. Other errors are those of DecodeProtobufField.
apimachinery::Result<void> ForEachProtobufElement(
    FieldPath path, MessageBytes message,
    base::FunctionRef<apimachinery::Result<void>(std::string_view element)> each);

/// Returns whether two messages have the same bytes for a field, and the framing around it can be
/// read in both. Other bytes may stand for the same value.
bool HaveSameProtobufBytes(FieldPath path, std::string_view message, std::string_view other);

}  // namespace kubexx::codec

#endif  // KUBEXX_CODEC_PROTOBUF_FIELDS_H_
