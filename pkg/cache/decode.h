/// @file
/// From an object's bytes to its type.
#ifndef KUBEXX_CACHE_DECODE_H_
#define KUBEXX_CACHE_DECODE_H_

#include <memory>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/cache/object.h"
#include "kubexx/codec/schema.h"

namespace kubexx::cache {

/// A cached object: shared, never changed. To change one, copy it, edit the copy and send it to the
/// API.
template <class T>
using Ref = std::shared_ptr<const T>;

/// A decoded object whose type only its reader knows: what does not depend on the type is compiled
/// once, and not again for each.
using UntypedRef = std::shared_ptr<const void>;
/// DecodeUntyped of some type.
using UntypedDecoder = apimachinery::Result<UntypedRef> (*)(const Object& raw);

/// Decodes `raw` into `object`, which is value-initialised and of the schema's type, and returns
/// it. kMalformed when the bytes do not decode.
apimachinery::Result<UntypedRef> DecodeInto(const Object& raw, const codec::TypeSchema& schema,
                                            std::shared_ptr<void> object);

/// `raw` as a T; kMalformed when its bytes do not decode. Decoded where it stays: moving a large
/// object costs as much as decoding some of it. To be specialised for a T without a schema.
template <class T>
apimachinery::Result<UntypedRef> DecodeUntyped(const Object& raw) {
  return DecodeInto(raw, codec::SchemaOf<T>(), std::make_shared<T>());
}

/// What DecodeUntyped<T> made, with its type.
template <class T>
apimachinery::Result<Ref<T>> Typed(apimachinery::Result<UntypedRef> decoded) {
  if (!decoded) {
    return apimachinery::Error(std::move(decoded).error());
  }
  return std::static_pointer_cast<const T>(*std::move(decoded));
}

/// As DecodeUntyped.
template <class T>
apimachinery::Result<Ref<T>> DecodeShared(const Object& raw) {
  return Typed<T>(DecodeUntyped<T>(raw));
}

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_DECODE_H_
