/// @file
/// The JSON paths in definitions, in additionalPrinterColumns and in the scale subresource.
#ifndef KUBEXX_APISERVER_SCHEMA_JSON_PATH_H_
#define KUBEXX_APISERVER_SCHEMA_JSON_PATH_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::schema {

/// A path such as `.spec.replicas`, `.metadata.labels['a.b/c']`, `.spec.hosts[0]`, `.spec.hosts[*]`
/// or `.status.conditions[?(@.type=="Ready")].status`: It may have members, indices, wildcards, and
/// comparisons of one member with a string or number by == and !=. It may not have slices,
/// recursive descent or unions. A value type.
class JsonPath {
 public:
  /// Returns std::nullopt for a text that is not such a path.
  static std::optional<JsonPath> Parse(std::string_view text);

  /// The values that the path selects, in the order of the document. Valid until `root` changes.
  std::vector<const codec::JsonTree*> Find(const codec::JsonTree& root) const;
  /// The same, but looks at `budget` members and elements at most, and subtracts from `budget` the
  /// number that it has looked at. When the budget does not suffice, the result is empty and the
  /// budget 0.
  std::vector<const codec::JsonTree*> FindWithin(const codec::JsonTree& root,
                                                 std::size_t& budget) const;
  /// The first selected value; null when there is none.
  const codec::JsonTree* First(const codec::JsonTree& root) const;

  /// The names of the members when the path consists of members only, as the paths of a scale must;
  /// otherwise std::nullopt.
  std::optional<std::vector<std::string>> Members() const;

 private:
  enum class Kind : std::uint8_t { kMember, kIndex, kAll, kFilter };
  struct Step {
    Kind kind = Kind::kMember;
    std::string name{};  // the member; of a filter: that is compared, with dots between
    std::size_t index = 0;
    codec::JsonTree value{};
    bool equal = true;
  };
  class Parser;
  static void Take(const Step& step, const codec::JsonTree& from,
                   std::vector<const codec::JsonTree*>& found);

  std::vector<Step> steps_{};
};

}  // namespace kubexx::apiserver::schema

#endif  // KUBEXX_APISERVER_SCHEMA_JSON_PATH_H_
