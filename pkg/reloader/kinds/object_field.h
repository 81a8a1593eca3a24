/// @file
/// A field of an object, as people name it.
#ifndef KUBEXX_RELOADER_KINDS_OBJECT_FIELD_H_
#define KUBEXX_RELOADER_KINDS_OBJECT_FIELD_H_

#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::reloader {

/// A step on the way to a field: into a member, or into the element of a list that has `value` at
/// its member `key`. A value type.
struct FieldStep {
  std::string member{};  ///< empty: the step is into an element
  std::string key{};
  std::string value{};
  bool operator==(const FieldStep&) const = default;
};

/// A field, such as `status.revision`, `status.conditions[type=Ready].reason` or
/// `metadata.annotations[example.com/build]`. A value type.
struct ObjectField {
  std::string text{};  ///< as people write it, without a dot at the beginning
  std::vector<FieldStep> steps{};
  bool operator==(const ObjectField&) const = default;

  /// Reads the text. Fails with kInvalidConfig, and a message that says what a field looks like;
  /// also for fields that change with each write of the object.
  static apimachinery::Result<ObjectField> Parse(std::string_view text);
};

/// The field's value in the object; null when it is not there yet: controllers leave a field out
/// before they have something to say, or write null, or an empty text, list or object. Valid until
/// the object changes.
const codec::JsonTree* FieldValueOf(const ObjectField& field, const codec::JsonTree& object);

/// The value as JSON in which the order of members does not count: equal values have equal texts.
std::string CanonicalText(const codec::JsonTree& value);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_KINDS_OBJECT_FIELD_H_
