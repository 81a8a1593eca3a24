#include "kubexx/crdgen/header_kinds.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "kubexx/crdgen/header.h"
#include "kubexx/crdgen/header_definition.h"
#include "kubexx/crdgen/header_lexer.h"
#include "kubexx/crdgen/header_model.h"
#include "kubexx/crdgen/lost_fields.h"
#include "kubexx/crdgen/resolved_header.h"

namespace kubexx::crdgen {
namespace {

using api::apiextensions::v1::CustomResourceDefinition;
using apimachinery::Result;

/// That a version has fields which the stored one lacks; "" if it has none, or is not served.
std::string WarningOf(const ResolvedHeader& resolved, const CustomResourceDefinition& definition) {
  using api::apiextensions::v1::CustomResourceDefinitionVersion;
  const auto& versions = definition.spec.versions;
  const auto own =
      std::ranges::find(versions, resolved.version, &CustomResourceDefinitionVersion::name);
  const auto stored = std::ranges::find(versions, true, &CustomResourceDefinitionVersion::storage);
  std::string fields;
  if (own->served) {
    for (const std::string& path :
         LostFields(*own->schema->open_api_v3_schema, *stored->schema->open_api_v3_schema)) {
      fields += (fields.empty() ? "" : ", ") + path;
    }
  }
  return fields.empty()
             ? ""
             : HeaderError(resolved.header->path, resolved.root().line,
                           own->name + " has fields that the stored version " + stored->name +
                               " lacks, and the API server drops them in each write: " + fields)
                   .error()
                   .message;
}

/// One kind, of which `indexes` are the headers.
Result<HeaderKind> KindOf(std::span<const std::size_t> indexes, std::span<const HeaderText> texts,
                          std::span<const ResolvedHeader> all) {
  std::vector<ResolvedHeader> versions;
  for (const std::size_t index : indexes) {
    versions.push_back(all[index]);
  }
  KX_ASSIGN_OR_RETURN(const auto definition, DefinitionOf(versions));
  HeaderKind kind{.definition_file = FileNameOf(definition), .definition = YamlOf(definition)};
  for (const std::size_t index : indexes) {
    KX_ASSIGN_OR_RETURN(Version version,
                        ModelOfHeader(all[index], definition, texts[index].include));
    kind.versions.push_back({.path = texts[index].path,
                             .namespace_ = all[index].header->namespace_,
                             .version = std::move(version)});
    if (std::string warning = WarningOf(all[index], definition); !warning.empty()) {
      kind.warnings.push_back(std::move(warning));
    }
  }
  return kind;
}

}  // namespace

Result<std::vector<HeaderKind>> ReadKinds(std::span<const HeaderText> headers) {
  std::vector<Header> read;
  read.reserve(headers.size());  // ResolvedHeader refers to them
  std::vector<ResolvedHeader> resolved;
  std::vector<std::vector<std::size_t>> kinds;
  std::map<std::pair<std::string, std::string>, std::size_t> kind_index;
  for (const HeaderText& header : headers) {
    KX_ASSIGN_OR_RETURN(read.emplace_back(), ReadHeader(header.text, header.path));
    KX_ASSIGN_OR_RETURN(resolved.emplace_back(), ResolveHeader(read.back()));
    const auto [kind, is_new] =
        kind_index.try_emplace({resolved.back().group, resolved.back().root().name}, kinds.size());
    if (is_new) {
      kinds.emplace_back();
    }
    kinds[kind->second].push_back(resolved.size() - 1);
  }
  std::vector<HeaderKind> out;
  for (const std::vector<std::size_t>& indexes : kinds) {
    KX_ASSIGN_OR_RETURN(out.emplace_back(), KindOf(indexes, headers, resolved));
  }
  return out;
}

}  // namespace kubexx::crdgen
