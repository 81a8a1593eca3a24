/// @file
/// Functions that decode an event's objects.
#ifndef KUBEXX_CACHE_TYPED_EVENT_H_
#define KUBEXX_CACHE_TYPED_EVENT_H_

#include "kubexx/apimachinery/status.h"
#include "kubexx/cache/decode.h"
#include "kubexx/cache/informer_event.h"

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

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_TYPED_EVENT_H_
