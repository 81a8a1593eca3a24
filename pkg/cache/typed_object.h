/// @file
/// Functions that convert between API types and the encoded objects of stores.
#ifndef KUBEXX_CACHE_TYPED_OBJECT_H_
#define KUBEXX_CACHE_TYPED_OBJECT_H_

#include "kubexx/apimachinery/status.h"
#include "kubexx/cache/object.h"
#include "kubexx/codec/codec.h"

namespace kubexx::cache {

/// Encodes `object` as protobuf, or as JSON when it is a custom resource, which has no protobuf;
/// with its key and resourceVersion. T needs `metadata` and codec::SchemaOf<T>().
template <class T>
Object EncodeObject(const T& object) {
  const bool protobuf = codec::HasProtobuf(codec::SchemaOf<T>());
  return {.encoding = protobuf ? codec::Encoding::kProtobuf : codec::Encoding::kJson,
          .bytes = protobuf ? codec::EncodeProtobuf(object) : codec::EncodeJson(object),
          .key = {object.metadata.namespace_, object.metadata.name},
          .resource_version = object.metadata.resource_version};
}

/// Decodes an object from either encoding; kMalformed when the bytes are not a T.
template <class T>
apimachinery::Result<T> DecodeObject(const Object& object) {
  return codec::Decode<T>(object.encoding, object.bytes);
}

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_TYPED_OBJECT_H_
