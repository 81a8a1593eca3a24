#include "kubexx/discovery/internal/legacy.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/discovery/internal/fetch.h"

namespace kubexx::discovery::internal {
namespace {

using api::apidiscovery::v2::APIGroupDiscovery;
using api::apidiscovery::v2::APIResourceDiscovery;
using api::apidiscovery::v2::APIVersionDiscovery;
using api::meta::v1::APIResource;
using apimachinery::Reason;
using apimachinery::Result;

api::meta::v1::GroupVersionKind KindOf(const APIResource& resource, std::string_view group,
                                       std::string_view version) {
  api::meta::v1::GroupVersionKind kind;
  kind.group = resource.version.empty() ? group : std::string_view(resource.group);
  kind.version = resource.version.empty() ? version : std::string_view(resource.version);
  kind.kind = resource.kind;
  return kind;
}

APIResourceDiscovery Convert(const APIResource& resource, std::string_view group,
                             std::string_view version) {
  APIResourceDiscovery out;
  out.resource = resource.name;
  out.response_kind = KindOf(resource, group, version);
  out.scope = resource.namespaced ? "Namespaced" : "Cluster";
  out.singular_resource = resource.singular_name;
  out.verbs = resource.verbs;
  out.short_names = resource.short_names;
  out.categories = resource.categories;
  return out;
}

// Resources are listed flat, "deployments" and "deployments/scale"; the second belongs to the
// first.
std::vector<APIResourceDiscovery> Nested(const std::vector<APIResource>& flat,
                                         std::string_view group, std::string_view version) {
  std::vector<APIResourceDiscovery> out;
  for (const APIResource& resource : flat) {
    if (resource.name.find('/') == std::string::npos) {
      out.push_back(Convert(resource, group, version));
    }
  }
  for (const APIResource& resource : flat) {
    const std::size_t slash = resource.name.find('/');
    const auto parent =
        std::ranges::find(out, resource.name.substr(0, slash), &APIResourceDiscovery::resource);
    if (slash == std::string::npos || parent == out.end()) {
      continue;
    }
    auto& subresource = parent->subresources.emplace_back();
    subresource.subresource = resource.name.substr(slash + 1);
    subresource.response_kind = KindOf(resource, group, version);
    subresource.verbs = resource.verbs;
  }
  return out;
}

// A version that cannot be had is stale and empty; only the caller's stop ends the whole.
Result<APIVersionDiscovery> FetchVersion(rest::RESTClient& client, std::string_view group,
                                         std::string_view version, const std::stop_token& stop) {
  APIVersionDiscovery out;
  out.version = version;
  std::string path = group.empty() ? "/api/" : "/apis/" + std::string(group) + "/";
  path += version;
  auto list = Fetch<api::meta::v1::APIResourceList>(client, path, {}, stop);
  if (!list && list.error().reason == Reason::kCancelled) {
    return apimachinery::Fail(std::move(list).error());
  }
  out.freshness = list ? "Current" : "Stale";
  if (list) {
    out.resources = Nested(list->resources, group, version);
  }
  return out;
}

bool IsAbsent(const apimachinery::Status& status) {
  return status.reason == Reason::kNotFound || status.reason == Reason::kForbidden;
}

// The preferred version first, the others in the server's order.
std::vector<std::string> VersionsOf(const api::meta::v1::APIGroup& group) {
  std::vector<std::string> versions;
  if (!group.preferred_version.version.empty()) {
    versions.push_back(group.preferred_version.version);
  }
  for (const auto& version : group.versions) {
    if (version.version != group.preferred_version.version) {
      versions.push_back(version.version);
    }
  }
  return versions;
}

}  // namespace

Result<GroupList> LegacyGroups(rest::RESTClient& client, const std::stop_token& stop) {
  std::vector<std::pair<std::string, std::vector<std::string>>> wanted;
  auto core = Fetch<api::meta::v1::APIVersions>(client, "/api", {}, stop);
  if (core) {
    wanted.emplace_back("", core->versions);
  } else if (!IsAbsent(core.error())) {
    return apimachinery::Fail(std::move(core).error());
  }
  KX_ASSIGN_OR_RETURN(const auto groups,
                      Fetch<api::meta::v1::APIGroupList>(client, "/apis", {}, stop));
  for (const auto& group : groups.groups) {
    wanted.emplace_back(group.name, VersionsOf(group));
  }
  GroupList out;
  for (const auto& [name, versions] : wanted) {
    APIGroupDiscovery& group = out.items.emplace_back();
    group.metadata.name = name;
    for (const std::string& version : versions) {
      KX_ASSIGN_OR_RETURN(APIVersionDiscovery found, FetchVersion(client, name, version, stop));
      group.versions.push_back(std::move(found));
    }
  }
  return out;
}

}  // namespace kubexx::discovery::internal
