#include "kubexx/reloader/kinds/kind_api.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "kubexx/apimachinery/names.h"
#include "kubexx/base/ascii.h"

namespace kubexx::reloader {
namespace {

using apimachinery::ResourceInfo;
using apimachinery::Result;

constexpr std::size_t kMaxKindName = 63;

bool IsKindName(std::string_view text) {
  return !text.empty() && text.size() <= kMaxKindName && base::IsLetter(text.front()) &&
         std::ranges::all_of(text, [](char c) { return base::IsAlphanumeric(c); });
}

}  // namespace

Result<KindApi> ReadKindApi(const SettingsNode& node, const KindApi& example) {
  KindApi api;
  KX_ASSIGN_OR_RETURN(api.group, node.At("group").Text());
  // The groups of CRDs have a dot; the others are the API server's own.
  if (!apimachinery::IsDnsSubdomain(api.group) || !api.group.contains('.')) {
    return node.At("group").Wrong(
        "\"" + api.group + "\" is no API group of custom resources, such as " + example.group);
  }
  KX_ASSIGN_OR_RETURN(api.version, node.At("version").Text());
  if (!apimachinery::IsDnsLabel(api.version)) {
    return node.At("version").Wrong("\"" + api.version + "\" is no version, such as " +
                                    example.version);
  }
  KX_ASSIGN_OR_RETURN(api.kind, node.At("kind").Text());
  if (!IsKindName(api.kind)) {
    return node.At("kind").Wrong("\"" + api.kind + "\" is no kind, such as " + example.kind);
  }
  KX_ASSIGN_OR_RETURN(api.resource, node.At("resource").Text());
  if (!apimachinery::IsDnsLabel(api.resource)) {
    return node.At("resource")
        .Wrong("\"" + api.resource +
               "\" is no resource, which is the kind in the plural and in "
               "small letters, such as " +
               example.resource);
  }
  return api;
}

bool IsKindCalled(const ResourceInfo& resource, std::string_view name) {
  const std::string lower = base::ToLower(name);
  return lower == base::ToLower(resource.kind) || lower == resource.plural;
}

Result<void> CheckKindNames(const SettingsNode& node, const KindApi& api,
                            const std::vector<ResourceInfo>& own,
                            const std::vector<ResourceInfo>& others) {
  for (const auto& [member, name] :
       {std::pair("kind", &api.kind), std::pair("resource", &api.resource)}) {
    const auto is_called_so = [name](const auto& other) { return IsKindCalled(other, *name); };
    if (std::ranges::any_of(own, is_called_so)) {
      return node.At(member).Wrong("\"" + *name +
                                   "\" is what the operator calls a kind of its own, and "
                                   "it tells kinds apart by their names");
    }
    if (std::ranges::any_of(others, is_called_so)) {
      return node.At(member).Wrong("\"" + *name + "\" is what another one of the list is called");
    }
  }
  return {};
}

}  // namespace kubexx::reloader
