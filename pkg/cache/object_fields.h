/// @file
/// Functions that give single fields of cached objects, without decoding the objects.
#ifndef KUBEXX_CACHE_OBJECT_FIELDS_H_
#define KUBEXX_CACHE_OBJECT_FIELDS_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/cache/decode.h"
#include "kubexx/cache/indexer_set.h"
#include "kubexx/cache/informer_event.h"
#include "kubexx/cache/object.h"
#include "kubexx/cache/typed_event.h"
#include "kubexx/codec/object_fields.h"

namespace kubexx::cache {

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

/// Returns the fields of the event's object. `event` must be of an informer of T, and outlive the
/// result. To read a few fields is much cheaper than ObjectOf, which decodes the object:
///
///     Result<std::string> NodeOf(const cache::RawEvent& event) {
///       KX_ASSIGN_OR_RETURN(const auto pod, cache::FieldsOf<Pod>(event));
///       KX_ASSIGN_OR_RETURN(const auto node, pod.Text(&Pod::spec, &PodSpec::node_name));
///       return std::string(node);
///     }
///
/// kMalformed when the object is JSON that cannot be decoded, which the informer has logged and
/// counted.
template <class T>
apimachinery::Result<ObjectFields<T>> FieldsOf(const RawEvent& event) {
  KX_ASSIGN_OR_RETURN(const EncodedObject object, event.encoded());
  if (object.encoding == codec::Encoding::kProtobuf) {
    return ObjectFields<T>(object.bytes);
  }
  KX_ASSIGN_OR_RETURN(Ref<T> decoded, ObjectOf<T>(event));
  return ObjectFields<T>(std::move(decoded));
}

/// Like FieldsOf, for the state before the event. The informer keeps and unpacks that state only
/// for those who ask for it.
template <class T>
apimachinery::Result<ObjectFields<T>> OldFieldsOf(const RawEvent& event) {
  KX_ASSIGN_OR_RETURN(const EncodedObject object, event.encoded_old());
  if (object.encoding == codec::Encoding::kProtobuf) {
    return ObjectFields<T>(object.bytes);
  }
  KX_ASSIGN_OR_RETURN(Ref<T> decoded, OldObjectOf<T>(event));
  return ObjectFields<T>(std::move(decoded));
}

/// Like the other IndexField, for the value of one text, which is read without decoding the object.
/// `path` is that of codec::Fields. An object without a value, or with an empty one, is not in the
/// index.
///
///     informer->AddIndexers(cache::IndexField<Pod>("spec.nodeName", &Pod::spec,
///                                                  &PodSpec::node_name));
template <class T, class M, class... Members>
FieldIndex<T> IndexField(std::string field, M T::* first, Members... rest) {
  FieldIndex<T> index;
  index.indexers.emplace(std::move(field), [first, rest...](const Object& object) {
    const auto fields = FieldsOf<T>(object).value();
    const std::string_view value = fields.Text(first, rest...).value();
    return value.empty() ? std::vector<std::string>() : std::vector{std::string(value)};
  });
  return index;
}

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_OBJECT_FIELDS_H_
