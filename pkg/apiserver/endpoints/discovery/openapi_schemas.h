/// @file
/// The schemas of OpenAPI documents, of versions 2 and 3.
#ifndef KUBEXX_APISERVER_ENDPOINTS_DISCOVERY_OPENAPI_SCHEMAS_H_
#define KUBEXX_APISERVER_ENDPOINTS_DISCOVERY_OPENAPI_SCHEMAS_H_

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/codec/schema.h"

namespace kubexx::apiserver {

/// Which OpenAPI a schema is written for: they refer to each other in different ways, and version 2
/// knows less.
enum class OpenApiVersion : std::uint8_t { kV2, kV3 };

/// The schemas of one document: those of types, from the codec's tables, and those they refer to.
class OpenApiSchemas {
 public:
  explicit OpenApiSchemas(OpenApiVersion version) : version_(version) {}
  /// The schema of a resource's objects and that of their lists.
  void Add(const ResourceType& type);
  /// By name; none is left.
  codec::JsonTree Take();

 private:
  void AddBuiltin(const codec::TypeSchema& type);
  void AddCustom(const ResourceType& type);
  codec::JsonTree Reference(const codec::TypeSchema& type);
  codec::JsonTree Element(const codec::FieldSchema& field);
  codec::JsonTree Property(const codec::FieldSchema& field);
  void AddProperties(const codec::TypeSchema& type, codec::JsonTree& properties);

  const OpenApiVersion version_;
  std::set<std::string> seen_{};
  std::vector<codec::JsonTree::Member> schemas_{};
};

/// The schemas of a custom resource and of its list, by name, as they are published: the
/// definition's with what every object has. Version 2 says less where its clients would refuse what
/// the server takes: fields that are null, unknown fields, and alternatives.
std::vector<codec::JsonTree::Member> PublishedSchemas(const ResourceType& type,
                                                      OpenApiVersion version);

/// What every schema of an object has as x-kubernetes-group-version-kind.
codec::JsonTree GroupVersionKind(std::string_view group, std::string_view version,
                                 std::string_view kind);

/// {"type":type,"format":format}, without an empty format.
codec::JsonTree TypedSchema(std::string_view type, std::string_view format = {});

/// A schema that is another one: "io.k8s.api.core.v1.Pod".
codec::JsonTree SchemaReference(OpenApiVersion version, std::string_view name);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_DISCOVERY_OPENAPI_SCHEMAS_H_
