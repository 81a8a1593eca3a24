/// @file
/// Fields: reads single fields of an object, and decodes nothing else of it. Also the paths of
/// members that lead to fields.
#ifndef KUBEXX_CODEC_OBJECT_FIELDS_H_
#define KUBEXX_CODEC_OBJECT_FIELDS_H_

#include <array>
#include <bit>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/box.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/protobuf_fields.h"
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

/// What is in a member without the optionals and boxes around it.
template <class M>
struct ValueIn {
  using Type = M;
};
template <class E>
struct ValueIn<apimachinery::Box<E>> : ValueIn<E> {};
template <class E>
struct ValueIn<std::optional<E>> : ValueIn<E> {};

/// Returns that value, or null if one of the optionals and boxes is empty or `member` is null.
template <class M>
const typename ValueIn<M>::Type* ValueOf(const M* member) {
  if constexpr (std::is_same_v<M, typename ValueIn<M>::Type>) {
    return member;
  } else {
    return member != nullptr && member->has_value() ? ValueOf(&**member) : nullptr;
  }
}

template <class T, class... Members>
struct PathEnd;
template <class T, class M>
struct PathEnd<T, M T::*> {
  using Type = M;
};
template <class T, class M, class... Rest>
struct PathEnd<T, M T::*, Rest...> : PathEnd<typename ValueIn<M>::Type, Rest...> {};

}  // namespace internal
/// @endcond

/// The type of the last member of a path that begins in T. Each member but the last is a struct, or
/// one that may be missing or null, and the next is a member of it. A path that does not fit does
/// not compile.
template <class T, class... Members>
using PathEnd = typename internal::PathEnd<T, Members...>::Type;

/// Returns the member at the end of a path in `object`, or null if an optional struct on the way is
/// not set.
template <class T, class M>
const M* MemberAt(const T& object, M T::* member) {
  return &(object.*member);
}
/// The same for a path of several members.
template <class T, class M, class... Rest>
const PathEnd<T, M T::*, Rest...>* MemberAt(const T& object, M T::* member, Rest... rest) {
  const auto* const outer = internal::ValueOf(&(object.*member));
  return outer != nullptr ? MemberAt(*outer, rest...) : nullptr;
}

/// @cond
namespace internal {

template <class M>
inline constexpr bool kIsText = std::is_same_v<typename ValueIn<M>::Type, std::string>;

/// The elements of a list, also of one that may be missing; nothing for what is no list of structs.
template <class M>
struct ElementIn {
  using Type = void;
};
template <class E>
struct ElementIn<std::vector<E>> {
  using Type = std::conditional_t<std::is_class_v<E> && !kIsText<E>, E, void>;
};

inline std::optional<std::string_view> TextIn(const std::string* text) {
  return text == nullptr ? std::nullopt : std::optional<std::string_view>(*text);
}

}  // namespace internal
/// @endcond

/// Reads single fields of a T, either from protobuf, without decoding the other fields, or from an
/// object that is already decoded. Reading three fields of a pod costs a twentieth of decoding the
/// pod. Code that reads most fields of an object should decode it.
///
/// A path consists of members, the outermost first: `(&Pod::spec, &PodSpec::node_name)`. Members
/// before the last are structs or optional structs; when one of them is not set, the methods return
/// an empty value for the field.
///
/// For an object that can be decoded, each method returns what the decoded object has. kMalformed,
/// with the path of the field, when the field or the framing around it is bad. A field may be
/// readable although the object cannot be decoded because of another field.
///
/// Refers to the bytes or the object that it was made of; texts are views of those. Thread-safe.
template <class T>
class Fields {
 public:
  /// Of a protobuf message without an envelope.
  explicit Fields(std::string_view protobuf)
      : message_{.bytes = protobuf, .object_size = protobuf.size()} {}
  /// Of a decoded object.
  explicit Fields(const T& object) : object_(&object) {}

  /// Returns a copy of the field: `Get(&Pod::metadata, &ObjectMeta::generation)`. It is
  /// value-initialised if the object does not have it. Use Text for a text.
  template <class... Members>
  apimachinery::Result<PathEnd<T, Members...>> Get(Members... path) const {
    PathEnd<T, Members...> member{};
    if (object_ == nullptr) {
      KX_RETURN_IF_ERROR(DecodeProtobufField(FieldsOnPath(path...), message_, &member));
    } else if (const auto* found = MemberAt(*object_, path...)) {
      member = *found;
    }
    return member;
  }

