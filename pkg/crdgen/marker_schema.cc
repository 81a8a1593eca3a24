#include "kubexx/crdgen/marker_schema.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/codec/json_tree.h"
#include "kubexx/crdgen/header_lexer.h"
#include "kubexx/crdgen/schema_value.h"

namespace kubexx::crdgen {
namespace {

using api::apiextensions::v1::JSONSchemaProps;
using api::apiextensions::v1::ValidationRule;
using apimachinery::Result;

constexpr std::string_view kPrefix = "kubebuilder:validation:";

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> values) {
  return std::ranges::find(values, text) != values.end();
}

/// Applies one marker to one schema.
class MarkerApplier {
 public:
  MarkerApplier(const Marker& marker, std::string_view path, JSONSchemaProps& schema)
      : marker_(marker), path_(path), schema_(schema) {
    name_ = marker.name();
    if (name_.starts_with(kPrefix)) {
      name_.remove_prefix(kPrefix.size());
    }
  }

  Result<void> Run() {
    using Function = Result<void> (MarkerApplier::*)();
    static const std::map<std::string_view, Function> kFunctions = {
        {"Minimum", &MarkerApplier::Bound},
        {"Maximum", &MarkerApplier::Bound},
        {"MultipleOf", &MarkerApplier::Bound},
        {"ExclusiveMinimum", &MarkerApplier::Exclusive},
        {"ExclusiveMaximum", &MarkerApplier::Exclusive},
        {"MinLength", &MarkerApplier::Length},
        {"MaxLength", &MarkerApplier::Length},
        {"MinItems", &MarkerApplier::Items},
        {"MaxItems", &MarkerApplier::Items},
        {"UniqueItems", &MarkerApplier::UniqueItems},
        {"MinProperties", &MarkerApplier::Properties},
        {"MaxProperties", &MarkerApplier::Properties},
        {"Pattern", &MarkerApplier::Pattern},
        {"Format", &MarkerApplier::Format},
        {"Enum", &MarkerApplier::Enum},
        {"Type", &MarkerApplier::Type},
        {"XValidation", &MarkerApplier::Rule},
        {"XIntOrString", &MarkerApplier::IntOrString},
        {"XPreserveUnknownFields", &MarkerApplier::PreserveUnknownFields},
        {"kubebuilder:pruning:PreserveUnknownFields", &MarkerApplier::PreserveUnknownFields},
        {"EmbeddedResource", &MarkerApplier::EmbeddedResource},
        {"XEmbeddedResource", &MarkerApplier::EmbeddedResource},
        {"kubebuilder:default", &MarkerApplier::Default},
        {"default", &MarkerApplier::Default},
        {"kubebuilder:example", &MarkerApplier::Example},
        {"kubebuilder:title", &MarkerApplier::Title},
        {"nullable", &MarkerApplier::Nullable},
        {"listType", &MarkerApplier::ListType},
        {"listMapKey", &MarkerApplier::ListMapKey},
        {"mapType", &MarkerApplier::MapType},
        {"structType", &MarkerApplier::MapType}};
    const auto function = kFunctions.find(name_);
    return function == kFunctions.end() ? Result<void>() : (this->*function->second)();
  }

 private:
  apimachinery::Error Error(const std::string& message) const {
    return HeaderError(path_, marker_.line, marker_.Shown() + " " + message);
  }
  const codec::JsonTree& Value() const { return *marker_.Find(""); }

  bool IsNumeric() const { return schema_.type == "integer" || schema_.type == "number"; }
  bool IsTextual() const {
    return (schema_.type == "string") || schema_.x_kubernetes_int_or_string;
  }
  Result<void> ExpectType(bool fits, std::string_view wanted) const {
    return fits ? Result<void>() : Error("is for " + std::string(wanted));
  }
  template <class T>
  Result<void> Set(std::optional<T>& place, T value) const {
    if (place) {
      return Error("is said twice, here and by the type");
    }
    place = std::move(value);
    return {};
  }
  Result<void> Set(std::string& place, std::string value) const {
    if (!place.empty()) {
      return Error("is said twice, here and by the type");
    }
    place = std::move(value);
    return {};
  }

