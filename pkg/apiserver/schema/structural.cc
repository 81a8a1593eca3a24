#include "kubexx/apiserver/schema/structural.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "kubexx/apiserver/schema/causes.h"
#include "kubexx/apiserver/schema/pattern.h"
#include "kubexx/apiserver/schema/schema.h"
#include "kubexx/apiserver/schema/shape.h"
#include "kubexx/apiserver/schema/validate.h"

namespace kubexx::apiserver::schema {
namespace {

using apimachinery::StatusCause;
using codec::JsonTree;

enum class Place : std::uint8_t { kRoot, kItem, kField };

constexpr std::string_view kJunctors[] = {"allOf", "anyOf", "oneOf"};
constexpr std::string_view kTooManyDefaults =
    "the defaults of the definition, with those that they get themselves, are too large";
constexpr std::string_view kRuleField = "x-kubernetes-validations";

bool IsSet(const JsonTree& tree, std::string_view name) {
  const JsonTree* const found = tree.Find(name);
  return found != nullptr && found->AsBool().value_or(false);
}

std::vector<JsonTree> Texts(std::initializer_list<const char*> texts) {
  std::vector<JsonTree> values;
  for (const char* const text : texts) {
    values.emplace_back(text);
  }
  return values;
}

std::string Indexed(const std::string& path, std::string_view field, std::size_t index) {
  return path + "." + std::string(field) + "[" + std::to_string(index) + "]";
}
std::string Keyed(const std::string& path, std::string_view key) {
  return path + ".properties[" + std::string(key) + "]";
}

class Checker {
 public:
  Checker(std::vector<StatusCause>& causes, Patterns& patterns)
      : causes_(causes), patterns_(patterns) {}

  /// `parsed`: the same, for its default; null where it has no place for one.
  void Check(const JsonTree& schema, const Schema* parsed, const std::string& path, Place place) {
    CheckKeywords(schema, path);
    CheckType(schema, path, place);
    CheckObjectKeywords(schema, path, place);
    CheckListType(schema, path);
    if (place == Place::kRoot) {
      CheckRoot(schema, path);
    }
    CheckDefault(schema, parsed, path);
    CheckJunctors(schema, path);
    if (const JsonTree* const items = schema.Find("items"); items != nullptr) {
      Check(*items, parsed == nullptr ? nullptr : parsed->items.get(), path + ".items",
            Place::kItem);
    }
    if (const JsonTree* const properties = schema.Find("properties")) {
      for (const JsonTree::Member& member : properties->members()) {
        Check(member.value, PropertyOf(parsed, member.key), Keyed(path, member.key), Place::kField);
      }
    }
    if (const JsonTree* const additional = schema.Find("additionalProperties");
        additional != nullptr && additional->IsObject()) {
      Check(*additional, parsed == nullptr ? nullptr : parsed->additional.get(),
            path + ".additionalProperties", Place::kField);
    }
  }

 private:
  static const Schema* PropertyOf(const Schema* parsed, const std::string& key) {
    if (parsed == nullptr) {
      return nullptr;
    }
    const auto found = parsed->properties.find(key);
    return found == parsed->properties.end() ? nullptr : found->second.get();
  }

  void Add(StatusCause cause) { causes_.push_back(std::move(cause)); }

  void CheckKeywords(const JsonTree& schema, const std::string& path) {
    for (const char* const field : {"additionalItems", "patternProperties", "definitions",
                                    "dependencies", "$ref", "id", "$schema"}) {
      if (schema.Find(field) != nullptr) {
        Add(ForbiddenCause(path + "." + field, std::string(field) + " is not supported"));
      }
    }
    if (IsSet(schema, "uniqueItems")) {
      Add(ForbiddenCause(
          path + ".uniqueItems",
          "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"));
    }
    if (const std::string_view text = schema.TextAt("pattern"); !text.empty()) {
      const Pattern* const pattern = patterns_.Find(text);
      if (pattern != nullptr && !pattern->problem().empty()) {
        Add(InvalidCause(path + ".pattern", text,
                         "must be a valid regular expression, but isn't: " + pattern->problem()));
      }
    }
  }

