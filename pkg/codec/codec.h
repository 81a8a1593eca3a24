/// @file
/// The functions of the two codecs. Functions over void* do the work, driven by a schema table; the
/// templates only pass the table, so that a new type costs no code.
#ifndef KUBEXX_CODEC_CODEC_H_
#define KUBEXX_CODEC_CODEC_H_

#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/schema.h"

namespace kubexx::codec {

/// The encodings of an object.
enum class Encoding : std::uint8_t { kJson, kProtobuf };

/// Whether a reader overwrites its copy of an object's bytes after the object has been read.
/// Streams of Secrets need that. Other streams leave it out, because it takes one more pass over
/// all bytes.
enum class KeptMemory : std::uint8_t { kWiped, kPlain };

/// Returns whether the type has a protobuf message. Custom resources have none: no field of their
/// tables has a tag, and the API server stores and sends them only as JSON.
bool HasProtobuf(const TypeSchema& schema);

/// Appends the protobuf message of `object`, without an envelope, to `out`; the bytes are those of
/// Go's generated Marshal. Appends nothing for a type without a message (see HasProtobuf).
void EncodeProtobuf(const TypeSchema& schema, const void* object, std::string& out);

/// Decodes a protobuf message, without an envelope, into the value-initialised `object`. Unknown
/// fields are skipped. Returns kMalformed with the path of the field for bad bytes, such as lengths
/// beyond the input, and for messages that nest deeper than 64 levels.
apimachinery::Result<void> DecodeProtobuf(const TypeSchema& schema, std::string_view bytes,
                                          void* object);

/// Appends the JSON that Go's encoding/json would write for the type. A root kind begins with
/// "kind" and "apiVersion".
void EncodeJson(const TypeSchema& schema, const void* object, std::string& out);

/// Decodes JSON into the value-initialised `object`. Names of fields are case-sensitive, as in the
/// API server; unknown and duplicate fields are ignored, and null leaves the zero value. The
/// apiVersion and kind of a root kind are checked if they are present. Returns kMalformed with the
/// path of the field if the JSON does not fit.
apimachinery::Result<void> DecodeJson(const TypeSchema& schema, std::string_view json,
                                      void* object);

/// Returns the protobuf message of `object`, without an envelope.
template <class T>
std::string EncodeProtobuf(const T& object) {
  std::string out;
  EncodeProtobuf(SchemaOf<T>(), &object, out);
  return out;
}

/// Decodes a new T from a protobuf message without an envelope. Errors are those of the function
/// above.
template <class T>
apimachinery::Result<T> DecodeProtobuf(std::string_view bytes) {
  T object{};
  KX_RETURN_IF_ERROR(DecodeProtobuf(SchemaOf<T>(), bytes, &object));
  return object;
}

/// Returns `object` as JSON.
template <class T>
std::string EncodeJson(const T& object) {
  std::string out;
  EncodeJson(SchemaOf<T>(), &object, out);
  return out;
}

/// Decodes a new T from JSON. Errors are those of the function above.
template <class T>
apimachinery::Result<T> DecodeJson(std::string_view json) {
  T object{};
  KX_RETURN_IF_ERROR(DecodeJson(SchemaOf<T>(), json, &object));
  return object;
}

/// Decodes a new T from either encoding; protobuf without an envelope.
template <class T>
apimachinery::Result<T> Decode(Encoding encoding, std::string_view bytes) {
  return encoding == Encoding::kProtobuf ? DecodeProtobuf<T>(bytes) : DecodeJson<T>(bytes);
}

}  // namespace kubexx::codec

#endif  // KUBEXX_CODEC_CODEC_H_
