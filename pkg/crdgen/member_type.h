/// @file
/// What the types of members in a header mean.
#ifndef KUBEXX_CRDGEN_MEMBER_TYPE_H_
#define KUBEXX_CRDGEN_MEMBER_TYPE_H_

#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/crdgen/header.h"
#include "kubexx/crdgen/model.h"

namespace kubexx::crdgen {

/// A type of C++ or of the library that is no container.
struct KnownType {
  std::string_view name{};      ///< in C++, with its namespace
  std::string_view kind{};      ///< the enumerator of codec::Kind
  std::string_view table{};     ///< the codec's table, if it is a struct
  std::string_view schema{};    ///< the schema, in JSON
  bool may_be_omitted = false;  ///< whether JSON without the field and its zero value are the same
};

/// The type of a member, without its containers.
struct MemberType {
  Shape shape = Shape::kPlain;
  bool is_optional_container = false;  ///< std::optional of a list or map
  bool is_box = false;                 ///< of kOptional: in an apimachinery::Box
  bool is_twice_optional = false;      ///< std::optional<std::optional<T>>, or of a Box
  /// One of both: the type of an element.
  const KnownType* known = nullptr;
  const HeaderStruct* structure = nullptr;
  /// The aliases of the value and of its elements, from the member's to the type's.
  std::vector<const HeaderAlias*> aliases{};
  std::vector<const HeaderAlias*> element_aliases{};
};

/// Resolves a type of a header. kInvalid for one that no field of the API can have; the message
/// says what to write instead.
apimachinery::Result<MemberType> ResolveType(const Header& header, const HeaderType& type);

}  // namespace kubexx::crdgen

#endif  // KUBEXX_CRDGEN_MEMBER_TYPE_H_