  void CheckType(const JsonTree& schema, const std::string& path, Place place) {
    const std::string_view type = schema.TextAt("type");
    const bool int_or_string = IsSet(schema, "x-kubernetes-int-or-string");
    const bool preserve = IsSet(schema, "x-kubernetes-preserve-unknown-fields");
    if (type.empty()) {
      const char* const what = place == Place::kRoot ? "must not be empty at the root"
                               : place == Place::kItem
                                   ? "must not be empty for specified array items"
                                   : "must not be empty for specified object "
                                     "fields";
      if (place == Place::kRoot || (!int_or_string && !preserve)) {
        Add(RequiredCause(path + ".type", what));
      }
    } else if (int_or_string) {
      Add(InvalidCause(path + ".type", type,
                       "must be empty if x-kubernetes-int-or-string is true"));
    } else if (const auto known =
                   Texts({"array", "boolean", "integer", "number", "object", "string"});
               std::ranges::find(known, JsonTree(type)) == known.end()) {
      Add(NotSupportedCause(path + ".type", type, known));
    } else if (place == Place::kRoot && type != "object") {
      Add(InvalidCause(path + ".type", type, "must be object at the root"));
    }
    if (type == "array" && schema.Find("items") == nullptr) {
      Add(RequiredCause(path + ".items", "must be specified"));
    }
    if (preserve && !type.empty() && type != "object") {
      Add(InvalidCause(path + ".type", type,
                       "must be object if x-kubernetes-preserve-unknown-fields is true"));
    }
    if (const JsonTree* const items = schema.Find("items"); items != nullptr && items->IsArray()) {
      Add(ForbiddenCause(path + ".items", "items must be a schema object and not an array"));
    }
  }

  void CheckObjectKeywords(const JsonTree& schema, const std::string& path, Place place) {
    const JsonTree* const additional = schema.Find("additionalProperties");
    const JsonTree* const properties = schema.Find("properties");
    const bool has_properties = properties != nullptr && properties->size() > 0;
    if (additional != nullptr) {
      const std::string at = path + ".additionalProperties";
      if (place == Place::kRoot) {
        Add(ForbiddenCause(at, "must not be used at the root"));
      }
      if (additional->AsBool() == false) {
        Add(ForbiddenCause(at, "additionalProperties cannot be set to false"));
      } else if (has_properties) {
        Add(ForbiddenCause(at, "additionalProperties and properties are mutual exclusive"));
      }
    }
    if (IsSet(schema, "x-kubernetes-embedded-resource")) {
      if (schema.TextAt("type") != "object") {
        Add(InvalidCause(path + ".type", schema.TextAt("type"),
                         "must be object if x-kubernetes-embedded-resource is true"));
      }
      if (!has_properties && !IsSet(schema, "x-kubernetes-preserve-unknown-fields")) {
        Add(RequiredCause(path + ".properties",
                          "must not be empty if x-kubernetes-embedded-resource is true without "
                          "x-kubernetes-preserve-unknown-fields"));
      }
    }
  }

  void CheckListType(const JsonTree& schema, const std::string& path) {
    const std::string_view list_type = schema.TextAt("x-kubernetes-list-type");
    const std::string at = path + ".x-kubernetes-list-type";
    const JsonTree* const keys = schema.Find("x-kubernetes-list-map-keys");
    if (!list_type.empty()) {
      if (const auto known = Texts({"atomic", "set", "map"});
          std::ranges::find(known, JsonTree(list_type)) == known.end()) {
        Add(NotSupportedCause(at, list_type, known));
      }
      if (schema.TextAt("type") != "array") {
        Add(InvalidCause(path + ".type", schema.TextAt("type"),
                         "must be array if x-kubernetes-list-type is specified"));
      }
    }
    if (list_type != "map") {
      if (keys != nullptr && keys->size() > 0) {
        Add(InvalidCause(at, list_type, "must be map if x-kubernetes-list-map-keys is non-empty"));
      }
      return;
    }
    if (keys == nullptr || keys->size() == 0) {
      Add(RequiredCause(path + ".x-kubernetes-list-map-keys",
                        "must not be empty if x-kubernetes-list-type is map"));
      return;
    }
    const JsonTree* const items = schema.Find("items");
    for (std::size_t i = 0; items != nullptr && i < keys->size(); ++i) {
      const std::string* const key = keys->elements()[i].AsString();
      if (key != nullptr && items->At({"properties", *key}) == nullptr) {
        Add(InvalidCause(Indexed(path, "x-kubernetes-list-map-keys", i), *key,
                         "must not be a non-existing property of the items"));
      }
    }
  }

  void CheckRoot(const JsonTree& schema, const std::string& path) {
    if (IsSet(schema, "nullable")) {
      Add(ForbiddenCause(path + ".nullable", "nullable cannot be true at the root"));
    }
    for (const char* const field : {"apiVersion", "kind", "metadata"}) {
      const JsonTree* const property = schema.At({"properties", field});
      const char* const type = std::string_view(field) == "metadata" ? "object" : "string";
      if (property != nullptr && !property->TextAt("type").empty() &&
          property->TextAt("type") != type) {
        Add(InvalidCause(Keyed(path, field) + ".type", property->TextAt("type"),
                         std::string("must be ") + type));
      }
    }
    if (const JsonTree* const properties = schema.At({"properties", "metadata", "properties"})) {
      for (const JsonTree::Member& member : properties->members()) {
        if (member.key != "name" && member.key != "generateName") {
          Add(ForbiddenCause(Keyed(path, "metadata"),
                             "must not specify anything other than name and generateName, but "
                             "metadata is implicitly specified"));
          return;
        }
      }
    }
  }

