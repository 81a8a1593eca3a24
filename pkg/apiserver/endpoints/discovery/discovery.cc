#include "kubexx/apiserver/endpoints/discovery/discovery.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/request/media_type.h"
#include "kubexx/apiserver/object/version_priority.h"
#include "kubexx/codec/base64.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/crypto/sha.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr std::string_view kAggregatedType =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

JsonTree ArrayOf(const std::vector<std::string>& strings) {
  JsonTree array = JsonTree::Array();
  for (const std::string& text : strings) {
    array.Append(text);
  }
  return array;
}

http::Response Document(const JsonTree& body, std::string_view type = kJsonType) {
  http::Response response;
  response.content_type = type;
  response.body = body.ToJson();
  return response;
}

std::vector<std::string> GroupsOf(const std::vector<ResourceTypeRef>& types) {
  std::vector<std::string> groups;
  std::set<std::string_view> seen;
  for (const ResourceTypeRef& type : types) {
    if (seen.insert(type->group).second) {
      groups.push_back(type->group);
    }
  }
  return groups;
}

std::vector<std::string> VersionsOf(const std::vector<ResourceTypeRef>& types,
                                    std::string_view group) {
  std::vector<std::string> versions;
  std::set<std::string_view> seen;
  for (const ResourceTypeRef& type : types) {
    if (type->group == group && seen.insert(type->version).second) {
      versions.push_back(type->version);
    }
  }
  std::ranges::stable_sort(versions, IsPreferredVersion);
  return versions;
}

/// Returns the types by group. There may be thousands of groups, and of versions of one group.
std::map<std::string_view, std::vector<ResourceTypeRef>> TypesByGroup(
    const std::vector<ResourceTypeRef>& types) {
  std::map<std::string_view, std::vector<ResourceTypeRef>> groups;
  for (const ResourceTypeRef& type : types) {
    groups[type->group].push_back(type);
  }
  return groups;
}

JsonTree KindTree(std::string_view group, std::string_view version, std::string_view kind) {
  JsonTree tree = JsonTree::Object();
  tree["group"] = group;
  tree["version"] = version;
  tree["kind"] = kind;
  return tree;
}

/// Returns the kind with which a subresource answers. The group and version are left out when they
/// are the resource's own.
JsonTree KindOf(const ResourceType& type, const Subresource& sub) {
  if (sub.kind.empty()) {
    return KindTree("", "", type.kind);
  }
  const bool own = sub.group == type.group && sub.version == type.version;
  return own ? KindTree("", "", sub.kind) : KindTree(sub.group, sub.version, sub.kind);
}

JsonTree AggregatedResource(const ResourceType& type) {
  JsonTree tree = JsonTree::Object();
  const std::string scope = type.namespaced ? "Namespaced" : "Cluster";
  tree["resource"] = type.plural;
  tree["responseKind"] = KindTree("", "", type.kind);
  tree["scope"] = scope;
  tree["singularResource"] = type.singular;
  tree["verbs"] = ArrayOf(type.verbs.Names());
  if (!type.short_names.empty()) {
    tree["shortNames"] = ArrayOf(type.short_names);
  }
  if (!type.categories.empty()) {
    tree["categories"] = ArrayOf(type.categories);
  }
  for (const Subresource& sub : type.subresources) {
    JsonTree one = JsonTree::Object();
    one["subresource"] = sub.name;
    one["responseKind"] = KindOf(type, sub);
    one["verbs"] = ArrayOf(sub.verbs.Names());
    tree["subresources"].Append(std::move(one));
  }
  return tree;
}

/// `types` are the types of the group.
JsonTree AggregatedGroup(const std::vector<ResourceTypeRef>& types, const std::string& group) {
  JsonTree tree = JsonTree::Object();
  tree["metadata"] = JsonTree::Object();
  if (!group.empty()) {
    tree["metadata"]["name"] = group;
  }
  std::map<std::string_view, std::vector<const ResourceType*>> by_version;
  for (const ResourceTypeRef& type : types) {
    by_version[type->version].push_back(type.get());
  }
  for (const std::string& version : VersionsOf(types, group)) {
    JsonTree one = JsonTree::Object();
    one["version"] = version;
    for (const ResourceType* const type : by_version[version]) {
      one["resources"].Append(AggregatedResource(*type));
    }
    one["freshness"] = "Current";
    tree["versions"].Append(std::move(one));
  }
  return tree;
}

http::Response Aggregated(const std::vector<ResourceTypeRef>& types, bool core) {
  JsonTree list = JsonTree::Object();
  list["kind"] = "APIGroupDiscoveryList";
  list["apiVersion"] = "apidiscovery.k8s.io/v2";
  list["metadata"] = JsonTree::Object();
  list["items"] = JsonTree::Array();
  const auto by_group = TypesByGroup(types);
  for (const std::string& group : GroupsOf(types)) {
    if (group.empty() == core) {
      list["items"].Append(AggregatedGroup(by_group.at(group), group));
    }
  }
  return Document(list, kAggregatedType);
}

JsonTree LegacyGroup(const std::vector<ResourceTypeRef>& types, const std::string& group) {
  JsonTree tree = JsonTree::Object();
  tree["name"] = group;
  for (const std::string& version : VersionsOf(types, group)) {
    JsonTree one = JsonTree::Object();
    one["groupVersion"] = group + "/" + version;
    one["version"] = version;
    tree["versions"].Append(one);
    if (tree.Find("preferredVersion") == nullptr) {
      tree["preferredVersion"] = std::move(one);
    }
  }
  return tree;
}

