#ifndef KUBEXX_CODEC_INTERNAL_FIELD_ACCESS_H_
#define KUBEXX_CODEC_INTERNAL_FIELD_ACCESS_H_

namespace kubexx::codec::internal {

/// Returns the member at `value` as an E, which must be its type according to the schema.
template <class E>
const E& As(const void* value) {
  return *static_cast<const E*>(value);
}

/// The same for a member that is to be changed.
template <class E>
E& MutableAs(void* value) {
  return *static_cast<E*>(value);
}

}  // namespace kubexx::codec::internal

#endif  // KUBEXX_CODEC_INTERNAL_FIELD_ACCESS_H_
