#include "kubexx/apiserver/schema/structural.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "kubexx/apiserver/schema/causes.h"
#include "kubexx/apiserver/schema/internal/path.h"
#include "kubexx/apiserver/schema/internal/values.h"
#include "kubexx/apiserver/schema/pattern.h"
#include "kubexx/apiserver/schema/schema.h"
#include "kubexx/apiserver/schema/shape.h"
#include "kubexx/apiserver/schema/validate.h"
#include "kubexx/codec/member_index.h"

namespace kubexx::apiserver::schema {
namespace {

using apimachinery::StatusCause;
using codec::JsonTree;
using internal::kBytesPerStep;
using internal::Path;

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

class Checker {
 public:
  Checker(CauseList& causes, DefinitionBudget& budget) : causes_(causes), budget_(budget) {}

  /// `parsed` is the same schema for its defaults. It is null where a schema cannot have a default.
  void Check(const JsonTree& schema, const Schema* parsed, const Path& path, Place place) {
    budget_.work.Spend(1);
    if (causes_.full() || budget_.work.ended()) {
      return;
    }
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
      Check(*items, parsed == nullptr ? nullptr : parsed->items.get(), path.Field("items"),
            Place::kItem);
    }
    if (const JsonTree* const properties = schema.Find("properties")) {
      for (const JsonTree::Member& member : properties->members()) {
        Check(member.value, PropertyOf(parsed, member.key), path.Property(member.key),
              Place::kField);
      }
    }
    if (const JsonTree* const additional = schema.Find("additionalProperties");
        additional != nullptr && additional->IsObject()) {
      Check(*additional, parsed == nullptr ? nullptr : parsed->additional.get(),
            path.Field("additionalProperties"), Place::kField);
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

  void Required(const Path& path, std::string_view what) {
    if (!causes_.full()) {  // the text of the path may be long
      causes_.Add(RequiredCause(path.Text(), what));
    }
  }
  void Forbid(const Path& path, std::string_view what) {
    if (!causes_.full()) {
      causes_.Add(ForbiddenCause(path.Text(), what));
    }
  }
  void Invalid(const Path& path, const JsonTree& value, std::string_view what) {
    if (!causes_.full()) {
      causes_.Add(InvalidCause(path.Text(), value, what));
    }
  }
  void NotSupported(const Path& path, const JsonTree& value,
                    const std::vector<JsonTree>& supported) {
    if (!causes_.full()) {
      causes_.Add(NotSupportedCause(path.Text(), value, supported));
    }
  }

  /// Returns the member `key` of the properties of `schema`, or null when there is none.
  const JsonTree* DeclaredIn(const JsonTree& schema, std::string_view key) {
    const JsonTree* const properties = schema.Find("properties");
    return properties == nullptr
               ? nullptr
               : indices_.try_emplace(properties, properties).first->second.Find(key);
  }

  void CheckKeywords(const JsonTree& schema, const Path& path) {
    for (const char* const field : {"additionalItems", "patternProperties", "definitions",
                                    "dependencies", "$ref", "id", "$schema"}) {
      if (schema.Find(field) != nullptr) {
        Forbid(path.Field(field), std::string(field) + " is not supported");
      }
    }
    if (IsSet(schema, "uniqueItems")) {
      Forbid(path.Field("uniqueItems"),
             "uniqueItems cannot be set to true since the runtime complexity becomes quadratic");
    }
    if (const std::string_view text = schema.TextAt("pattern"); !text.empty()) {
      const Pattern* const pattern = budget_.patterns.Find(text);
      if (pattern != nullptr && !pattern->problem().empty()) {
        Invalid(path.Field("pattern"), text,
                "must be a valid regular expression, but isn't: " + pattern->problem());
      }
    }
  }

  void CheckType(const JsonTree& schema, const Path& path, Place place) {
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
        Required(path.Field("type"), what);
      }
    } else if (int_or_string) {
      Invalid(path.Field("type"), type, "must be empty if x-kubernetes-int-or-string is true");
    } else if (const auto known =
                   Texts({"array", "boolean", "integer", "number", "object", "string"});
               std::ranges::find(known, JsonTree(type)) == known.end()) {
      NotSupported(path.Field("type"), type, known);
    } else if (place == Place::kRoot && type != "object") {
      Invalid(path.Field("type"), type, "must be object at the root");
    }
    if (type == "array" && schema.Find("items") == nullptr) {
      Required(path.Field("items"), "must be specified");
    }
    if (preserve && !type.empty() && type != "object") {
      Invalid(path.Field("type"), type,
              "must be object if x-kubernetes-preserve-unknown-fields is true");
    }
    if (const JsonTree* const items = schema.Find("items"); items != nullptr && items->IsArray()) {
      Forbid(path.Field("items"), "items must be a schema object and not an array");
    }
  }

