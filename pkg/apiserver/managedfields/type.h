/// @file
/// What is known of the type of a value: its members, and how it is merged.
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

/// A place in the description of a type: in the codec's tables or in the schema of a custom
/// resource. Cheap to copy; what it was made from must outlive it. Thread-safe.
class Type {
 public:
  /// What a value is to the merging of objects.
  enum class Shape : std::uint8_t { kMap, kScalar, kList };

  /// That of what is not declared: no value has it.
  Type() = default;
  /// A struct of the built-in API.
  static Type Builtin(const codec::TypeSchema& schema);
  /// A custom resource. `schema` is its openAPIV3Schema; null: its objects are what they are.
  static Type Custom(const codec::JsonTree* schema);
  /// Of a value that is what it is: maps are granular, lists atomic.
  static Type Anything();

  explicit operator bool() const { return form_ != Form::kNone; }

  /// That of a value; for null that of the values of this type.
  Shape ShapeOf(const codec::JsonTree& value) const;
  /// Whether values that are maps, or lists, are merged as a whole.
  bool AtomicMap() const;
  bool AtomicList() const { return ListMerge() == Merge::kAtomic; }

  /// Whether the member has a type of its own.
  bool Declares(std::string_view member) const;
  /// Of a map's member; no type when it may not be.
  Type Member(std::string_view name) const;
  /// Whether a custom resource of this type loses the member when it is stored: its schema does not
  /// have it, and keeps no others. Member may have a type for it, since a config may.
  bool Prunes(std::string_view name) const;
  /// Of a list's elements.
  Type Element() const;
  /// How a strategic merge patch changes that member of a map; null where nothing is said of it.
  const PatchRule* PatchRuleOf(std::string_view member) const;

  /// How an element of a list that is not atomic is named; kMalformed when it lacks all keys, or is
  /// no scalar in a set.
  apimachinery::Result<PathElement> StepTo(const codec::JsonTree& element) const;

  /// What a value of this type has to be, for errors; "" when it is that.
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
