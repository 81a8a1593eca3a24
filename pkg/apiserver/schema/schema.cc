#include "kubexx/apiserver/schema/schema.h"

#include <utility>

namespace kubexx::apiserver::schema {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

bool FlagOf(const JsonTree& tree, std::string_view name) {
  const JsonTree* const found = tree.Find(name);
  return found != nullptr && found->AsBool().value_or(false);
}

std::optional<std::int64_t> Count(const JsonTree& tree, std::string_view name) {
  const JsonTree* const found = tree.Find(name);
  return found == nullptr ? std::nullopt : found->AsInt();
}

std::optional<double> Bound(const JsonTree& tree, std::string_view name) {
  const JsonTree* const found = tree.Find(name);
  return found == nullptr ? std::nullopt : found->AsDouble();
}

std::vector<std::string> Strings(const JsonTree& tree, std::string_view name) {
  std::vector<std::string> strings;
  if (const JsonTree* const found = tree.Find(name)) {
    for (const JsonTree& element : found->elements()) {
      if (const std::string* const text = element.AsString()) {
        strings.push_back(*text);
      }
    }
  }
  return strings;
}

/// Builds the nodes from the leaves up.
class Parser {
 public:
  /// `lenient` leaves out invalid patterns.
  Parser(Patterns& patterns, bool lenient) : patterns_(patterns), lenient_(lenient) {}

  Result<SchemaRef> Parse(const JsonTree& tree) {
    auto schema = std::make_shared<Schema>();
    ReadValues(tree, *schema);
    KX_RETURN_IF_ERROR(ReadPattern(tree, *schema));
    KX_RETURN_IF_ERROR(ReadChildren(tree, *schema));
    KX_RETURN_IF_ERROR(ReadJunctors(tree, *schema));
    return SchemaRef(std::move(schema));
  }

 private:
  static void ReadValues(const JsonTree& tree, Schema& schema) {
    schema.type = tree.TextAt("type");
    schema.format = tree.TextAt("format");
    schema.nullable = FlagOf(tree, "nullable");
    schema.int_or_string = FlagOf(tree, "x-kubernetes-int-or-string");
    schema.preserve_unknown = FlagOf(tree, "x-kubernetes-preserve-unknown-fields");
    schema.embedded_resource = FlagOf(tree, "x-kubernetes-embedded-resource");
    schema.exclusive_minimum = FlagOf(tree, "exclusiveMinimum");
    schema.exclusive_maximum = FlagOf(tree, "exclusiveMaximum");
    schema.unique_items = FlagOf(tree, "uniqueItems");
    const std::string_view list_type = tree.TextAt("x-kubernetes-list-type");
    schema.list_type = list_type == "set"   ? ListType::kSet
                       : list_type == "map" ? ListType::kMap
                                            : ListType::kAtomic;
    schema.list_keys = Strings(tree, "x-kubernetes-list-map-keys");
    schema.required = Strings(tree, "required");
    if (const JsonTree* const value = tree.Find("default")) {
      schema.default_value = *value;
      schema.default_bytes = value->ToJson().size();
    }
    if (const JsonTree* const values = tree.Find("enum")) {
      schema.enum_values.assign(values->elements().begin(), values->elements().end());
    }
    schema.minimum = Bound(tree, "minimum");
    schema.maximum = Bound(tree, "maximum");
    schema.multiple_of = Bound(tree, "multipleOf");
    schema.min_length = Count(tree, "minLength");
    schema.max_length = Count(tree, "maxLength");
    schema.min_items = Count(tree, "minItems");
    schema.max_items = Count(tree, "maxItems");
    schema.min_properties = Count(tree, "minProperties");
    schema.max_properties = Count(tree, "maxProperties");
  }

  Result<void> ReadPattern(const JsonTree& tree, Schema& schema) {
    const std::string_view text = tree.TextAt("pattern");
    if (text.empty()) {
      return {};
    }
    const Pattern* const pattern = patterns_.Find(text);
    if (pattern != nullptr && pattern->problem().empty()) {
      schema.pattern = *pattern;
    } else if (!lenient_) {
      return Fail(Reason::kInvalid,
                  pattern == nullptr ? std::string(kTooManyPatterns)
                                     : "the pattern " + JsonTree(text).ToJson() +
                                           " is no expression: " + pattern->problem(),
                  422);
    }
    return {};
  }

  /// Returns null for a member that is missing or is not an object.
  Result<SchemaRef> Child(const JsonTree* tree) {
    if (tree == nullptr || !tree->IsObject()) {
      return SchemaRef();
    }
    return Parse(*tree);
  }

  Result<void> ReadChildren(const JsonTree& tree, Schema& schema) {
    if (const JsonTree* const properties = tree.Find("properties")) {
      for (const JsonTree::Member& member : properties->members()) {
        KX_ASSIGN_OR_RETURN(SchemaRef child, Child(&member.value));
        if (child != nullptr) {
          schema.properties.emplace(member.key, std::move(child));
        }
      }
    }
    for (const auto& [key, property] : schema.properties) {
      if (property->default_value) {
        schema.defaulted.push_back(key);
      }
    }
    KX_ASSIGN_OR_RETURN(schema.items, Child(tree.Find("items")));
    const JsonTree* const additional = tree.Find("additionalProperties");
    schema.additional_any = additional != nullptr && additional->AsBool().value_or(false);
    KX_ASSIGN_OR_RETURN(schema.additional, Child(additional));
    return {};
  }

  Result<void> ReadJunctors(const JsonTree& tree, Schema& schema) {
    for (const auto& [name, list] : {std::pair("allOf", &schema.all_of),
                                     {"anyOf", &schema.any_of},
                                     {"oneOf", &schema.one_of}}) {
      if (const JsonTree* const found = tree.Find(name)) {
        for (const JsonTree& element : found->elements()) {
          KX_ASSIGN_OR_RETURN(SchemaRef child, Parse(element));
          list->push_back(std::move(child));
        }
      }
    }
    if (const JsonTree* const found = tree.Find("not"); found != nullptr && found->IsObject()) {
      KX_ASSIGN_OR_RETURN(schema.not_, Parse(*found));
    }
    return {};
  }

  Patterns& patterns_;
  const bool lenient_;
};

}  // namespace

const Schema* Schema::Member(std::string_view key) const {
  const auto found = properties.find(key);
  return found == properties.end() ? additional.get() : found->second.get();
}

Result<SchemaRef> ParseSchema(const JsonTree& tree) {
  Patterns patterns;
  return Parser(patterns, false).Parse(tree);
}

SchemaRef ParseLeniently(const JsonTree& tree, Patterns& patterns) {
  auto schema = Parser(patterns, true).Parse(tree);
  return schema ? std::move(*schema) : nullptr;
}

}  // namespace kubexx::apiserver::schema