  void CheckObjectKeywords(const JsonTree& schema, const Path& path, Place place) {
    const JsonTree* const additional = schema.Find("additionalProperties");
    const JsonTree* const properties = schema.Find("properties");
    const bool has_properties = properties != nullptr && properties->size() > 0;
    if (additional != nullptr) {
      const Path at = path.Field("additionalProperties");
      if (place == Place::kRoot) {
        Forbid(at, "must not be used at the root");
      }
      if (additional->AsBool() == false) {
        Forbid(at, "additionalProperties cannot be set to false");
      } else if (has_properties) {
        Forbid(at, "additionalProperties and properties are mutual exclusive");
      }
    }
    if (IsSet(schema, "x-kubernetes-embedded-resource")) {
      if (schema.TextAt("type") != "object") {
        Invalid(path.Field("type"), schema.TextAt("type"),
                "must be object if x-kubernetes-embedded-resource is true");
      }
      if (!has_properties && !IsSet(schema, "x-kubernetes-preserve-unknown-fields")) {
        Required(path.Field("properties"),
                 "must not be empty if x-kubernetes-embedded-resource is true without "
                 "x-kubernetes-preserve-unknown-fields");
      }
    }
  }

  void CheckListType(const JsonTree& schema, const Path& path) {
    const std::string_view list_type = schema.TextAt("x-kubernetes-list-type");
    const Path at = path.Field("x-kubernetes-list-type");
    const JsonTree* const keys = schema.Find("x-kubernetes-list-map-keys");
    if (!list_type.empty()) {
      if (const auto known = Texts({"atomic", "set", "map"});
          std::ranges::find(known, JsonTree(list_type)) == known.end()) {
        NotSupported(at, list_type, known);
      }
      if (schema.TextAt("type") != "array") {
        Invalid(path.Field("type"), schema.TextAt("type"),
                "must be array if x-kubernetes-list-type is specified");
      }
    }
    if (list_type != "map") {
      if (keys != nullptr && keys->size() > 0) {
        Invalid(at, list_type, "must be map if x-kubernetes-list-map-keys is non-empty");
      }
      return;
    }
    if (keys == nullptr || keys->size() == 0) {
      Required(path.Field("x-kubernetes-list-map-keys"),
               "must not be empty if x-kubernetes-list-type is map");
      return;
    }
    const JsonTree* const items = schema.Find("items");
    for (std::size_t i = 0; items != nullptr && i < keys->elements().size(); ++i) {
      const std::string* const key = keys->elements()[i].AsString();
      if (key != nullptr && DeclaredIn(*items, *key) == nullptr) {
        Invalid(path.Element("x-kubernetes-list-map-keys", i), *key,
                "must not be a non-existing property of the items");
      }
    }
  }

  void CheckRoot(const JsonTree& schema, const Path& path) {
    if (IsSet(schema, "nullable")) {
      Forbid(path.Field("nullable"), "nullable cannot be true at the root");
    }
    for (const char* const field : {"apiVersion", "kind", "metadata"}) {
      const JsonTree* const property = schema.At({"properties", field});
      const char* const type = std::string_view(field) == "metadata" ? "object" : "string";
      if (property != nullptr && !property->TextAt("type").empty() &&
          property->TextAt("type") != type) {
        Invalid(path.Property(field).Field("type"), property->TextAt("type"),
                std::string("must be ") + type);
      }
    }
    if (const JsonTree* const properties = schema.At({"properties", "metadata", "properties"})) {
      for (const JsonTree::Member& member : properties->members()) {
        if (member.key != "name" && member.key != "generateName") {
          Forbid(path.Property("metadata"),
                 "must not specify anything other than name and generateName, but "
                 "metadata is implicitly specified");
          return;
        }
      }
    }
  }

