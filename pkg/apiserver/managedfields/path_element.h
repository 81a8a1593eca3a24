/// @file
/// One step of the path to a field.
#ifndef KUBEXX_APISERVER_MANAGEDFIELDS_PATH_ELEMENT_H_
#define KUBEXX_APISERVER_MANAGEDFIELDS_PATH_ELEMENT_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::managedfields {

/// Selects a member of a map or an element of a list. The order is: fields, keys, values, indexes;
/// within a kind by content, with numbers compared as numbers. A value type. Semantics:
/// structured-merge-diff's fieldpath.PathElement.
class PathElement {
 public:
  /// The kinds in their order.
  enum class Kind : std::uint8_t {
    kField,  ///< "f:name", a member of a map
    kKey,    ///< `k:{"name":"a"}`, the element of a list that has these members
    kValue,  ///< `v:"a"`, the element of a set
    kIndex,  ///< "i:0", an element of any list
  };

  static PathElement Field(std::string_view name);
  /// `members` is an object of scalars; their order does not count.
  static PathElement Key(const codec::JsonTree& members);
  static PathElement Value(codec::JsonTree value);
  static PathElement Index(std::int64_t index);

  /// Reads the form of FieldsV1, such as "f:spec". Returns std::nullopt for an invalid text.
  static std::optional<PathElement> Parse(std::string_view text);

  Kind kind() const { return kind_; }
  /// For kField the name, otherwise JSON. Valid as long as the element.
  const std::string& text() const { return text_; }

  /// The form of FieldsV1, such as "f:spec".
  std::string Serialized() const;
  /// The form for people, as in a path: `.spec`, `[name="a"]`, `[="a"]`, `[0]`.
  std::string ToString() const;

  std::weak_ordering operator<=>(const PathElement& other) const;
  bool operator==(const PathElement& other) const { return (*this <=> other) == 0; }

 private:
  PathElement(Kind kind, std::string text, codec::JsonTree value)
      : kind_(kind), text_(std::move(text)), value_(std::move(value)) {}

  Kind kind_;
  std::string text_;
  codec::JsonTree value_;  // what `text_` is the JSON of; null for kField
};

/// A path from the object down. A path without steps is the object itself.
using Path = std::vector<PathElement>;

/// The path as text, such as ".spec.containers[name=\"a\"].image".
std::string ToString(const Path& path);

}  // namespace kubexx::apiserver::managedfields

#endif  // KUBEXX_APISERVER_MANAGEDFIELDS_PATH_ELEMENT_H_
