/// @file
/// Label selectors in the API's text form: "app=web,tier in (a,b),!canary".
#ifndef KUBEXX_APIMACHINERY_LABELS_H_
#define KUBEXX_APIMACHINERY_LABELS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"

namespace kubexx::apimachinery {

/// An object's labels.
using LabelMap = std::map<std::string, std::string>;

/// The operator of one requirement of a selector.
enum class SelectorOperator : std::uint8_t {
  kExists,        ///< "key"
  kDoesNotExist,  ///< "!key"
  kEquals,        ///< "key=v", "key==v"
  kNotEquals,     ///< "key!=v"; true also when the key is absent
  kIn,            ///< "key in (a,b)"
  kNotIn,         ///< "key notin (a,b)"; true also when the key is absent
  kGreaterThan,   ///< "key>5"; both sides are integers
  kLessThan,      ///< "key<5"
};

/// One requirement. `values` are in ascending order without duplicates.
struct LabelRequirement {
  std::string key{};
  SelectorOperator op = SelectorOperator::kExists;
  std::vector<std::string> values{};
  bool Matches(const LabelMap& labels) const;
  /// Whether labels in which `key` has this value satisfy the requirement; std::nullopt means that
  /// there is no such label.
  bool Admits(std::optional<std::string_view> value) const;
  std::string ToString() const;
  bool operator==(const LabelRequirement&) const = default;
};

/// A conjunction of requirements; an empty one matches everything. A value type. Grammar and
/// meaning are those of apimachinery's labels.Parse and labels.Selector.
class LabelSelector {
 public:
  LabelSelector() = default;

  /// Parses a selector. kBadRequest, which names the position, when `text` is not a selector.
  static Result<LabelSelector> Parse(std::string_view text);

  /// Makes a selector that requires exactly these labels and values, as labels.SelectorFromSet.
  static LabelSelector FromMap(const LabelMap& labels);

  bool Matches(const LabelMap& labels) const;
  bool empty() const { return requirements_.empty(); }
  const std::vector<LabelRequirement>& requirements() const { return requirements_; }

  /// Returns the canonical text: requirements in ascending order of their keys, and no spaces
  /// around operators with one value.
  std::string ToString() const;

  bool operator==(const LabelSelector&) const = default;

 private:
  explicit LabelSelector(std::vector<LabelRequirement> requirements);

  std::vector<LabelRequirement> requirements_;
};

/// Whether `text` may be a label's key: an optional DNS prefix and "/", then at most 63 characters
/// of [-A-Za-z0-9_.] that begin and end with a letter or digit.
bool IsValidLabelKey(std::string_view text);

/// Whether `text` may be a label's value: empty, or as the name part of a key.
bool IsValidLabelValue(std::string_view text);

}  // namespace kubexx::apimachinery

#endif  // KUBEXX_APIMACHINERY_LABELS_H_
