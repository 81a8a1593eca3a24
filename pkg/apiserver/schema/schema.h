/// @file
/// The schema of a custom resource, parsed for checking objects.
#ifndef KUBEXX_APISERVER_SCHEMA_SCHEMA_H_
#define KUBEXX_APISERVER_SCHEMA_SCHEMA_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/schema/pattern.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::schema {

struct Schema;
/// A reference to a schema, which several types may share; null when there is no schema.
using SchemaRef = std::shared_ptr<const Schema>;

/// x-kubernetes-list-type.
enum class ListType : std::uint8_t { kAtomic, kSet, kMap };

/// One node of an openAPIV3Schema (apiextensions/v1 JSONSchemaProps), without the fields that are
/// only documentation. Immutable once it is parsed.
struct Schema {
  std::string type{};  ///< "" for any type
  std::string format{};
  bool nullable = false;
  bool int_or_string = false;
  bool preserve_unknown = false;
  bool embedded_resource = false;
  bool exclusive_minimum = false;
  bool exclusive_maximum = false;
  bool additional_any = false;  ///< "additionalProperties: true"
  ListType list_type = ListType::kAtomic;
  std::vector<std::string> list_keys{};
  std::optional<codec::JsonTree> default_value{};
  std::size_t default_bytes = 0;  ///< size of the default as JSON
  std::vector<codec::JsonTree> enum_values{};
  std::optional<Pattern> pattern{};
  std::optional<double> minimum{};
  std::optional<double> maximum{};
  std::optional<double> multiple_of{};
  std::optional<std::int64_t> min_length{};
  std::optional<std::int64_t> max_length{};
  std::optional<std::int64_t> min_items{};
  std::optional<std::int64_t> max_items{};
  std::optional<std::int64_t> min_properties{};
  std::optional<std::int64_t> max_properties{};
  bool unique_items = false;
  std::vector<std::string> required{};
  std::map<std::string, SchemaRef, std::less<>> properties{};
  /// Names of the properties that have defaults, in their order.
  std::vector<std::string> defaulted{};
  SchemaRef additional{};  ///< the schema of other members; null when there is none
  SchemaRef items{};
  std::vector<SchemaRef> all_of{};
  std::vector<SchemaRef> any_of{};
  std::vector<SchemaRef> one_of{};
  SchemaRef not_{};

  /// The schema of the member `key`, which may be a property or an additional property; null when
  /// there is none.
  const Schema* Member(std::string_view key) const;
};

/// The error text for patterns that Patterns refuses.
inline constexpr std::string_view kTooManyPatterns =
    "the patterns of the schema are too large: use smaller repetitions or fewer patterns";

/// Parses an openAPIV3Schema, which must have the types of JSONSchemaProps. Returns kInvalid when a
/// pattern is not a regular expression, or Patterns refuses it.
apimachinery::Result<SchemaRef> ParseSchema(const codec::JsonTree& tree);

/// The same for a schema that has not been checked yet: it leaves out such patterns. Never null.
SchemaRef ParseLeniently(const codec::JsonTree& tree, Patterns& patterns);

}  // namespace kubexx::apiserver::schema

#endif  // KUBEXX_APISERVER_SCHEMA_SCHEMA_H_
