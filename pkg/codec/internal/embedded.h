/// @file
/// Converts objects inside of objects, which are the contents of RawExtension fields.
#ifndef KUBEXX_CODEC_INTERNAL_EMBEDDED_H_
#define KUBEXX_CODEC_INTERNAL_EMBEDDED_H_

#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/registry.h"

namespace kubexx::codec::internal {

/// Replaces every protobuf object with an envelope in a RawExtension of `object` by its JSON, at
/// any depth. Returns kMalformed for bad bytes and for kinds that `registry` does not know.
apimachinery::Result<void> EmbeddedToJson(const TypeSchema& schema, void* object,
                                          const Registry& registry);

}  // namespace kubexx::codec::internal

#endif  // KUBEXX_CODEC_INTERNAL_EMBEDDED_H_