  Result<void> Bound() {
    KX_RETURN_IF_ERROR(ExpectType(IsNumeric(), "numbers"));
    const double value = Value().AsDouble().value_or(0);
    if (schema_.type == "integer" && !Value().AsInt()) {
      return Error("of an integer must be an integer");
    }
    if (name_ == "MultipleOf" && value <= 0) {
      return Error("must be more than 0");
    }
    return Set(name_ == "Minimum"   ? schema_.minimum
               : name_ == "Maximum" ? schema_.maximum
                                    : schema_.multiple_of,
               value);
  }
  Result<void> Exclusive() {
    KX_RETURN_IF_ERROR(ExpectType(IsNumeric(), "numbers"));
    (name_ == "ExclusiveMinimum" ? schema_.exclusive_minimum : schema_.exclusive_maximum) =
        Value().AsBool().value_or(false);
    return {};
  }
  Result<void> SetCount(std::optional<std::int64_t>& place) const {
    return Set(place, Value().AsInt().value_or(0));
  }
  Result<void> Length() {
    KX_RETURN_IF_ERROR(ExpectType(IsTextual(), "texts"));
    return SetCount(name_ == "MinLength" ? schema_.min_length : schema_.max_length);
  }
  Result<void> Items() {
    KX_RETURN_IF_ERROR(ExpectType(schema_.type == "array", "lists"));
    return SetCount(name_ == "MinItems" ? schema_.min_items : schema_.max_items);
  }
  Result<void> UniqueItems() {
    KX_RETURN_IF_ERROR(ExpectType(schema_.type == "array", "lists"));
    return Value().AsBool().value_or(false)
               ? Error("is refused by the API server: write +listType=set, which means the same")
               : Result<void>();
  }
  Result<void> Properties() {
    KX_RETURN_IF_ERROR(ExpectType(schema_.type == "object", "maps and structs"));
    return SetCount(name_ == "MinProperties" ? schema_.min_properties : schema_.max_properties);
  }
  Result<void> Pattern() {
    KX_RETURN_IF_ERROR(ExpectType(IsTextual(), "texts"));
    return Set(schema_.pattern, marker_.Text());
  }
  Result<void> Format() {
    KX_RETURN_IF_ERROR(ExpectType(schema_.type == "string", "texts"));
    return Set(schema_.format, marker_.Text());
  }
  Result<void> Type() {
    if (schema_.type == marker_.Text()) {
      return {};
    }
    if (!schema_.type.empty() || schema_.x_kubernetes_int_or_string) {
      return Error(
          "is for kubexx::apimachinery::JsonValue: the type of the member says what it is");
    }
    if (!IsOneOf(marker_.Text(), {"object", "array", "string", "integer", "number", "boolean"})) {
      return Error("must be object, array, string, integer, number or boolean");
    }
    schema_.type = marker_.Text();
    return {};
  }
  Result<void> Enum() {
    if (!schema_.enum_.empty()) {
      return Error("is said twice, here and by the type");
    }
    for (const codec::JsonTree& value : Value().elements()) {
      if (const std::string misfit = MisfitOf(value, schema_); !misfit.empty()) {
        return Error("does not fit: " + misfit);
      }
    }
    // Afterwards, as the values are compared with the schema.
    for (const codec::JsonTree& value : Value().elements()) {
      schema_.enum_.push_back({.raw = value.ToJson()});
    }
    return schema_.enum_.empty() ? Result<void>(Error("has no values")) : Result<void>();
  }
  Result<void> Rule() {
    ValidationRule rule{.rule = marker_.Text("rule"),
                        .message = marker_.Text("message"),
                        .message_expression = marker_.Text("messageExpression"),
                        .field_path = marker_.Text("fieldPath")};
    if (const std::string reason = marker_.Text("reason"); !reason.empty()) {
      if (!IsOneOf(reason, {"FieldValueRequired", "FieldValueInvalid", "FieldValueForbidden",
                            "FieldValueDuplicate"})) {
        return Error(
            "has a reason that is not FieldValueRequired, FieldValueInvalid, FieldValueForbidden "
            "or "
            "FieldValueDuplicate");
      }
      rule.reason = reason;
    }
    if (const codec::JsonTree* const old = marker_.Find("optionalOldSelf")) {
      rule.optional_old_self = old->AsBool();
    }
    schema_.x_kubernetes_validations.push_back(std::move(rule));
    return {};
  }
  Result<void> IntOrString() {
    return ExpectType(schema_.x_kubernetes_int_or_string, "kubexx::apimachinery::IntOrString");
  }
  Result<void> PreserveUnknownFields() {
    return ExpectType(schema_.x_kubernetes_preserve_unknown_fields.value_or(false),
                      "kubexx::apimachinery::JsonValue and RawExtension: another member has no "
                      "place for fields that are not known");
  }
  Result<void> EmbeddedResource() {
    KX_RETURN_IF_ERROR(PreserveUnknownFields());
    if (schema_.type != "object") {
      return Error("is for objects: write kubexx::apimachinery::RawExtension");
    }
    schema_.x_kubernetes_embedded_resource = true;
    return {};
  }
  Result<void> SetValue(std::optional<apimachinery::JsonValue>& place) const {
    codec::JsonTree value = Value();
    if (schema_.type == "array" && value.IsObject() && value.size() == 0) {
      value = codec::JsonTree::Array();  // "{}" is both
    }
    if (const std::string misfit = MisfitOf(value, schema_); !misfit.empty()) {
      return Error("does not fit: " + misfit);
    }
    return Set(place, apimachinery::JsonValue{.raw = value.ToJson()});
  }
  Result<void> Default() { return SetValue(schema_.default_); }
  Result<void> Example() { return SetValue(schema_.example); }
  Result<void> Title() {
    schema_.title = marker_.Text();
    return {};
  }
  Result<void> Nullable() {
    schema_.nullable = true;
    return {};
  }
  Result<void> ListType() {
    KX_RETURN_IF_ERROR(ExpectType(schema_.type == "array", "lists"));
    if (!IsOneOf(marker_.Text(), {"map", "set", "atomic"})) {
      return Error("must be map, set or atomic");
    }
    return Set(schema_.x_kubernetes_list_type, marker_.Text());
  }
  Result<void> ListMapKey() {
    if (schema_.x_kubernetes_list_type != "map") {
      return Error("is for lists with +listType=map");
    }
    const std::string key = marker_.Text();
    const JSONSchemaProps& item = *schema_.items->schema;
    const auto property = item.properties.find(key);
    if (property == item.properties.end()) {
      return Error("names the field '" + key + "', which the elements of the list do not have");
    }
    if (!std::ranges::binary_search(item.required, key) && !property->second.default_) {
      return Error("names the field '" + key + "', which must be required, or have a default");
    }
    auto& keys = schema_.x_kubernetes_list_map_keys;
    if (std::ranges::find(keys, key) != keys.end()) {
      return Error("names the field '" + key + "' twice");
    }
    keys.push_back(key);
    return {};
  }
  Result<void> MapType() {
    const bool is_struct = !schema_.additional_properties;
    KX_RETURN_IF_ERROR(ExpectType(schema_.type == "object" && is_struct == (name_ == "structType"),
                                  name_ == "structType" ? "structs" : "maps"));
    if (!IsOneOf(marker_.Text(), {"granular", "atomic"})) {
      return Error("must be granular or atomic");
    }
    schema_.x_kubernetes_map_type = marker_.Text();
    return {};
  }

