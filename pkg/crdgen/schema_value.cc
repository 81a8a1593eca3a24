#include "kubexx/crdgen/schema_value.h"

#include <algorithm>
#include <string_view>

namespace kubexx::crdgen {
namespace {

using api::apiextensions::v1::JSONSchemaProps;
using codec::JsonTree;

bool HasType(const JsonTree& value, std::string_view type) {
  switch (value.type()) {
    case JsonTree::Type::kNull:
      return false;
    case JsonTree::Type::kBool:
      return type == "boolean";
    case JsonTree::Type::kNumber:
      return type == "number" || (type == "integer" && value.AsInt().has_value());
    case JsonTree::Type::kString:
      return type == "string";
    case JsonTree::Type::kArray:
      return type == "array";
    case JsonTree::Type::kObject:
      return type == "object";
  }
  return false;
}

bool FitsType(const JsonTree& value, const JSONSchemaProps& schema) {
  if (value.IsNull()) {
    return schema.nullable;
  }
  if (schema.x_kubernetes_int_or_string) {
    return HasType(value, "integer") || HasType(value, "string");
  }
  return schema.type.empty() || HasType(value, schema.type);
}

std::string TypeName(const JSONSchemaProps& schema) {
  return schema.x_kubernetes_int_or_string ? "an integer or a text"
         : schema.type == "string"         ? "a text"
         : schema.type == "object"         ? "an object"
         : schema.type == "array"          ? "a list"
         : schema.type == "integer"        ? "an integer"
                                           : "a " + schema.type;
}

std::string MisfitOfMember(const JsonTree::Member& member, const JSONSchemaProps& schema) {
  const auto property = schema.properties.find(member.key);
  if (property != schema.properties.end()) {
    return MisfitOf(member.value, property->second);
  }
  if (schema.additional_properties && schema.additional_properties->schema) {
    return MisfitOf(member.value, *schema.additional_properties->schema);
  }
  return schema.x_kubernetes_preserve_unknown_fields.value_or(false)
             ? ""
             : "there is no field '" + member.key + "'";
}

}  // namespace

std::string MisfitOf(const JsonTree& value, const JSONSchemaProps& schema) {
  if (!FitsType(value, schema)) {
    const bool wants_text = schema.type == "string" && value.AsString() == nullptr;
    return value.ToJson() + " is not " + TypeName(schema) +
           (wants_text ? "; put it in quotation marks" : "");
  }
  if (!schema.enum_.empty() &&
      std::ranges::none_of(schema.enum_, [&value](const apimachinery::JsonValue& allowed) {
        const auto tree = JsonTree::Parse(allowed.raw);
        return tree && *tree == value;
      })) {
    return value.ToJson() + " is not one of the values of +kubebuilder:validation:Enum";
  }
  for (const JsonTree::Member& member : value.members()) {
    if (std::string misfit = MisfitOfMember(member, schema); !misfit.empty()) {
      return misfit;
    }
  }
  for (const JsonTree& element : value.elements()) {
    if (schema.items && schema.items->schema) {
      if (std::string misfit = MisfitOf(element, *schema.items->schema); !misfit.empty()) {
        return misfit;
      }
    }
  }
  return "";
}

}  // namespace kubexx::crdgen
