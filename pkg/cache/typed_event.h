/// @file
/// An event's objects with their type.
#ifndef KUBEXX_CACHE_TYPED_EVENT_H_
#define KUBEXX_CACHE_TYPED_EVENT_H_

#include "kubexx/apimachinery/status.h"
#include "kubexx/cache/decode.h"
#include "kubexx/cache/informer_event.h"

namespace kubexx::cache {

/// The event's object, decoded once for all handlers; `event` is of an informer of T. kMalformed
/// when its bytes do not decode, which has been logged and counted.
template <class T>
apimachinery::Result<Ref<T>> ObjectOf(const RawEvent& event) {
  return Typed<T>(event.Decoded(DecodeUntyped<T>));
}

/// The same of its state before.
template <class T>
apimachinery::Result<Ref<T>> OldObjectOf(const RawEvent& event) {
  return Typed<T>(event.DecodedOld(DecodeUntyped<T>));
}

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_TYPED_EVENT_H_
