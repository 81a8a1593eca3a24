#include "kubexx/crdgen/header_model.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "kubexx/crdgen/header_lexer.h"

namespace kubexx::crdgen {
namespace {

using api::apiextensions::v1::CustomResourceDefinition;
using apimachinery::Result;

using ModelStructs = std::map<const HeaderStruct*, const Struct*>;

Field ModelOf(const ResolvedMember& member, const ModelStructs& structs) {
  const MemberType& type = member.type;
  Field field{.member = member.member->name,
              .json_name = member.json_name,
              .shape = type.shape,
              .is_optional_container = type.is_optional_container};
  if (type.structure != nullptr) {
    field.kind = "kMessage";
    field.element = type.structure->name;
    field.message = structs.at(type.structure);
  } else {
    field.kind = type.known->kind;
    field.element = type.known->name;
    field.table = type.known->table;
  }
  field.is_std_optional = !type.is_box;
  const bool is_text = field.kind == "kJsonValue" && type.shape == Shape::kOptional;
  field.keeps_null =
      member.is_nullable && !member.is_required && (type.is_twice_optional || is_text);
  // What is required is written in any case: as null, if it may be null.
  const bool is_optional = type.shape == Shape::kOptional || type.is_optional_container;
  field.omit_empty = !member.is_required || (is_optional && !member.is_nullable);
  return field;
}

/// The names that the code for a kind declares, beside its structs.
std::set<std::string> GeneratedNames(const Version& version) {
  std::set<std::string> names = {version.kind + "Tables", "k" + version.kind + "Resource"};
  for (const auto& structure : version.structs) {
    names.insert("k" + structure->name + "Schema");
    names.insert("k" + structure->name + "Fields");
  }
  return names;
}

Result<void> CheckNames(const Header& header, const std::set<std::string>& names) {
  for (const std::string& name : names) {
    const auto structure = header.struct_index.find(name);
    const auto alias = header.alias_index.find(name);
    const std::size_t line =
        structure != header.struct_index.end() ? header.structs[structure->second].line
        : alias != header.alias_index.end()    ? header.aliases[alias->second].line
                                               : 1;
    if (line != 1 || header.constants.contains(name)) {
      return HeaderError(header.path, line,
                         name + " is a name that the generated code needs; choose another one");
    }
  }
  return {};
}

}  // namespace

Result<Version> ModelOfHeader(const ResolvedHeader& resolved,
                              const CustomResourceDefinition& definition, std::string include) {
  const auto version =
      std::ranges::find(definition.spec.versions, resolved.version,
                        &api::apiextensions::v1::CustomResourceDefinitionVersion::name);
  Version out{.group = resolved.group,
              .version = resolved.version,
              .kind = resolved.root().name,
              .plural = definition.spec.names.plural,
              .is_namespaced = definition.spec.scope == "Namespaced",
              .has_status = version != definition.spec.versions.end() && version->subresources &&
                            version->subresources->status,
              .header = std::move(include)};
  ModelStructs structs;
  for (const ResolvedStruct& structure : resolved.structs) {
    auto added = std::make_unique<Struct>();
    added->name = structure.structure->name;
    if (structure.structure == &resolved.root()) {
      added->fields.push_back(MetadataField());
    }
    for (const ResolvedMember& member : structure.members) {
      added->fields.push_back(ModelOf(member, structs));
    }
    structs.emplace(structure.structure, added.get());
    out.structs.push_back(std::move(added));
  }
  out.names = GeneratedNames(out);
  KX_RETURN_IF_ERROR(CheckNames(*resolved.header, out.names));
  return out;
}

}  // namespace kubexx::crdgen
