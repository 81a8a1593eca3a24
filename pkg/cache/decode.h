/// @file
/// Functions that decode a cached object's bytes into its type, or read single fields of them.
#ifndef KUBEXX_CACHE_DECODE_H_
#define KUBEXX_CACHE_DECODE_H_

#include <memory>
#include <string_view>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/cache/object.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/object_fields.h"
#include "kubexx/codec/schema.h"

namespace kubexx::cache {

/// A cached object, which is shared and never changes. To change it, copy it, edit the copy and
/// send the copy to the API server.
template <class T>
using Ref = std::shared_ptr<const T>;

/// A decoded object whose type only its reader knows. Code that does not depend on the type uses
/// it, so that the compiler generates that code once.
using UntypedRef = std::shared_ptr<const void>;
/// A pointer to DecodeUntyped<T> for some T.
using UntypedDecoder = apimachinery::Result<UntypedRef> (*)(const Object& raw);

/// Decodes `raw` into `object`, which is value-initialised and of the schema's type, and returns
/// it. kMalformed when the bytes do not decode.
apimachinery::Result<UntypedRef> DecodeInto(const Object& raw, const codec::TypeSchema& schema,
                                            std::shared_ptr<void> object);

/// Decodes `raw` as a T; kMalformed when its bytes do not decode. Decodes into the shared object
/// directly, because moving a large object costs as much as decoding a part of it. Specialise it
/// for a T without a schema.
template <class T>
apimachinery::Result<UntypedRef> DecodeUntyped(const Object& raw) {
  return DecodeInto(raw, codec::SchemaOf<T>(), std::make_shared<T>());
}

/// Converts a result of DecodeUntyped<T> to its type.
template <class T>
apimachinery::Result<Ref<T>> Typed(apimachinery::Result<UntypedRef> decoded) {
  if (!decoded) {
    return apimachinery::Error(std::move(decoded).error());
  }
  return std::static_pointer_cast<const T>(*std::move(decoded));
}

/// Like DecodeUntyped, with a typed result.
template <class T>
apimachinery::Result<Ref<T>> DecodeShared(const Object& raw) {
  return Typed<T>(DecodeUntyped<T>(raw));
}

/// The fields of a cached object, see codec::Fields. An object in JSON, as custom resources are, is
/// decoded for it, once. Copyable; thread-safe.
template <class T>
class ObjectFields : public codec::Fields<T> {
 public:
  explicit ObjectFields(std::string_view protobuf) : codec::Fields<T>(protobuf) {}
  explicit ObjectFields(Ref<T> decoded)
      : codec::Fields<T>(*decoded), decoded_(std::move(decoded)) {}

 private:
  Ref<T> decoded_{};
};

/// Returns the fields of `object`, which must have a T's bytes and outlive the result. kMalformed
/// when it is JSON that cannot be decoded.
template <class T>
apimachinery::Result<ObjectFields<T>> FieldsOf(const Object& object) {
  if (object.encoding == codec::Encoding::kProtobuf) {
    return ObjectFields<T>(std::string_view(object.bytes));
  }
  KX_ASSIGN_OR_RETURN(Ref<T> decoded, DecodeShared<T>(object));
  return ObjectFields<T>(std::move(decoded));
}

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_DECODE_H_
