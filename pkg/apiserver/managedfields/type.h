/// @file
/// The type of a value: its members, and how values of it are merged.
#ifndef KUBEXX_APISERVER_MANAGEDFIELDS_TYPE_H_
#define KUBEXX_APISERVER_MANAGEDFIELDS_TYPE_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/managedfields/merge_rules.h"
#include "kubexx/apiserver/managedfields/path_element.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/codec/schema.h"

namespace kubexx::apiserver::managedfields {

/// Refers to a type in the codec's tables or in the schema of a custom resource, which must outlive
/// this object. Cheap to copy. Thread-safe.
class Type {
 public:
  /// The kinds of values that merging distinguishes.
  enum class Shape : std::uint8_t { kMap, kScalar, kList };

  /// The type of undeclared members. No value has it.
  Type() = default;
  /// A struct of the built-in API.
  static Type Builtin(const codec::TypeSchema& schema);
  /// The type of a custom resource. `schema` is its openAPIV3Schema; when it is null, the type is
  /// derived from each value (see Anything).
  static Type Custom(const codec::JsonTree* schema);
  /// A type that is derived from the value alone: maps are granular, lists atomic.
  static Type Anything();

  explicit operator bool() const { return form_ != Form::kNone; }

  /// The shape of a value. For null it is the shape that this type's values have.
  Shape ShapeOf(const codec::JsonTree& value) const;
  /// Whether maps of this type are merged as a whole; AtomicList is the same for lists.
  bool AtomicMap() const;
  bool AtomicList() const { return ListMerge() == Merge::kAtomic; }

  /// Whether the type declares the member.
  bool Declares(std::string_view member) const;
  /// The type of a map's member; the empty type when the member is not allowed.
  Type Member(std::string_view name) const;
  /// Whether storing a custom resource of this type drops the member, because the schema does not
  /// declare it and does not preserve unknown fields. Member may still have a type for it, because
  /// an applied config may contain it.
  bool Prunes(std::string_view name) const;
  /// The type of a list's elements.
  Type Element() const;
  /// How a strategic merge patch changes that member of a map; null when there is no rule for it.
  const PatchRule* PatchRuleOf(std::string_view member) const;

  /// The path element of an element of a list that is not atomic. Returns kMalformed when the
  /// element lacks all keys, or when the list is a set and the element is not a scalar.
  apimachinery::Result<PathElement> StepTo(const codec::JsonTree& element) const;

  /// For errors: what a value of this type has to be; "" when `value` is that.
  std::string_view Mismatch(const codec::JsonTree& value) const;

 private:
  enum class Form : std::uint8_t {
    kNone,
    kStruct,     // schema_
    kContainer,  // field_ of schema_, a list or map
    kElement,    // one element of field_ of schema_
    kCustom,     // custom_
    kAnything,
    kAtom,  // anything, merged as a whole
    kText,
  };

  static Type At(Form form, const codec::TypeSchema* schema, const codec::FieldSchema* field);
  Type CustomMember(std::string_view name) const;
  bool IsWholeObject() const;  // of kCustom
  static Type OfCustom(const codec::JsonTree& schema, bool preserve);
  const codec::TypeSchema* Struct() const;
  Merge ListMerge() const;
  std::vector<std::string_view> Keys() const;
  std::optional<codec::JsonTree> DefaultOf(std::string_view key) const;
  bool IsMap() const;
  bool IsList() const;
  bool IsUntyped() const;

  Form form_ = Form::kNone;
  bool root_ = false;      // of a custom resource
  bool preserve_ = false;  // fields that a custom resource does not declare may be
  const codec::TypeSchema* schema_ = nullptr;
  const codec::FieldSchema* field_ = nullptr;
  const codec::JsonTree* custom_ = nullptr;
};

}  // namespace kubexx::apiserver::managedfields

#endif  // KUBEXX_APISERVER_MANAGEDFIELDS_TYPE_H_
