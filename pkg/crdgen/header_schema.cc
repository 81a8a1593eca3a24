#include "kubexx/crdgen/header_schema.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <ranges>
#include <span>
#include <string>
#include <utility>

#include "kubexx/api/apiextensions/v1/schema.gen.h"
#include "kubexx/codec/codec.h"
#include "kubexx/crdgen/header_lexer.h"
#include "kubexx/crdgen/known_schema.h"
#include "kubexx/crdgen/marker_schema.h"

namespace kubexx::crdgen {
namespace {

using api::apiextensions::v1::JSONSchemaProps;
using api::apiextensions::v1::JSONSchemaPropsOrArray;
using api::apiextensions::v1::JSONSchemaPropsOrBool;
using apimachinery::Result;

/// etcd takes no more by default.
constexpr std::size_t kMaxSchemaBytes = std::size_t{3} << 19;
/// Of all structs together, each with those that are in it.
constexpr std::size_t kMaxTotalBytes = std::size_t{8} << 20;
/// About what a field has at least: its name and its type.
constexpr std::size_t kFieldBytes = 24;

class SchemaMaker {
 public:
  explicit SchemaMaker(const ResolvedHeader& resolved) : resolved_(resolved) {}

  Result<JSONSchemaProps> Run() {
    for (const ResolvedStruct& structure : resolved_.structs) {
      KX_RETURN_IF_ERROR(AddStruct(structure));
    }
    JSONSchemaProps root = std::move(structs_.at(&resolved_.root()).schema);
    KX_ASSIGN_OR_RETURN(JSONSchemaProps object, codec::DecodeJson<JSONSchemaProps>(kObjectSchema));
    object.properties.at("metadata").description = resolved_.metadata->comment.description;
    root.properties.merge(object.properties);
    return root;
  }

 private:
  /// A schema, and about how large it is.
  struct Sized {
    JSONSchemaProps schema{};
    std::size_t size = 0;
  };

  std::string_view Path() const { return resolved_.header->path; }

  /// kInvalid if a schema has become too large; it is asked before each copy.
  Result<void> CheckSize(std::size_t size, std::size_t line) const {
    if (size > kMaxSchemaBytes) {
      return HeaderError(Path(), line,
                         "the definition would be larger than the 1.5 MiB that an API server can "
                         "store");
    }
    return {};
  }

  Result<void> AddStruct(const ResolvedStruct& structure) {
    const HeaderComment& comment = structure.structure->comment;
    Sized out;
    out.schema.type = "object";
    for (const ResolvedMember& member : structure.members) {
      KX_ASSIGN_OR_RETURN(Sized field, Field(member));
      out.size += field.size + member.json_name.size();
      KX_RETURN_IF_ERROR(CheckSize(out.size, member.member->line));
      out.schema.properties.emplace(member.json_name, std::move(field.schema));
      if (member.is_required) {
        out.schema.required.push_back(member.json_name);
      }
    }
    std::ranges::sort(out.schema.required);
    KX_RETURN_IF_ERROR(Comment(comment, out, structure.structure->line));
    total_ += out.size;
    KX_RETURN_IF_ERROR(CheckSize(total_ > kMaxTotalBytes ? total_ : 0, structure.structure->line));
    structs_.emplace(structure.structure, std::move(out));
    return {};
  }

  /// What a comment adds: a description in place of the type's, and the markers.
  Result<void> Comment(const HeaderComment& comment, Sized& out, std::size_t line) const {
    if (!comment.description.empty()) {
      out.schema.description = comment.description;
    }
    out.size += comment.description.size();
    for (const Marker& marker : comment.markers) {
      out.size += marker.size;
    }
    KX_RETURN_IF_ERROR(CheckSize(out.size, line));
    return ApplyMarkers(comment.markers, Path(), out.schema);
  }

  Result<Sized> Field(const ResolvedMember& member) const {
    const std::size_t line = member.member->line;
    KX_ASSIGN_OR_RETURN(Sized field, Element(member.type));
    for (const HeaderAlias* const alias : std::views::reverse(member.type.element_aliases)) {
      KX_RETURN_IF_ERROR(Comment(alias->comment, field, line));
    }
    field.size += kFieldBytes;
    if (member.type.shape == Shape::kRepeated) {
      JSONSchemaProps list;
      list.type = "array";
      list.items = JSONSchemaPropsOrArray();
      list.items->schema = std::move(field.schema);
      field.schema = std::move(list);
    } else if (member.type.shape == Shape::kMap) {
      JSONSchemaProps map;
      map.type = "object";
      map.additional_properties = JSONSchemaPropsOrBool();
      map.additional_properties->allows = true;
      map.additional_properties->schema = std::move(field.schema);
      field.schema = std::move(map);
    }
    for (const HeaderAlias* const alias : std::views::reverse(member.type.aliases)) {
      KX_RETURN_IF_ERROR(Comment(alias->comment, field, line));
    }
    KX_RETURN_IF_ERROR(Comment(member.member->comment, field, line));
    return field;
  }

  Result<Sized> Element(const MemberType& type) const {
    if (type.structure != nullptr) {
      return structs_.at(type.structure);
    }
    KX_ASSIGN_OR_RETURN(JSONSchemaProps schema,
                        codec::DecodeJson<JSONSchemaProps>(type.known->schema));
    return Sized{.schema = std::move(schema), .size = type.known->schema.size()};
  }

  const ResolvedHeader& resolved_;
  std::map<const HeaderStruct*, Sized> structs_;
  std::size_t total_ = 0;
};

}  // namespace

Result<JSONSchemaProps> SchemaOfHeader(const ResolvedHeader& resolved) {
  return SchemaMaker(resolved).Run();
}

}  // namespace kubexx::crdgen
