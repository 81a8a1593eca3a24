/// @file
/// Reads of which API resource a description of a kind is.
#ifndef KUBEXX_RELOADER_KINDS_KIND_API_H_
#define KUBEXX_RELOADER_KINDS_KIND_API_H_

#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/group_version.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/reloader/settings/settings_node.h"

namespace kubexx::reloader {

/// A resource as people describe it. A value type.
struct KindApi {
  std::string group{};
  std::string version{};
  std::string kind{};
  std::string resource{};

  /// The API resource. Valid as long as this object, and while it does not change.
  apimachinery::ResourceInfo Resource() const { return {group, version, kind, resource, true}; }
};

/// Reads the members `group`, `version`, `kind` and `resource`. `example` appears in errors. Fails
/// with kInvalidConfig unless it is a resource of a CRD: the group has a dot, so that the API
/// server's own kinds (Secrets among them) cannot be described.
apimachinery::Result<KindApi> ReadKindApi(const SettingsNode& node, const KindApi& example);

/// Whether people call the kind so, as one object or as several.
bool IsKindCalled(const apimachinery::ResourceInfo& resource, std::string_view name);

/// Fails with kInvalidConfig when the kind that `node` describes is called as one of `own`, which
/// the operator has itself, or as one of `others`, which the same list has before it.
apimachinery::Result<void> CheckKindNames(const SettingsNode& node, const KindApi& api,
                                          const std::vector<apimachinery::ResourceInfo>& own,
                                          const std::vector<apimachinery::ResourceInfo>& others);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_KINDS_KIND_API_H_