  const Marker& marker_;
  const std::string_view path_;
  JSONSchemaProps& schema_;
  std::string_view name_;
};

/// Those that others look at come first, and those that look at all others last.
int OrderOf(const Marker& marker) {
  const std::string_view name = marker.name();
  if (name == "kubebuilder:validation:Type" || name == "listType" || name == "nullable") {
    return 0;
  }
  return name == "default" || name == "kubebuilder:default" || name == "kubebuilder:example" ? 2
                                                                                             : 1;
}

/// What a schema must have together.
Result<void> CheckList(const JSONSchemaProps& schema, std::span<const Marker> markers,
                       std::string_view path) {
  const Marker* const type = FindMarker(markers, "listType");
  if (type == nullptr) {
    return {};
  }
  if (type->Text() == "map" && schema.x_kubernetes_list_map_keys.empty()) {
    return HeaderError(path, type->line, "+listType=map needs +listMapKey=...");
  }
  const JSONSchemaProps& item = *schema.items->schema;
  if (type->Text() == "set" && item.type == "object" && item.x_kubernetes_map_type != "atomic") {
    return HeaderError(
        path, type->line,
        "+listType=set is for scalars; the structs of a set need +structType=atomic");
  }
  return {};
}

}  // namespace

Result<void> ApplyMarkers(std::span<const Marker> markers, std::string_view path,
                          JSONSchemaProps& schema) {
  // The rules of a member come before those of its type.
  std::vector<ValidationRule> rules = std::move(schema.x_kubernetes_validations);
  schema.x_kubernetes_validations.clear();
  for (int order = 0; order < 3; ++order) {
    for (const Marker& marker : markers) {
      if (OrderOf(marker) != order) {
        continue;
      }
      JSONSchemaProps* target = &schema;
      if (marker.is_for_items) {
        if (!schema.items || !schema.items->schema) {
          return HeaderError(path, marker.line, marker.Shown() + " is for lists");
        }
        target = &*schema.items->schema;
      }
      KX_RETURN_IF_ERROR(MarkerApplier(marker, path, *target).Run());
    }
  }
  std::ranges::move(rules, std::back_inserter(schema.x_kubernetes_validations));
  return CheckList(schema, markers, path);
}

}  // namespace kubexx::crdgen
