#include "kubexx/apiserver/endpoints/openapi.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/apiserver/endpoints/media_type.h"
#include "kubexx/apiserver/endpoints/patch.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/codec/schema.h"

namespace kubexx::apiserver {
namespace {

using codec::Cardinality;
using codec::FieldSchema;
using codec::JsonForm;
using codec::JsonTree;
using codec::Kind;
using codec::TypeSchema;

constexpr std::string_view kRoot = "/openapi/v3";
constexpr std::string_view kMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.";

/// "com.example.v1.Widget" for Widget in example.com/v1.
std::string NameOf(const ResourceType& type) {
  std::string name;
  for (std::string_view rest = type.group; !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find('.'));
    name = std::string(part) + "." + name;
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  }
  return name + type.version + "." + type.kind;
}

/// "core.v1.Pod" is "io.k8s.api.core.v1.Pod".
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

JsonTree Typed(const char* type, const char* format = nullptr) {
  JsonTree tree = JsonTree::Object();
  tree["type"] = type;
  if (format != nullptr) {
    tree["format"] = format;
  }
  return tree;
}

JsonTree Gvk(std::string_view group, std::string_view version, std::string_view kind) {
  JsonTree gvk = JsonTree::Object();
  gvk["group"] = group;
  gvk["version"] = version;
  gvk["kind"] = kind;
  return gvk;
}

/// The schemas of one document.
class Schemas {
 public:
  void Add(const TypeSchema& type) { AddAs(NameOf(type), type); }
  /// The schema of a definition, with what every object has.
  void AddCustom(const ResourceType& type) {
    const JsonTree* const source = type.custom->source.At({"schema", "openAPIV3Schema"});
    JsonTree schema = source == nullptr ? Typed("object") : *source;
    JsonTree& properties = schema["properties"];
    for (const char* const field : {"apiVersion", "kind"}) {
      properties[field] = Typed("string");
    }
    properties["metadata"] = Reference(codec::SchemaOf<api::meta::v1::ObjectMeta>());
    schema["x-kubernetes-group-version-kind"].Append(Gvk(type.group, type.version, type.kind));
    schemas_[NameOf(type)] = std::move(schema);
  }
  JsonTree Take() { return std::move(schemas_); }

 private:
  JsonTree Element(const FieldSchema& field) {
    switch (field.kind) {
      case Kind::kBool:
        return Typed("boolean");
      case Kind::kInt32:
      case Kind::kUint32:
        return Typed("integer", "int32");
      case Kind::kInt64:
      case Kind::kUint64:
        return Typed("integer", "int64");
      case Kind::kDouble:
        return Typed("number", "double");
      case Kind::kBytes:
        return Typed("string", "byte");
      case Kind::kTime:
      case Kind::kMicroTime:
        return Typed("string", "date-time");
      case Kind::kMessage:
        return Reference(*field.message);
      case Kind::kStringList: {
        JsonTree tree = Typed("array");
        tree["items"] = Typed("string");
        return tree;
      }
      case Kind::kIntOrString: {
        JsonTree tree = Typed("string", "int-or-string");
        return tree;
      }
      case Kind::kRawExtension:
      case Kind::kFieldsV1:
        return Typed("object");
      case Kind::kJsonValue:
        return JsonTree::Object();
      case Kind::kString:
      case Kind::kQuantity:
      case Kind::kDuration:
        break;
    }
    return Typed("string");
  }

  JsonTree Reference(const TypeSchema& type) {
    const std::string name = NameOf(type);
    AddAs(name, type);
    JsonTree reference = JsonTree::Object();
    reference["$ref"] = "#/components/schemas/" + name;
    JsonTree tree = JsonTree::Object();
    tree["allOf"].Append(std::move(reference));
    return tree;
  }

  JsonTree Property(const FieldSchema& field) {
    JsonTree element = Element(field);
    if (field.cardinality == Cardinality::kRepeated) {
      JsonTree tree = Typed("array");
      tree["items"] = std::move(element);
      return tree;
    }
    if (field.cardinality == Cardinality::kMap) {
      JsonTree tree = Typed("object");
      tree["additionalProperties"] = std::move(element);
      return tree;
    }
    return element;
  }

