/// @file
/// Typed entry points of the two codecs. The work is done by table-driven functions over void*;
/// these templates only pass the table, so a new type costs no code.
#ifndef KUBEXX_CODEC_CODEC_H_
#define KUBEXX_CODEC_CODEC_H_

#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/schema.h"

namespace kubexx::codec {

/// How an object is written down.
enum class Encoding : std::uint8_t { kJson, kProtobuf };

/// Whether the type has a protobuf message. Custom resources have none: no field of their tables
/// has a tag, and the API server stores and sends them as JSON only.
bool HasProtobuf(const TypeSchema& schema);

/// Appends the protobuf message of `object` (no envelope) to `out`, bytes as Go's generated Marshal
/// writes them. Appends nothing for a type that HasProtobuf says to have none.
void EncodeProtobuf(const TypeSchema& schema, const void* object, std::string& out);

/// Reads a protobuf message (no envelope) into the value-initialised `object`. Unknown fields are
/// skipped. kMalformed with the path of the field on bad bytes; nesting deeper than 64 levels and
/// lengths beyond the input are errors.
apimachinery::Result<void> DecodeProtobuf(const TypeSchema& schema, std::string_view bytes,
                                          void* object);

/// Appends JSON as Go's encoding/json would write the type. A root kind begins with "kind" and
/// "apiVersion".
void EncodeJson(const TypeSchema& schema, const void* object, std::string& out);

/// Reads JSON into the value-initialised `object`. Field names match exactly (case-sensitive, as
/// the API server); unknown and duplicate fields are ignored, null leaves the zero value. A root
/// kind's apiVersion and kind are checked when present. kMalformed with the path of the field
/// otherwise.
apimachinery::Result<void> DecodeJson(const TypeSchema& schema, std::string_view json,
                                      void* object);

/// `object` on the protobuf wire, without an envelope.
template <class T>
std::string EncodeProtobuf(const T& object) {
  std::string out;
  EncodeProtobuf(SchemaOf<T>(), &object, out);
  return out;
}

/// A new T from the protobuf wire, without an envelope; errors as of the untyped function.
template <class T>
apimachinery::Result<T> DecodeProtobuf(std::string_view bytes) {
  T object{};
  KX_RETURN_IF_ERROR(DecodeProtobuf(SchemaOf<T>(), bytes, &object));
  return object;
}

/// `object` as JSON.
template <class T>
std::string EncodeJson(const T& object) {
  std::string out;
  EncodeJson(SchemaOf<T>(), &object, out);
  return out;
}

/// A new T from JSON; errors as of the untyped function.
template <class T>
apimachinery::Result<T> DecodeJson(std::string_view json) {
  T object{};
  KX_RETURN_IF_ERROR(DecodeJson(SchemaOf<T>(), json, &object));
  return object;
}

/// Decodes either encoding; protobuf without envelope.
template <class T>
apimachinery::Result<T> Decode(Encoding encoding, std::string_view bytes) {
  return encoding == Encoding::kProtobuf ? DecodeProtobuf<T>(bytes) : DecodeJson<T>(bytes);
}

}  // namespace kubexx::codec

#endif  // KUBEXX_CODEC_CODEC_H_