JsonTree LegacyResource(const ResourceType& type, const std::string& name, std::string_view kind,
                        Verbs verbs) {
  JsonTree tree = JsonTree::Object();
  tree["name"] = name;
  tree["singularName"] = name == type.plural ? type.singular : "";
  tree["namespaced"] = type.namespaced;
  tree["kind"] = kind;
  tree["verbs"] = ArrayOf(verbs.Names());
  return tree;
}

/// "apps/v1", "/v1" for the core group: as kube-apiserver names the version that objects are stored
/// in.
std::string HashedVersionOf(const ResourceType& type) {
  if (!type.hashed_version.empty()) {
    return std::string(type.hashed_version);
  }
  return type.group + "/" +
         (type.custom      ? type.custom->storage_version
          : type.stored_as ? type.stored_as->version
                           : type.version);
}

std::string StorageVersionHash(const ResourceType& type) {
  constexpr std::size_t kBytes = 8;
  const std::string stored = HashedVersionOf(type) + "/" + type.kind;
  const crypto::Sha256Sum hash = crypto::Sha256(stored);
  return codec::EncodeBase64({reinterpret_cast<const char*>(hash.data()), kBytes});
}

http::Response LegacyResources(const std::vector<ResourceTypeRef>& types, const std::string& group,
                               const std::string& version) {
  JsonTree list = JsonTree::Object();
  list["kind"] = "APIResourceList";
  list["apiVersion"] = "v1";
  list["groupVersion"] = group.empty() ? version : group + "/" + version;
  list["resources"] = JsonTree::Array();
  for (const ResourceTypeRef& type : types) {
    if (type->group != group || type->version != version) {
      continue;
    }
    JsonTree tree = LegacyResource(*type, type->plural, type->kind, type->verbs);
    if (!type->short_names.empty()) {
      tree["shortNames"] = ArrayOf(type->short_names);
    }
    if (!type->categories.empty()) {
      tree["categories"] = ArrayOf(type->categories);
    }
    if (!type->is_review && !type->is_made_up) {
      tree["storageVersionHash"] = StorageVersionHash(*type);
    }
    list["resources"].Append(std::move(tree));
    for (const Subresource& sub : type->subresources) {
      const bool own = sub.kind.empty();
      JsonTree one = LegacyResource(*type, type->plural + "/" + std::string(sub.name),
                                    own ? type->kind : sub.kind, sub.verbs);
      if (!own && sub.group != type->group) {
        one["group"] = sub.group;
        one["version"] = sub.version;
      }
      list["resources"].Append(std::move(one));
    }
  }
  return Document(list);
}

http::Response LegacyRoot(const std::vector<ResourceTypeRef>& types, bool core) {
  JsonTree list = JsonTree::Object();
  if (core) {
    list["kind"] = "APIVersions";
    list["versions"] = ArrayOf(VersionsOf(types, ""));
    list["serverAddressByClientCIDRs"] = JsonTree::Array();
    return Document(list);
  }
  list["kind"] = "APIGroupList";
  list["apiVersion"] = "v1";
  list["groups"] = JsonTree::Array();
  const auto by_group = TypesByGroup(types);
  for (const std::string& group : GroupsOf(types)) {
    if (!group.empty()) {
      list["groups"].Append(LegacyGroup(by_group.at(group), group));
    }
  }
  return Document(list);
}

/// Returns the other paths that can be read.
http::Response RootPaths(const std::vector<ResourceTypeRef>& types) {
  std::set<std::string> paths{"/api",     "/apis",       "/healthz",    "/livez",  "/metrics",
                              "/openapi", "/openapi/v2", "/openapi/v3", "/readyz", "/version"};
  for (const auto& [group, members] : TypesByGroup(types)) {
    const std::string root = group.empty() ? "/api" : "/apis/" + std::string(group);
    paths.insert(root);
    for (const ResourceTypeRef& type : members) {
      paths.insert(root + "/" + type->version);
    }
  }
  JsonTree tree = JsonTree::Object();
  tree["paths"] = ArrayOf({paths.begin(), paths.end()});
  return Document(tree);
}

bool WantsAggregated(const http::Request& request) {
  return std::ranges::any_of(ParseAccept(request.Header("Accept")), [](const MediaType& media) {
    return media.type == kJsonType && media.Parameter("g") == "apidiscovery.k8s.io" &&
           media.Parameter("v") == "v2";
  });
}

}  // namespace

std::optional<http::Response> Discover(const http::Request& request,
                                       const std::vector<ResourceTypeRef>& types) {
  std::string_view path = request.path;
  while (path.size() > 1 && path.ends_with('/')) {
    path.remove_suffix(1);
  }
  if (path == "/") {
    return RootPaths(types);
  }
  if (path == "/api" || path == "/apis") {
    const bool core = path == "/api";
    return WantsAggregated(request) ? Aggregated(types, core) : LegacyRoot(types, core);
  }
  const bool core = path.starts_with("/api/");
  if (!core && !path.starts_with("/apis/")) {
    return std::nullopt;
  }
  const std::string rest(path.substr(core ? 5 : 6));
  const std::size_t slash = rest.find('/');
  const std::string group = core ? "" : rest.substr(0, slash);
  const std::string version = core                         ? rest
                              : slash == std::string::npos ? ""
                                                           : rest.substr(slash + 1);
  const std::vector<std::string> versions = VersionsOf(types, group);
  if (!core && version.empty() && !versions.empty()) {
    JsonTree tree = LegacyGroup(types, group);
    tree["kind"] = "APIGroup";
    tree["apiVersion"] = "v1";
    return Document(tree);
  }
  if (std::ranges::find(versions, version) == versions.end()) {
    return std::nullopt;
  }
  return LegacyResources(types, group, version);
}

}  // namespace kubexx::apiserver