  void AddProperties(const TypeSchema& type, JsonTree& properties) {
    for (const FieldSchema& field : type.fields) {
      if ((field.flags & codec::kInline) != 0 && field.message != nullptr) {
        AddProperties(*field.message, properties);
        continue;
      }
      JsonTree property = Property(field);
      if (field.cardinality == Cardinality::kRepeated) {
        const std::string_view key = MergeKeyOf(type.name, field.name);
        if (!key.empty()) {
          property["x-kubernetes-patch-strategy"] = "merge";
          property["x-kubernetes-patch-merge-key"] = key;
        }
      }
      properties[field.name] = std::move(property);
    }
  }

  void AddAs(const std::string& name, const TypeSchema& type) {
    if (!seen_.insert(name).second) {
      return;
    }
    JsonTree schema = JsonTree::Object();
    if (type.json_form == JsonForm::kObject || type.json_form == JsonForm::kBareObject) {
      schema = Typed("object");
      schema["properties"] = JsonTree::Object();
      AddProperties(type, schema["properties"]);
      if (!type.kind.empty()) {
        schema["properties"]["apiVersion"] = Typed("string");
        schema["properties"]["kind"] = Typed("string");
        schema["x-kubernetes-group-version-kind"].Append(Gvk(type.group, type.version, type.kind));
      }
    }
    schemas_[name] = std::move(schema);
  }

  std::set<std::string> seen_;
  JsonTree schemas_ = JsonTree::Object();
};

JsonTree PatchOperation(const ResourceType& type) {
  JsonTree operation = JsonTree::Object();
  operation["x-kubernetes-action"] = "patch";
  operation["x-kubernetes-group-version-kind"] = Gvk(type.group, type.version, type.kind);
  for (const char* const name : {"dryRun", "fieldManager", "fieldValidation", "force"}) {
    JsonTree parameter = JsonTree::Object();
    parameter["name"] = name;
    parameter["in"] = "query";
    parameter["schema"] = Typed(std::string_view(name) == "force" ? "boolean" : "string");
    operation["parameters"].Append(std::move(parameter));
  }
  operation["responses"]["200"]["description"] = "OK";
  return operation;
}

std::string PathOf(const ResourceType& type) {
  return (type.group.empty() ? "/api/" : "/apis/") + type.ApiVersion() +
         (type.namespaced ? "/namespaces/{namespace}/" : "/") + type.plural + "/{name}";
}

http::Response OpenApiDocument(const JsonTree& body) {
  http::Response response;
  response.content_type = kJsonType;
  response.body = body.ToJson();
  return response;
}

http::Response Index(const std::vector<ResourceTypeRef>& types) {
  JsonTree index = JsonTree::Object();
  index["paths"] = JsonTree::Object();
  for (const ResourceTypeRef& type : types) {
    const std::string path = (type->group.empty() ? "api/" : "apis/") + type->ApiVersion();
    index["paths"][path]["serverRelativeURL"] = std::string(kRoot) + "/" + path;
  }
  return OpenApiDocument(index);
}

}  // namespace

std::optional<http::Response> ServeOpenApi(const http::Request& request,
                                           const std::vector<ResourceTypeRef>& types) {
  if (request.path == kRoot) {
    return Index(types);
  }
  if (!request.path.starts_with(std::string(kRoot) + "/")) {
    return std::nullopt;
  }
  const std::string path = request.path.substr(kRoot.size() + 1);
  JsonTree document = JsonTree::Object();
  document["openapi"] = "3.0.0";
  document["info"]["title"] = "kubexx-apiserver";
  document["info"]["version"] = "v1.36.0";
  document["paths"] = JsonTree::Object();
  Schemas schemas;
  for (const ResourceTypeRef& type : types) {
    if ((type->group.empty() ? "api/" : "apis/") + type->ApiVersion() == path) {
      document["paths"][PathOf(*type)]["patch"] = PatchOperation(*type);
      if (type->schema != nullptr) {
        schemas.Add(*type->schema);
      } else if (type->custom) {
        schemas.AddCustom(*type);
      }
    }
  }
  if (document["paths"].size() == 0) {
    return std::nullopt;
  }
  document["components"]["schemas"] = schemas.Take();
  return OpenApiDocument(document);
}

}  // namespace kubexx::apiserver
