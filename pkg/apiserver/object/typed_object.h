/// @file
/// TypedObject: an object of a built-in type that is known only at run time.
#ifndef KUBEXX_APISERVER_OBJECT_TYPED_OBJECT_H_
#define KUBEXX_APISERVER_OBJECT_TYPED_OBJECT_H_

#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/codec.h"

namespace kubexx::apiserver {

/// Owns an object of the type that a schema describes. Not thread-safe.
class TypedObject {
 public:
  /// `schema` must outlive it.
  explicit TypedObject(const codec::TypeSchema& schema)
      : schema_(schema), object_(schema.create()) {}
  TypedObject(const TypedObject&) = delete;
  TypedObject& operator=(const TypedObject&) = delete;
  ~TypedObject() { schema_.destroy(object_); }

  /// Reads the object from JSON, or from a protobuf message without envelope. Returns kMalformed
  /// with the path of the field that cannot be read.
  apimachinery::Result<void> ReadJson(std::string_view json) {
    return codec::DecodeJson(schema_, json, object_);
  }
  apimachinery::Result<void> ReadProtobuf(std::string_view message) {
    return codec::DecodeProtobuf(schema_, message, object_);
  }
  /// Returns the object as JSON, or as a protobuf message without envelope.
  std::string Json() const {
    std::string json;
    codec::EncodeJson(schema_, object_, json);
    return json;
  }
  std::string Protobuf() const {
    std::string bytes;
    codec::EncodeProtobuf(schema_, object_, bytes);
    return bytes;
  }

 private:
  const codec::TypeSchema& schema_;
  void* object_;
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_OBJECT_TYPED_OBJECT_H_
