/// @file
/// The upgrade of an object's managed fields from client-side to server-side apply.
#ifndef KUBEXX_KUBERNETES_MANAGED_FIELDS_UPGRADE_H_
#define KUBEXX_KUBERNETES_MANAGED_FIELDS_UPGRADE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/apimachinery/status.h"

namespace kubexx::kubernetes {

/// Which managers become one.
struct ManagedFieldsUpgrade {
  /// The names of the field managers that have written with updates and patches: the program's
  /// former field manager or, when it set none, the first part of its user agent.
  std::vector<std::string> update_managers{};
  /// The field manager of the program's server-side apply.
  std::string apply_manager{};
  /// Only entries of this subresource, for example "status"; empty: of the object itself.
  std::string subresource{};
};

/// Makes the fields that update_managers own fields that apply_manager has applied, in an object's
/// metadata.managed_fields. Without this, a field that a program wrote with updates, and leaves out
/// of its server-side apply, stays for ever, because the former manager still owns it. The entry of
/// apply_manager, or if there is none the first entry of an update manager, gets the fields of the
/// entry of each update manager with the same API version; all entries of update managers are
/// removed. When there are none, nothing changes. kBadRequest when apply_manager is empty, as no
/// manager of an apply is. kMalformed, which names the manager, when a set
/// of fields cannot be read; the entries are unchanged then. Semantics: client-go util/csaupgrade
/// UpgradeManagedFields.
apimachinery::Result<void> UpgradeManagedFields(
    std::vector<api::meta::v1::ManagedFieldsEntry>& entries, const ManagedFieldsUpgrade& upgrade);

/// Returns a JSON patch that does this with the object on the server; std::nullopt when there is
/// nothing to do. The patch fails with kConflict when the object has changed since `metadata` was
/// read: read it and make the patch again. Do this once, before or after the first server-side
/// apply. It cannot be undone. Semantics: UpgradeManagedFieldsPatch.
///
///     const kubernetes::ManagedFieldsUpgrade upgrade{.update_managers = {"shop", "shop-v1"},
///                                                    .apply_manager = "shop-controller"};
///     auto done = controller::RetryOnConflict([&]() -> Result<void> {
///       KX_ASSIGN_OR_RETURN(const auto stored, client.GetLive<Deployment>(key));
///       KX_ASSIGN_OR_RETURN(const auto patch,
///                           kubernetes::UpgradeManagedFieldsPatch(stored.metadata, upgrade));
///       if (patch) {
///         KX_RETURN_IF_ERROR(client.Patch<Deployment>(key, rest::PatchType::kJson, *patch));
///       }
///       return {};
///     });
apimachinery::Result<std::optional<std::string>> UpgradeManagedFieldsPatch(
    const api::meta::v1::ObjectMeta& metadata, const ManagedFieldsUpgrade& upgrade);

}  // namespace kubexx::kubernetes

#endif  // KUBEXX_KUBERNETES_MANAGED_FIELDS_UPGRADE_H_
