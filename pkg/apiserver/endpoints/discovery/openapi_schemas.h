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

/// The version of OpenAPI for which a schema is written. The versions differ in how schemas refer
/// to each other, and version 2 supports fewer keywords.
enum class OpenApiVersion : std::uint8_t { kV2, kV3 };

/// The schemas of one document: those of types, from the codec's tables, and the schemas to which
/// these refer.
class OpenApiSchemas {
 public:
  explicit OpenApiSchemas(OpenApiVersion version) : version_(version) {}
  /// Adds the schemas of a resource's objects and of their lists.
  void Add(const ResourceType& type);
  /// Takes the schemas, as an object by their names.
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

/// The published schemas of a custom resource and of its list, by name: the definition's schema
/// with the fields that every object has. For version 2, keywords are left out when clients would
/// otherwise refuse objects that the server accepts: those about null, unknown fields and
/// alternatives.
std::vector<codec::JsonTree::Member> PublishedSchemas(const ResourceType& type,
                                                      OpenApiVersion version);

/// The value of x-kubernetes-group-version-kind in the schema of an object.
codec::JsonTree GroupVersionKind(std::string_view group, std::string_view version,
                                 std::string_view kind);

/// {"type":type,"format":format}, without an empty format.
codec::JsonTree TypedSchema(std::string_view type, std::string_view format = {});

/// A reference to another schema, such as "io.k8s.api.core.v1.Pod".
codec::JsonTree SchemaReference(OpenApiVersion version, std::string_view name);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_DISCOVERY_OPENAPI_SCHEMAS_H_
