#include "kubexx/crdgen/header_kinds.h"

#include <cstddef>
#include <map>
#include <utility>

#include "kubexx/crdgen/header.h"
#include "kubexx/crdgen/header_definition.h"
#include "kubexx/crdgen/header_model.h"
#include "kubexx/crdgen/resolved_header.h"

namespace kubexx::crdgen {
namespace {

using apimachinery::Result;

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
