#include "kubexx/crdgen/model.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>

#include "kubexx/api/apiextensions/v1/schema.gen.h"
#include "kubexx/api/apiextensions/v1/types.gen.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/codec/yaml.h"
#include "kubexx/crdgen/names.h"

namespace kubexx::crdgen {
namespace {

using api::apiextensions::v1::CustomResourceDefinition;
using api::apiextensions::v1::CustomResourceDefinitionVersion;
using api::apiextensions::v1::JSONSchemaProps;
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

constexpr std::string_view kGroupVersion = "apiextensions.k8s.io/v1";
/// In the pattern that controller-gen gives a resource.Quantity. Unlike other integers or strings,
/// a quantity may be an integer that 32 bits do not hold.
constexpr std::string_view kQuantitySuffixes = "[KMGTPE]i";
/// A struct with more fields has its special members in the source file.
constexpr std::size_t kMaxAggregateFields = 10;

bool KeepsUnknown(const JSONSchemaProps& schema) {
  return schema.x_kubernetes_preserve_unknown_fields.value_or(false) ||
         schema.x_kubernetes_embedded_resource;
}

/// Objects with keys of any name, unless a part of them has a schema of its own.
bool IsMap(const JSONSchemaProps& schema) {
  return schema.type == "object" && schema.properties.empty() && !KeepsUnknown(schema) &&
         schema.additional_properties && schema.additional_properties->schema;
}

bool IsList(const JSONSchemaProps& schema) {
  return schema.type == "array" && schema.items && schema.items->schema;
}

/// The fields of meta/v1 Condition with their types: all that are required there, which have to be
/// required here too, and no other. What else a list may hold would get lost, or come back with
/// fields that it did not have.
bool IsCondition(const JSONSchemaProps& schema) {
  static constexpr std::string_view kRequired[] = {"lastTransitionTime", "message", "reason",
                                                   "status", "type"};
  const auto is = [&schema](std::string_view name, std::string_view type) {
    const auto property = schema.properties.find(std::string(name));
    return property != schema.properties.end() && property->second.type == type &&
           !property->second.nullable;
  };
  const auto is_required = [&](std::string_view name) {
    return is(name, "string") && std::ranges::find(schema.required, name) != schema.required.end();
  };
  const std::size_t count = std::size(kRequired) + (is("observedGeneration", "integer") ? 1U : 0U);
  return schema.type == "object" && !KeepsUnknown(schema) && schema.properties.size() == count &&
         std::ranges::all_of(kRequired, is_required) &&
         schema.properties.at("lastTransitionTime").format == "date-time";
}

/// Struct::size of one with these fields, whose structs have theirs.
std::size_t SizeOf(const std::vector<Field>& fields) {
  std::size_t count = 0;
  for (const Field& field : fields) {
    if (field.shape == Shape::kRepeated || field.shape == Shape::kMap || !field.table.empty()) {
      return kMaxAggregateFields + 1;
    }
    count += field.shape == Shape::kPlain && field.message != nullptr ? field.message->size : 1;
  }
  return count;
}

/// Makes the structs of one version.
class VersionMaker {
 public:
  explicit VersionMaker(Version& version) : version_(version) {}

  /// Metadata first, then what the schema has besides.
  void AddRoot(const JSONSchemaProps& schema) {
    auto root = std::make_unique<Struct>();
    root->name = AddStructName(version_.kind);
    names_.Add(version_.kind + "Tables");
    names_.Add("k" + version_.kind + "Resource");
    root->description = schema.description;
    root->fields.push_back(MetadataField());
    AddFields(*root, schema, {"apiVersion", "kind", "metadata"});
    version_.structs.push_back(std::move(root));
    version_.names = names_.names();
  }

 private:
  /// With the names of its tables.
  std::string AddStructName(const std::string& name) {
    // A kind and a property may make a macro's name together.
    return names_.Add(IsTypeName(name) ? name : name + "_", {}, {{"k", "Schema"}, {"k", "Fields"}});
  }

  void AddFields(Struct& structure, const JSONSchemaProps& schema,
                 const std::set<std::string_view>& except = {}) {
    NameSet members;
    for (const Field& field : structure.fields) {
      members.Add(field.member);
    }
    for (const auto& [name, property] : schema.properties) {
      if (except.contains(name)) {
        continue;
      }
      const bool required = std::ranges::find(schema.required, name) != schema.required.end();
      Field field = FieldOf(structure.name, name, property, required);
      field.member = members.Add(field.member, "_");
      structure.fields.push_back(std::move(field));
    }
    structure.size = SizeOf(structure.fields);
  }

