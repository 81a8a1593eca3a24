/// @file
/// Field selectors in the API's text form: "metadata.name=web,spec.nodeName!=n1".
#ifndef KUBEXX_APIMACHINERY_FIELDS_H_
#define KUBEXX_APIMACHINERY_FIELDS_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"

namespace kubexx::apimachinery {

/// One requirement of a field selector: the field has this value or, when `equal` is false, another
/// one or none.
struct FieldRequirement {
  std::string field{};
  std::string value{};
  bool equal = true;
  /// Whether a field with this value satisfies the requirement. A missing field has the value "".
  bool Admits(std::string_view actual) const { return (actual == value) == equal; }
  /// The canonical text, with escaped characters in the value.
  std::string ToString() const;
  bool operator==(const FieldRequirement&) const = default;
};

/// A conjunction of requirements; an empty one matches everything. It does not know which fields a
/// type has: whoever evaluates it decides that. A value type. Grammar and meaning are those of
/// apimachinery's fields.ParseSelector and fields.Selector.
class FieldSelector {
 public:
  FieldSelector() = default;

  /// Parses a selector: terms "field=value", "field==value" or "field!=value" with commas between
  /// them, where "\" stands before each ",", "=" and "\" of a value. kBadRequest, which names the
  /// term, when `text` is not a selector.
  static Result<FieldSelector> Parse(std::string_view text);

  /// Makes a selector that requires exactly these fields and values, as fields.SelectorFromSet.
  static FieldSelector FromMap(const std::map<std::string, std::string>& fields);

  bool empty() const { return requirements_.empty(); }
  const std::vector<FieldRequirement>& requirements() const { return requirements_; }
  /// The value that the selector requires `field` to have; "" when it does not require one value.
  /// As RequiresExactMatch.
  std::string Exactly(std::string_view field) const;

  /// The text of the requirements in their order, with commas between them.
  std::string ToString() const;

  bool operator==(const FieldSelector&) const = default;

 private:
  std::vector<FieldRequirement> requirements_;
};

}  // namespace kubexx::apimachinery

#endif  // KUBEXX_APIMACHINERY_FIELDS_H_