  void CheckDefault(const JsonTree& schema, const Schema* parsed, const Path& path) {
    const JsonTree* const value = schema.Find("default");
    if (value == nullptr || parsed == nullptr || causes_.full() || budget_.work.ended()) {
      return;
    }
    JsonTree shaped = *value;
    if (PruneValue(*parsed, shaped)) {
      Invalid(path.Field("default"), *value, "must not have unknown fields");
      return;
    }
    if (!SetDefaults(*parsed, shaped, budget_.default_bytes)) {
      Forbid(path.Field("default"), kTooManyDefaults);
      return;
    }
    const std::string at = path.Field("default").Text();
    budget_.work.Spend(at.size() / kBytesPerStep);
    std::vector<StatusCause> found;
    ValidateValue(*parsed, shaped, at, budget_.work, found);
    for (StatusCause& cause : found) {
      causes_.Add(std::move(cause));
    }
  }

  void CheckJunctors(const JsonTree& schema, const Path& path) {
    for (const std::string_view name : kJunctors) {
      const JsonTree* const list = schema.Find(name);
      for (std::size_t i = 0; list != nullptr && i < list->elements().size(); ++i) {
        CheckValidation(list->elements()[i], path.Element(name, i), schema, path);
      }
    }
    if (const JsonTree* const not_ = schema.Find("not")) {
      CheckValidation(*not_, path.Field("not"), schema, path);
    }
  }

  /// Checks a schema inside of allOf and similar: it validates values, and neither declares nor
  /// changes anything. `outer` is the schema around it.
  void CheckValidation(const JsonTree& schema, const Path& path, const JsonTree& outer,
                       const Path& outer_path) {
    budget_.work.Spend(1);
    if (causes_.full() || budget_.work.ended()) {
      return;
    }
    CheckKeywords(schema, path);
    const bool int_or_string = IsSet(outer, "x-kubernetes-int-or-string");
    for (const char* const field :
         {"type", "default", "additionalProperties", "nullable", "description", "title",
          "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource",
          "x-kubernetes-int-or-string", "x-kubernetes-list-type", "x-kubernetes-map-type"}) {
      const JsonTree* const found = schema.Find(field);
      const bool is_choice = std::string_view(field) == "type" && int_or_string;
      if (found != nullptr && found->AsBool() != false && !is_choice) {
        Forbid(path.Field(field), "must be empty to be structural");
      }
    }
    if (const JsonTree* const properties = schema.Find("properties")) {
      for (const JsonTree::Member& member : properties->members()) {
        const JsonTree* const declared = DeclaredIn(outer, member.key);
        if (declared == nullptr) {
          Required(outer_path.Property(member.key),
                   "because it is defined in " + path.Property(member.key).Text());
        } else {
          CheckValidation(member.value, path.Property(member.key), *declared,
                          outer_path.Property(member.key));
        }
      }
    }
    if (const JsonTree* const items = schema.Find("items")) {
      if (const JsonTree* const declared = outer.Find("items")) {
        CheckValidation(*items, path.Field("items"), *declared, outer_path.Field("items"));
      } else {
        Required(outer_path.Field("items"),
                 "because it is defined in " + path.Field("items").Text());
      }
    }
    for (const std::string_view name : kJunctors) {
      const JsonTree* const list = schema.Find(name);
      for (std::size_t i = 0; list != nullptr && i < list->elements().size(); ++i) {
        CheckValidation(list->elements()[i], path.Element(name, i), outer, outer_path);
      }
    }
    if (const JsonTree* const not_ = schema.Find("not")) {
      CheckValidation(*not_, path.Field("not"), outer, outer_path);
    }
  }

  CauseList& causes_;
  DefinitionBudget& budget_;
  /// The indexes of the properties of schemas, by the properties' addresses.
  std::map<const JsonTree*, codec::MemberIndex> indices_{};
};

}  // namespace

void CheckStructural(const JsonTree& schema, const std::string& path, DefinitionBudget& budget,
                     CauseList& causes) {
  const SchemaRef parsed = ParseLeniently(schema, budget.patterns);
  Checker(causes, budget).Check(schema, parsed.get(), Path(path), Place::kRoot);
  if (budget.patterns.full()) {
    causes.AddLast(ForbiddenCause(path, kTooManyPatterns));
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
