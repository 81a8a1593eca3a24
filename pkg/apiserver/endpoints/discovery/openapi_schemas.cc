#include "kubexx/apiserver/endpoints/discovery/openapi_schemas.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/api/registry.gen.h"
#include "kubexx/apiserver/endpoints/discovery/openapi_descriptions.h"
#include "kubexx/apiserver/managedfields/merge_rules.h"

namespace kubexx::apiserver {
namespace {

using codec::Cardinality;
using codec::FieldSchema;
using codec::JsonForm;
using codec::JsonTree;
using codec::Kind;
using codec::TypeSchema;

constexpr std::string_view kMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.";

/// Returns "com.example.v1." for example.com/v1.
std::string PrefixOf(const ResourceType& type) {
  std::string name;
  for (std::string_view rest = type.group; !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find('.'));
    name = std::string(part) + "." + name;
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  }
  return name + type.version + ".";
}

/// Returns "io.k8s.api.core.v1.Pod" for "core.v1.Pod".
std::string NameOf(const TypeSchema& type) {
  const std::string name(type.name);
  if (name.starts_with("meta.v1.")) {
    return std::string(kMeta) + name.substr(8);
  }
  for (const auto& [prefix, whole] :
       {std::pair("apiextensions.v1.", "io.k8s.apiextensions-apiserver.pkg.apis."),
        std::pair("apiregistration.v1.", "io.k8s.kube-aggregator.pkg.apis.")}) {
    if (name.starts_with(prefix)) {
      return whole + name;
    }
  }
  return "io.k8s.api." + name;
}

/// apiVersion and kind.
void AddTypeMeta(JsonTree& properties) {
  for (const std::string_view field : {"apiVersion", "kind"}) {
    properties[field] = TypedSchema("string");
    properties[field]["description"] = DescriptionOf("meta.v1.TypeMeta", field);
  }
}

JsonTree MetadataReference(OpenApiVersion version, const char* type) {
  JsonTree reference = SchemaReference(version, std::string(kMeta) + type);
  reference["description"] = DescriptionOf("meta.v1.TypeMeta", "metadata");
  return reference;
}

bool IsTrue(const JsonTree& schema, std::string_view member) {
  const JsonTree* const found = schema.Find(member);
  return found != nullptr && found->AsBool().value_or(false);
}

/// Calls `each` with the schemas directly below this one.
template <class F>
void ForEachBelow(JsonTree& schema, F each) {
  if (JsonTree* const properties = schema.Find("properties")) {
    for (JsonTree::Member& property : properties->members()) {
      each(property.value);
    }
  }
  for (const char* const member : {"items", "additionalProperties"}) {
    if (JsonTree* const below = schema.Find(member); below != nullptr && below->IsObject()) {
      each(*below);
    }
  }
}

/// A field that may be left out may be sent as null as well. Version 2 cannot express that.
void DropRequiredNullables(JsonTree& schema) {
  if (const JsonTree* const values = schema.Find("additionalProperties");
      values != nullptr && IsTrue(*values, "nullable")) {
    schema.Erase("required");
  }
  const JsonTree* const properties = schema.Find("properties");
  const JsonTree* const required = schema.Find("required");
  if (properties == nullptr || required == nullptr) {
    return;
  }
  JsonTree kept = JsonTree::Array();
  for (const JsonTree& name : required->elements()) {
    const JsonTree* const property =
        name.AsString() == nullptr ? nullptr : properties->Find(*name.AsString());
    if (property == nullptr || !IsTrue(*property, "nullable")) {
      kept.Append(name);
    }
  }
  if (kept.size() == 0) {
    schema.Erase("required");
  } else {
    schema["required"] = std::move(kept);
  }
}

// kubectl understands a missing field as a prohibition, and a missing type as a permission.
void ReduceToV2(JsonTree& schema) {
  for (const char* const member : {"allOf", "anyOf", "oneOf", "not", "default"}) {
    schema.Erase(member);
  }
  const bool nullable = IsTrue(schema, "nullable");
  const bool open = IsTrue(schema, "x-kubernetes-preserve-unknown-fields");
  schema.Erase("nullable");
  if (nullable || open) {
    schema.Erase("items");
    schema.Erase("properties");
  }
  const std::string_view type = schema.TextAt("type");
  if (nullable || (type == "array" && schema.Find("items") == nullptr) ||
      (type == "object" && open)) {
    schema.Erase("type");
  }
  DropRequiredNullables(schema);
  ForEachBelow(schema, ReduceToV2);
}

void AddEmbedded(JsonTree& schema, OpenApiVersion version) {
  ForEachBelow(schema, [version](JsonTree& below) { AddEmbedded(below, version); });
  const bool open = IsTrue(schema, "x-kubernetes-preserve-unknown-fields");
  if (!IsTrue(schema, "x-kubernetes-embedded-resource") ||
      (open && version == OpenApiVersion::kV2)) {
    return;
  }
  AddTypeMeta(schema["properties"]);
  schema["properties"]["metadata"] = MetadataReference(version, "ObjectMeta");
  for (const std::string_view field : {"kind", "apiVersion"}) {
    JsonTree& required = schema["required"];
    if (std::ranges::find(required.elements(), JsonTree(field)) == required.elements().end()) {
      required.Append(field);
    }
  }
}

JsonTree PublishedList(const ResourceType& type, OpenApiVersion version) {
  JsonTree schema = TypedSchema("object");
  schema["description"] = type.ListKind() + " is a list of " + type.kind + ".";
  schema["required"].Append("items");
  JsonTree& properties = schema["properties"];
  AddTypeMeta(properties);
  properties["items"] = TypedSchema("array");
  properties["items"]["items"] = SchemaReference(version, PrefixOf(type) + type.kind);
  properties["metadata"] = MetadataReference(version, "ListMeta");
  schema["x-kubernetes-group-version-kind"].Append(
      GroupVersionKind(type.group, type.version, type.ListKind()));
  return schema;
}

JsonTree PublishedSchema(const ResourceType& type, OpenApiVersion version) {
  const JsonTree* const source = type.custom->source.At({"schema", "openAPIV3Schema"});
  const bool closed =
      source != nullptr &&
      !(version == OpenApiVersion::kV2 && IsTrue(*source, "x-kubernetes-preserve-unknown-fields"));
  JsonTree schema = TypedSchema("object");
  if (closed) {
    schema = *source;
    if (version == OpenApiVersion::kV2) {
      ReduceToV2(schema);
    }
    AddTypeMeta(schema["properties"]);
    schema["properties"]["metadata"] = MetadataReference(version, "ObjectMeta");
    AddEmbedded(schema, version);
  }
  schema["x-kubernetes-group-version-kind"].Append(
      GroupVersionKind(type.group, type.version, type.kind));
  if (const JsonTree* const fields = type.custom->source.Find("selectableFields")) {
    for (const JsonTree& field : fields->elements()) {
      JsonTree path = JsonTree::Object();
      path["fieldPath"] =
          field.TextAt("jsonPath").substr(field.TextAt("jsonPath").starts_with("."));
      schema["x-kubernetes-selectable-fields"].Append(std::move(path));
    }
  }
  return schema;
}

}  // namespace

