/// @file
/// Finds the fields of a schema table by pointers to members.
#ifndef KUBEXX_CODEC_FIELD_PATH_H_
#define KUBEXX_CODEC_FIELD_PATH_H_

#include <array>
#include <bit>
#include <cstddef>
#include <optional>
#include <type_traits>

#include "kubexx/apimachinery/box.h"
#include "kubexx/codec/schema.h"

namespace kubexx::codec {

/// Returns the field of `schema` whose member is at `offset`. A table that has no such field is a
/// defect of the program, which ends.
const FieldSchema& FieldAt(const TypeSchema& schema, std::size_t offset);

/// Returns the field of a member: `FieldOf(&PodSpec::node_name)`.
template <class T, class M>
const FieldSchema& FieldOf(M T::* member) {
  // In the Itanium C++ ABI a pointer to a data member is the member's offset.
  static_assert(sizeof(member) == sizeof(std::ptrdiff_t));
  return FieldAt(SchemaOf<T>(), static_cast<std::size_t>(std::bit_cast<std::ptrdiff_t>(member)));
}

/// Returns the fields of members, the outermost first.
template <class... Members>
std::array<const FieldSchema*, sizeof...(Members)> FieldsOnPath(Members... members) {
  return {&FieldOf(members)...};
}

/// @cond
namespace internal {

template <class M>
struct StructIn {
  using Type = M;
};
template <class E>
struct StructIn<apimachinery::Box<E>> {
  using Type = E;
};
template <class E>
struct StructIn<std::optional<E>> {
  using Type = E;
};

template <class T, class... Members>
struct PathEnd;
template <class T, class M>
struct PathEnd<T, M T::*> {
  using Type = M;
};
template <class T, class M, class... Rest>
struct PathEnd<T, M T::*, Rest...> : PathEnd<typename StructIn<M>::Type, Rest...> {};

}  // namespace internal
/// @endcond

/// The type of the last member of a path that begins in T. Each member but the last is a struct, or
/// an optional one, and the next is a member of it. A path that does not fit does not compile.
template <class T, class... Members>
using PathEnd = typename internal::PathEnd<T, Members...>::Type;

/// Returns the member at the end of a path in `object`, or null if an optional struct on the way is
/// not set.
template <class T, class M>
const M* MemberAt(const T& object, M T::* member) {
  return &(object.*member);
}
template <class T, class M, class... Rest>
const PathEnd<T, M T::*, Rest...>* MemberAt(const T& object, M T::* member, Rest... rest) {
  const M& outer = object.*member;
  if constexpr (std::is_same_v<M, typename internal::StructIn<M>::Type>) {
    return MemberAt(outer, rest...);
  } else {
    return outer.has_value() ? MemberAt(*outer, rest...) : nullptr;
  }
}

}  // namespace kubexx::codec

#endif  // KUBEXX_CODEC_FIELD_PATH_H_
