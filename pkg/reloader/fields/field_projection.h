/// @file
/// The projection of objects of described kinds: a digest of the fields that count, and nothing
/// else.
#ifndef KUBEXX_RELOADER_FIELDS_FIELD_PROJECTION_H_
#define KUBEXX_RELOADER_FIELDS_FIELD_PROJECTION_H_

#include <functional>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/cache/object.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/kinds/object_field.h"
#include "kubexx/reloader/kinds/source_kind.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/projection.h"
#include "kubexx/reloader/model/value_digests.h"

namespace kubexx::reloader {

/// The digests of the fields of `kind` in the object: of all together, and of each under
/// FieldKey. `whole` is kNoSource while a field is not there yet. `written` is when one of them was
/// last written, in whole seconds, as far as the managed fields tell: they do when whoever wrote it
/// last writes no other fields.
ValueDigests FieldDigestsOf(const SourceKind& kind, const codec::JsonTree& object);

/// How histories name the field: its text, in which '.', '-' and '_' stand for what keys of a
/// ConfigMap cannot have.
std::string FieldKey(const ObjectField& field);

/// Replaces the content of an object of the kind, in JSON, by a KeptSource: the digest of its
/// fields, or kNoSource while one of them is not there yet. Wipes the encoded bytes before it
/// returns, also when it fails. Fails with kMalformed when the bytes are not JSON.
apimachinery::Result<void> ProjectFields(const SourceKind& kind, const AnnotationKeys& keys,
                                         cache::Object& object,
                                         SourceDetail detail = SourceDetail::kDigest);

/// The InformerOptions::transform that informers of the kind need. SourceFrom reads back what it
/// makes.
std::function<apimachinery::Result<void>(cache::Object&)> TransformForFields(
    SourceKind kind, AnnotationKeys keys, SourceDetail detail = SourceDetail::kDigest);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_FIELDS_FIELD_PROJECTION_H_