JsonTree TypedSchema(std::string_view type, std::string_view format) {
  JsonTree tree = JsonTree::Object();
  tree["type"] = type;
  if (!format.empty()) {
    tree["format"] = format;
  }
  return tree;
}

JsonTree GroupVersionKind(std::string_view group, std::string_view version, std::string_view kind) {
  JsonTree gvk = JsonTree::Object();
  gvk["group"] = group;
  gvk["version"] = version;
  gvk["kind"] = kind;
  return gvk;
}

JsonTree SchemaReference(OpenApiVersion version, std::string_view name) {
  JsonTree reference = JsonTree::Object();
  if (version == OpenApiVersion::kV2) {
    reference["$ref"] = "#/definitions/" + std::string(name);
    return reference;
  }
  reference["$ref"] = "#/components/schemas/" + std::string(name);
  JsonTree tree = JsonTree::Object();
  tree["allOf"].Append(std::move(reference));
  return tree;
}

std::vector<JsonTree::Member> PublishedSchemas(const ResourceType& type, OpenApiVersion version) {
  const std::string prefix = PrefixOf(type);
  std::vector<JsonTree::Member> schemas;
  schemas.push_back({prefix + type.kind, PublishedSchema(type, version)});
  schemas.push_back({prefix + type.ListKind(), PublishedList(type, version)});
  return schemas;
}

void OpenApiSchemas::Add(const ResourceType& type) {
  if (type.schema == nullptr) {
    AddCustom(type);
    return;
  }
  AddBuiltin(*type.schema);
  if (const TypeSchema* const list = api::Registry().Find(type.ApiVersion(), type.ListKind())) {
    AddBuiltin(*list);
  }
}

