/// @file
/// The JSON paths of definitions: additionalPrinterColumns and the scale subresource.
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
/// or `.status.conditions[?(@.type=="Ready")].status`: members, indices, wildcards and comparisons
/// of one member with a string or number by == and !=. Not: slices, recursive descent, unions.
/// A value type.
class JsonPath {
 public:
  /// Nothing for what is no such path.
  static std::optional<JsonPath> Parse(std::string_view text);

  /// What it leads to, in the order of the document; valid until `root` changes.
  std::vector<const codec::JsonTree*> Find(const codec::JsonTree& root) const;
  /// The same, looking at no more members and elements than `budget`, of which it takes those that
  /// it has looked at; nothing, and a budget of 0, where they do not suffice.
  std::vector<const codec::JsonTree*> FindWithin(const codec::JsonTree& root,
                                                 std::size_t& budget) const;
  /// The first of them; null when there is none.
  const codec::JsonTree* First(const codec::JsonTree& root) const;

  /// The names, when it consists of members only, as a scale's paths must.
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
