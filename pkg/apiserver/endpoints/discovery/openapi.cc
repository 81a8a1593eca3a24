#include "kubexx/apiserver/endpoints/discovery/openapi.h"

#include <string>
#include <string_view>
#include <utility>

#include "kubexx/apiserver/endpoints/discovery/openapi_schemas.h"
#include "kubexx/apiserver/endpoints/request/media_type.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr std::string_view kRoot = "/openapi/v3";

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

JsonTree PatchOperation(const ResourceType& type, OpenApiVersion version) {
  JsonTree operation = JsonTree::Object();
  operation["x-kubernetes-action"] = "patch";
  operation["x-kubernetes-group-version-kind"] =
      GroupVersionKind(type.group, type.version, type.kind);
  for (const char* const name : {"dryRun", "fieldManager", "fieldValidation", "force"}) {
    JsonTree parameter = JsonTree::Object();
    parameter["name"] = name;
    parameter["in"] = "query";
    const char* const kind = std::string_view(name) == "force" ? "boolean" : "string";
    if (version == OpenApiVersion::kV3) {
      parameter["schema"] = TypedSchema(kind);
    } else {
      parameter["type"] = kind;
      parameter["uniqueItems"] = true;
    }
    operation["parameters"].Append(std::move(parameter));
  }
  operation["responses"]["200"]["description"] = "OK";
  return operation;
}

std::string OpenApiPathOf(const ResourceType& type) {
  return (type.group.empty() ? "/api/" : "/apis/") + type.ApiVersion() +
         (type.namespaced ? "/namespaces/{namespace}/" : "/") + type.plural + "/{name}";
}

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
  OpenApiSchemas schemas(OpenApiVersion::kV3);
  for (const ResourceTypeRef& type : types) {
    if ((type->group.empty() ? "api/" : "apis/") + type->ApiVersion() == path) {
      document["paths"][OpenApiPathOf(*type)]["patch"] = PatchOperation(*type, OpenApiVersion::kV3);
      schemas.Add(*type);
    }
  }
  if (document["paths"].size() == 0) {
    return std::nullopt;
  }
  document["components"]["schemas"] = schemas.Take();
  return OpenApiDocument(document);
}

}  // namespace kubexx::apiserver