JsonTree OpenApiSchemas::Take() {
  seen_.clear();
  return JsonTree::Object(std::exchange(schemas_, {}));
}

void OpenApiSchemas::AddCustom(const ResourceType& type) {
  AddBuiltin(codec::SchemaOf<api::meta::v1::ObjectMeta>());
  AddBuiltin(codec::SchemaOf<api::meta::v1::ListMeta>());
  std::ranges::move(PublishedSchemas(type, version_), std::back_inserter(schemas_));
}

JsonTree OpenApiSchemas::Element(const FieldSchema& field) {
  switch (field.kind) {
    case Kind::kBool:
      return TypedSchema("boolean");
    case Kind::kInt32:
    case Kind::kUint32:
      return TypedSchema("integer", "int32");
    case Kind::kInt64:
    case Kind::kUint64:
      return TypedSchema("integer", "int64");
    case Kind::kDouble:
      return TypedSchema("number", "double");
    case Kind::kBytes:
      return TypedSchema("string", "byte");
    case Kind::kTime:
    case Kind::kMicroTime:
    case Kind::kDateTime:
      return TypedSchema("string", "date-time");
    case Kind::kMessage:
      return Reference(*field.message);
    case Kind::kStringList: {
      JsonTree tree = TypedSchema("array");
      tree["items"] = TypedSchema("string");
      return tree;
    }
    case Kind::kIntOrString: {
      JsonTree tree = TypedSchema("string", "int-or-string");
      return tree;
    }
    case Kind::kRawExtension:
    case Kind::kFieldsV1:
      return TypedSchema("object");
    case Kind::kJsonValue:
      return JsonTree::Object();
    case Kind::kString:
    case Kind::kQuantity:
    case Kind::kDuration:
      break;
  }
  return TypedSchema("string");
}

JsonTree OpenApiSchemas::Reference(const TypeSchema& type) {
  AddBuiltin(type);
  return SchemaReference(version_, NameOf(type));
}

JsonTree OpenApiSchemas::Property(const FieldSchema& field) {
  JsonTree element = Element(field);
  if (field.cardinality == Cardinality::kRepeated) {
    JsonTree tree = TypedSchema("array");
    tree["items"] = std::move(element);
    return tree;
  }
  if (field.cardinality == Cardinality::kMap) {
    JsonTree tree = TypedSchema("object");
    tree["additionalProperties"] = std::move(element);
    return tree;
  }
  return element;
}

void OpenApiSchemas::AddProperties(const TypeSchema& type, JsonTree& properties) {
  for (const FieldSchema& field : type.fields) {
    if ((field.flags & codec::kInline) != 0 && field.message != nullptr) {
      AddProperties(*field.message, properties);
      continue;
    }
    JsonTree property = Property(field);
    if (const auto* const rule = managedfields::PatchRuleOf(type.name, field.name)) {
      property["x-kubernetes-patch-strategy"] = rule->strategy;
      if (!rule->key.empty()) {
        property["x-kubernetes-patch-merge-key"] = rule->key;
      }
    }
    const bool metadata = !type.kind.empty() && field.name == "metadata";
    if (const std::string_view text =
            DescriptionOf(metadata ? "meta.v1.TypeMeta" : type.name, field.name);
        !text.empty()) {
      property["description"] = text;
    }
    properties[field.name] = std::move(property);
  }
}

void OpenApiSchemas::AddBuiltin(const TypeSchema& type) {
  std::string name = NameOf(type);
  if (!seen_.insert(name).second) {
    return;
  }
  JsonTree schema = JsonTree::Object();
  if (type.json_form == JsonForm::kObject || type.json_form == JsonForm::kBareObject) {
    schema = TypedSchema("object");
    if (const std::string_view text = DescriptionOf(type.name, ""); !text.empty()) {
      schema["description"] = text;
    }
    JsonTree properties = JsonTree::Object();
    AddProperties(type, properties);
    if (!type.kind.empty()) {
      AddTypeMeta(properties);
    }
    // A client that reads the document and writes it again leaves out empty members.
    if (properties.size() > 0) {
      schema["properties"] = std::move(properties);
    }
    if (!type.kind.empty()) {
      schema["x-kubernetes-group-version-kind"].Append(
          GroupVersionKind(type.group, type.version, type.kind));
    }
  }
  schemas_.push_back({std::move(name), std::move(schema)});
}

}  // namespace kubexx::apiserver
