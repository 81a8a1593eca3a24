#ifndef KUBEXX_CODEC_INTERNAL_FIELD_ACCESS_H_
#define KUBEXX_CODEC_INTERNAL_FIELD_ACCESS_H_

namespace kubexx::codec::internal {

/// The member of type E at `value`, which a schema tells of.
template <class E>
const E& As(const void* value) {
  return *static_cast<const E*>(value);
}

/// The same, to be written to.
template <class E>
E& MutableAs(void* value) {
  return *static_cast<E*>(value);
}

}  // namespace kubexx::codec::internal

#endif  // KUBEXX_CODEC_INTERNAL_FIELD_ACCESS_H_