  /// Returns a text without a copy: `Text(&Pod::spec, &PodSpec::node_name)`. "" if the object does
  /// not have it.
  template <class... Members>
  apimachinery::Result<std::string_view> Text(Members... path) const {
    KX_ASSIGN_OR_RETURN(const std::optional<std::string_view> text, OptionalText(path...));
    return text.value_or(std::string_view());
  }
  /// Returns an optional text without a copy. For a text that is not optional, whether there is one
  /// depends on whoever has encoded the object, so use Text for it.
  template <class... Members>
  apimachinery::Result<std::optional<std::string_view>> OptionalText(Members... path) const {
    constexpr bool kIsText = internal::kIsText<PathEnd<T, Members...>>;
    static_assert(kIsText, "kubexx: the path leads to no text; use Get");
    if constexpr (!kIsText) {
      std::unreachable();  // one error is enough
    } else if (object_ == nullptr) {
      return FindProtobufText(FieldsOnPath(path...), message_);
    } else {
      return internal::TextIn(internal::ValueOf(MemberAt(*object_, path...)));
    }
  }

  /// Returns the value at `key` in a map of texts, without a copy; std::nullopt if there is none or
  /// no map: `Entry("app", &Pod::metadata, &ObjectMeta::labels)`.
  template <class... Members>
  apimachinery::Result<std::optional<std::string_view>> Entry(std::string_view key,
                                                              Members... path) const {
    using Map = std::map<std::string, std::string>;
    constexpr bool kIsMap =
        std::is_same_v<typename internal::ValueIn<PathEnd<T, Members...>>::Type, Map>;
    static_assert(kIsMap, "kubexx: the path leads to no map of texts; use Get");
    if constexpr (!kIsMap) {
      std::unreachable();  // one error is enough
    } else if (object_ == nullptr) {
      return FindProtobufEntry(FieldsOnPath(path...), message_, key);
    } else {
      const Map* const map = internal::ValueOf(MemberAt(*object_, path...));
      if (map == nullptr) {
        return std::nullopt;
      }
      const auto found = map->find(std::string(key));
      return internal::TextIn(found == map->end() ? nullptr : &found->second);
    }
  }

  /// Returns whether a field has the same value here and in `other`: the same bytes, which is found
  /// without decoding them, or else bytes that decode to the same value.
  template <class... Members>
  apimachinery::Result<bool> SameAs(const Fields& other, Members... path) const {
    if (object_ == nullptr && other.object_ == nullptr &&
        HaveSameProtobufBytes(FieldsOnPath(path...), message_.bytes, other.message_.bytes)) {
      return true;
    }
    KX_ASSIGN_OR_RETURN(const auto value, Get(path...));
    KX_ASSIGN_OR_RETURN(const auto other_value, other.Get(path...));
    return value == other_value;
  }

  /// Calls `each` with the Fields of each element of a list of structs, in order:
  /// `ForEach(each, &Pod::spec, &PodSpec::containers)`. A list that is missing has no elements.
  /// `each` is a function Result<void>(const Fields<Container>&); an error ends the walk and is
  /// returned.
  template <class F, class... Members>
  apimachinery::Result<void> ForEach(F&& each, Members... path) const {
    using List = typename internal::ValueIn<PathEnd<T, Members...>>::Type;
    using Element = typename internal::ElementIn<List>::Type;
    static_assert(!std::is_void_v<Element>,
                  "kubexx: the path leads to no list of structs; use Get");
    if constexpr (std::is_void_v<Element>) {
      std::unreachable();  // one error is enough
    } else {
      constexpr bool kTakesFields =
          std::is_invocable_r_v<apimachinery::Result<void>, F&, const Fields<Element>&>;
      static_assert(kTakesFields,
                    "kubexx: ForEach takes a function Result<void>(const Fields<Element>&) of the "
                    "list's elements.");
      if constexpr (kTakesFields) {
        return ForEachIn<Element>(each, path...);
      } else {
        std::unreachable();
      }
    }
  }

 private:
  template <class U>
  friend class Fields;
  using Message = MessageBytes;
  explicit Fields(Message message) : message_(message) {}

  template <class Element, class F, class... Members>
  apimachinery::Result<void> ForEachIn(F& each, Members... path) const {
    if (object_ == nullptr) {
      return ForEachProtobufElement(
          FieldsOnPath(path...), message_, [this, &each](std::string_view bytes) {
            return each(
                Fields<Element>(Message{.bytes = bytes, .object_size = message_.object_size}));
          });
    }
    if (const auto* list = internal::ValueOf(MemberAt(*object_, path...))) {
      for (const Element& element : *list) {
        KX_RETURN_IF_ERROR(each(Fields<Element>(element)));
      }
    }
    return {};
  }

  Message message_{};
  const T* object_ = nullptr;  ///< null for a message
};

}  // namespace kubexx::codec

#endif  // KUBEXX_CODEC_OBJECT_FIELDS_H_
