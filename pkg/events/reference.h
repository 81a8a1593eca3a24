/// @file
/// References to objects, for events about them.
#ifndef KUBEXX_EVENTS_REFERENCE_H_
#define KUBEXX_EVENTS_REFERENCE_H_

#include <string>
#include <utility>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/codec/schema.h"

namespace kubexx::events {

/// Returns the reference to an object of the type `schema`, as client-go's reference.GetReference
/// does.
api::core::v1::ObjectReference MakeReference(const codec::TypeSchema& schema,
                                             const api::meta::v1::ObjectMeta& metadata,
                                             std::string field_path);

/// Returns the reference to `object`, with the apiVersion and kind of its schema, and the name,
/// namespace, uid and version of its metadata. `field_path` names a part of the object, for example
/// "spec.containers{web}".
template <class T>
api::core::v1::ObjectReference ReferenceTo(const T& object, std::string field_path = {}) {
  return MakeReference(codec::SchemaOf<T>(), object.metadata, std::move(field_path));
}

}  // namespace kubexx::events

#endif  // KUBEXX_EVENTS_REFERENCE_H_