  Field FieldOf(const std::string& owner, const std::string& name, const JSONSchemaProps& schema,
                bool required) {
    Field field{.member = MemberName(name),
                .json_name = name,
                .description = schema.description,
                .keeps_null = !required && schema.nullable,
                .omit_empty = !required};
    const std::string type = owner + CamelCase(name);
    const bool is_optional = !required || schema.nullable;
    if (IsMap(schema)) {
      field.shape = Shape::kMap;
      field.is_optional_container = is_optional;
      SetElement(field, type + "Value", *schema.additional_properties->schema);
    } else if (IsList(schema)) {
      field.shape = Shape::kRepeated;
      field.is_optional_container = is_optional;
      SetElement(field, type + "Item", *schema.items->schema);
    } else {
      SetElement(field, type, schema);
      // Bytes that are empty and not optional are null in JSON, as Go's nil slice is.
      if (is_optional || field.kind == "kBytes") {
        field.shape = Shape::kOptional;
      }
    }
    if (field.shape == Shape::kRepeated && field.kind == "kBool") {
      // std::vector<bool> has no elements with an address.
      field.element = "::kubexx::apimachinery::Bool";
    }
    return field;
  }

  void SetElement(Field& field, const std::string& type, const JSONSchemaProps& schema) {
    const auto is = [&schema](std::string_view wanted, std::string_view format) {
      return schema.type == wanted && (format.empty() || schema.format == format);
    };
    const auto set = [&field](const char* kind, const char* element) {
      field.kind = kind;
      field.element = element;
    };
    set("kJsonValue", "::kubexx::apimachinery::JsonValue");
    const bool is_element = field.shape == Shape::kRepeated || field.shape == Shape::kMap;
    if (is_element && schema.nullable) {
      return;  // an element of another type could not tell null from its zero value
    }
    if (schema.x_kubernetes_int_or_string && schema.pattern.contains(kQuantitySuffixes)) {
      set("kQuantity", "::kubexx::apimachinery::Quantity");
    } else if (schema.x_kubernetes_int_or_string) {
      set("kIntOrString", "::kubexx::apimachinery::IntOrString");
    } else if (is("string", "date-time")) {
      set("kDateTime", "::kubexx::apimachinery::DateTime");
    } else if (is("string", "byte")) {
      set("kBytes", "::kubexx::apimachinery::Bytes");
    } else if (is("string", {})) {
      set("kString", "std::string");
      AddValues(field, type, schema);
    } else if (is("boolean", {})) {
      set("kBool", "bool");
    } else if (is("integer", "int32")) {
      set("kInt32", "std::int32_t");
    } else if (is("integer", {})) {
      set("kInt64", "std::int64_t");
    } else if (is("number", {})) {
      set("kDouble", "double");
    } else if (field.shape == Shape::kRepeated && IsCondition(schema)) {
      set("kMessage", "::kubexx::api::meta::v1::Condition");
      field.table = "::kubexx::api::meta::v1::internal::kConditionSchema";
    } else if (is("object", {}) && !schema.properties.empty() && !schema.additional_properties &&
               !KeepsUnknown(schema)) {
      auto message = std::make_unique<Struct>();
      message->name = AddStructName(type);
      message->description = schema.description;
      AddFields(*message, schema);
      field.kind = "kMessage";
      field.element = message->name;
      field.message = message.get();
      version_.structs.push_back(std::move(message));
    }
  }

  void AddValues(Field& field, const std::string& type, const JSONSchemaProps& schema) {
    for (const apimachinery::JsonValue& value : schema.enum_) {
      const auto tree = codec::JsonTree::Parse(value.raw);
      const std::string* const text = tree ? tree->AsString() : nullptr;
      if (text != nullptr) {
        std::string name = CamelCase(*text);
        if (name.empty()) {
          name = text->empty() ? "Empty" : "Value";
        }
        name = names_.Add("k" + type + name, "_");
        field.values.emplace_back(std::move(name), *text);
      }
    }
  }

