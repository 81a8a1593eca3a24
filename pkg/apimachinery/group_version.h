/// @file
/// Names of types and resources.
#ifndef KUBEXX_APIMACHINERY_GROUP_VERSION_H_
#define KUBEXX_APIMACHINERY_GROUP_VERSION_H_

#include <compare>
#include <string>
#include <string_view>

namespace kubexx::apimachinery {

/// schema.GroupVersionKind. The core group is "".
struct GroupVersionKind {
  std::string group{};
  std::string version{};
  std::string kind{};
  /// "v1" or "apps/v1".
  std::string ApiVersion() const { return group.empty() ? version : group + "/" + version; }
  /// Splits "v1" or "apps/v1" at the slash.
  static GroupVersionKind FromApiVersionKind(std::string_view api_version, std::string_view kind);
  auto operator<=>(const GroupVersionKind&) const = default;
};

/// schema.GroupVersionResource: `resource` is the plural, for example "deployments".
struct GroupVersionResource {
  std::string group{};
  std::string version{};
  std::string resource{};
  /// "v1" or "apps/v1".
  std::string ApiVersion() const { return group.empty() ? version : group + "/" + version; }
  /// Returns for example "deployments.v1.apps" or "pods.v1.", for logs and errors.
  std::string ToString() const { return resource + "." + version + "." + group; }
  auto operator<=>(const GroupVersionResource&) const = default;
};

/// Describes the resource that the API server serves for one type. The generated code has one
/// constant for each built-in resource. All views refer to static storage.
struct ResourceInfo {
  std::string_view group{};
  std::string_view version{};
  std::string_view kind{};
  std::string_view plural{};
  bool namespaced = true;
  /// "v1" or "apps/v1".
  std::string ApiVersion() const {
    return (group.empty() ? "" : std::string(group) + "/") + std::string(version);
  }
  auto operator<=>(const ResourceInfo&) const = default;
};

}  // namespace kubexx::apimachinery

#endif  // KUBEXX_APIMACHINERY_GROUP_VERSION_H_
