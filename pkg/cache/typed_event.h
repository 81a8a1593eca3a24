/// @file
/// Functions that decode an event's objects, or read single fields of them.
#ifndef KUBEXX_CACHE_TYPED_EVENT_H_
#define KUBEXX_CACHE_TYPED_EVENT_H_

#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/cache/decode.h"
#include "kubexx/cache/informer_event.h"
#include "kubexx/cache/object.h"
#include "kubexx/codec/codec.h"

namespace kubexx::cache {

/// Returns the event's object, decoded once for all handlers. `event` must be of an informer of T.
/// kMalformed when the bytes cannot be decoded, which the informer has logged and counted.
template <class T>
apimachinery::Result<Ref<T>> ObjectOf(const RawEvent& event) {
  return Typed<T>(event.Decoded(DecodeUntyped<T>));
}

/// Like ObjectOf, for the state before the event.
template <class T>
apimachinery::Result<Ref<T>> OldObjectOf(const RawEvent& event) {
  return Typed<T>(event.DecodedOld(DecodeUntyped<T>));
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

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_TYPED_EVENT_H_