  Version& version_;
  NameSet names_;  ///< of what the code has in its namespace so far
};

Result<Version> VersionOf(const CustomResourceDefinition& definition,
                          const CustomResourceDefinitionVersion& version) {
  const std::string what = definition.metadata.name + " " + version.name;
  if (!version.schema || !version.schema->open_api_v3_schema) {
    return Fail(Reason::kInvalid, what + " has no schema");
  }
  Version out{.group = definition.spec.group,
              .version = version.name,
              .kind = definition.spec.names.kind,
              .plural = definition.spec.names.plural,
              .is_namespaced = definition.spec.scope == "Namespaced",
              .has_status = version.subresources && version.subresources->status};
  if (!IsTypeName(out.kind)) {
    return Fail(Reason::kInvalid,
                what + ": the kind '" + out.kind + "' is not a valid name of a C++ type");
  }
  const JSONSchemaProps& root = *version.schema->open_api_v3_schema;
  if (KeepsUnknown(root) || root.additional_properties) {
    return Fail(Reason::kInvalid,
                what +
                    ": the server keeps fields of these objects that the schema does not name. A "
                    "struct has no place for them, so whoever read an object and wrote it back "
                    "would delete them: use dynamic::Unstructured");
  }
  VersionMaker(out).AddRoot(root);
  return out;
}

std::string_view TextAt(const codec::JsonTree& object, std::string_view name) {
  const codec::JsonTree* const member = object.Find(name);
  const std::string* const text = member == nullptr ? nullptr : member->AsString();
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

/// Nothing of an object of another kind. The items of a list count as objects, as `kubectl get -o
/// yaml` writes them.
Result<std::vector<Version>> VersionsOf(const codec::JsonTree& object) {
  std::vector<Version> versions;
  const std::string_view kind = TextAt(object, "kind");
  if (kind == "List" || kind == "CustomResourceDefinitionList") {
    const codec::JsonTree* const items = object.Find("items");
    for (std::size_t i = 0; items != nullptr && i < items->elements().size(); ++i) {
      KX_ASSIGN_OR_RETURN(std::vector<Version> more, VersionsOf(items->elements()[i]));
      std::ranges::move(more, std::back_inserter(versions));
    }
    return versions;
  }
  if (kind != "CustomResourceDefinition") {
    return versions;
  }
  if (TextAt(object, "apiVersion") != kGroupVersion) {
    return Fail(Reason::kInvalid,
                "a CustomResourceDefinition is not of " + std::string(kGroupVersion));
  }
  KX_ASSIGN_OR_RETURN(const auto definition,
                      codec::DecodeJson<CustomResourceDefinition>(object.ToJson()));
  for (const CustomResourceDefinitionVersion& version : definition.spec.versions) {
    if (version.served) {
      KX_ASSIGN_OR_RETURN(versions.emplace_back(), VersionOf(definition, version));
    }
  }
  return versions;
}

}  // namespace

std::vector<std::string> Field::Containers() const {
  std::vector<std::string> types;
  switch (shape) {
    case Shape::kOptional:
      types.push_back((kind == "kMessage" && !is_std_optional ? "::kubexx::apimachinery::Box<"
                                                              : "std::optional<") +
                      element + ">");
      break;
    case Shape::kRepeated:
      types.push_back("std::vector<" + element + ">");
      break;
    case Shape::kMap:
      types.push_back("std::map<std::string, " + element + ">");
      break;
    case Shape::kPlain:
      return types;
  }
  const bool is_text = shape == Shape::kOptional && kind == "kJsonValue";
  for (int more = (is_optional_container ? 1 : 0) + (keeps_null && !is_text ? 1 : 0); more > 0;
       --more) {
    types.push_back("std::optional<" + types.back() + ">");
  }
  return types;
}

Field MetadataField() {
  return {.member = "metadata",
          .json_name = "metadata",
          .kind = "kMessage",
          .element = "::kubexx::api::meta::v1::ObjectMeta",
          .table = "::kubexx::api::meta::v1::internal::kObjectMetaSchema"};
}

std::string Field::Type() const {
  const std::vector<std::string> containers = Containers();
  return containers.empty() ? element : containers.back();
}

bool Struct::IsAggregate() const { return size <= kMaxAggregateFields; }

std::string Version::What() const { return kind + " of " + group + "/" + version; }

Result<std::vector<Version>> ReadDefinitions(std::string_view text) {
  KX_ASSIGN_OR_RETURN(const std::vector<std::string> documents, codec::YamlToJson(text));
  std::vector<Version> all;
  for (const std::string& document : documents) {
    KX_ASSIGN_OR_RETURN(const codec::JsonTree object, codec::JsonTree::Parse(document));
    KX_ASSIGN_OR_RETURN(std::vector<Version> versions, VersionsOf(object));
    std::ranges::move(versions, std::back_inserter(all));
  }
  if (all.empty()) {
    return Fail(Reason::kInvalid, "there is no CustomResourceDefinition of " +
                                      std::string(kGroupVersion) + " that is served");
  }
  return all;
}

}  // namespace kubexx::crdgen