  void CheckDefault(const JsonTree& schema, const Schema* parsed, const std::string& path) {
    const JsonTree* const value = schema.Find("default");
    if (value == nullptr || parsed == nullptr) {
      return;
    }
    JsonTree shaped = *value;
    if (PruneValue(*parsed, shaped)) {
      Add(InvalidCause(path + ".default", *value, "must not have unknown fields"));
      return;
    }
    if (!SetDefaults(*parsed, shaped, default_bytes_)) {
      Add(ForbiddenCause(path + ".default", kTooManyDefaults));
      return;
    }
    ValidateValue(*parsed, shaped, path + ".default", causes_);
  }

  void CheckJunctors(const JsonTree& schema, const std::string& path) {
    for (const std::string_view name : kJunctors) {
      const JsonTree* const list = schema.Find(name);
      for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
        CheckValidation(list->elements()[i], Indexed(path, name, i), schema, path);
      }
    }
    if (const JsonTree* const not_ = schema.Find("not")) {
      CheckValidation(*not_, path + ".not", schema, path);
    }
  }

  /// A schema inside of allOf and the like: it checks values, and neither declares nor changes
  /// anything. `outer` is the schema that it stands in.
  void CheckValidation(const JsonTree& schema, const std::string& path, const JsonTree& outer,
                       const std::string& outer_path) {
    CheckKeywords(schema, path);
    const bool int_or_string = IsSet(outer, "x-kubernetes-int-or-string");
    for (const char* const field :
         {"type", "default", "additionalProperties", "nullable", "description", "title",
          "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource",
          "x-kubernetes-int-or-string", "x-kubernetes-list-type", "x-kubernetes-map-type"}) {
      const JsonTree* const found = schema.Find(field);
      const bool is_choice = std::string_view(field) == "type" && int_or_string;
      if (found != nullptr && found->AsBool() != false && !is_choice) {
        Add(ForbiddenCause(path + "." + field, "must be empty to be structural"));
      }
    }
    if (const JsonTree* const properties = schema.Find("properties")) {
      for (const JsonTree::Member& member : properties->members()) {
        const JsonTree* const declared = outer.At({"properties", member.key});
        if (declared == nullptr) {
          Add(RequiredCause(Keyed(outer_path, member.key),
                            "because it is defined in " + Keyed(path, member.key)));
        } else {
          CheckValidation(member.value, Keyed(path, member.key), *declared,
                          Keyed(outer_path, member.key));
        }
      }
    }
    if (const JsonTree* const items = schema.Find("items")) {
      if (const JsonTree* const declared = outer.Find("items")) {
        CheckValidation(*items, path + ".items", *declared, outer_path + ".items");
      } else {
        Add(RequiredCause(outer_path + ".items", "because it is defined in " + path + ".items"));
      }
    }
    for (const std::string_view name : kJunctors) {
      const JsonTree* const list = schema.Find(name);
      for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
        CheckValidation(list->elements()[i], Indexed(path, name, i), outer, outer_path);
      }
    }
    if (const JsonTree* const not_ = schema.Find("not")) {
      CheckValidation(*not_, path + ".not", outer, outer_path);
    }
  }

  std::vector<StatusCause>& causes_;
  Patterns& patterns_;
  /// What defaults may be given by defaults; those of one default are those of an object.
  std::size_t default_bytes_ = 4 * kMaxDefaultBytes;
};

}  // namespace

void CheckStructural(const JsonTree& schema, const std::string& path, Patterns& patterns,
                     std::vector<StatusCause>& causes) {
  const SchemaRef parsed = ParseLeniently(schema, patterns);
  Checker(causes, patterns).Check(schema, parsed.get(), path, Place::kRoot);
  if (patterns.full()) {
    causes.push_back(ForbiddenCause(path, kTooManyPatterns));
  }
}

bool HasRules(const JsonTree& schema) {
  if (const JsonTree* const rules = schema.Find(kRuleField);
      rules != nullptr && rules->size() > 0) {
    return true;
  }
  return std::ranges::any_of(schema.members(),
                             [](const JsonTree::Member& m) { return HasRules(m.value); }) ||
         std::ranges::any_of(schema.elements(), [](const JsonTree& e) { return HasRules(e); });
}

}  // namespace kubexx::apiserver::schema
