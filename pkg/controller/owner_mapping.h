/// @file
/// OwnersOf: finds the owners of an object.
#ifndef KUBEXX_CONTROLLER_OWNER_MAPPING_H_
#define KUBEXX_CONTROLLER_OWNER_MAPPING_H_

#include <vector>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/apimachinery/group_version.h"
#include "kubexx/workqueue/key.h"

namespace kubexx::controller {

/// Which of an object's owners a controller reconciles when the object changes.
enum class OwnerMatch : std::uint8_t {
  kController,  ///< the one that controls it
  kAny,         ///< all
};

/// Returns the keys of the object's owners that have the group and kind of `owner`, in any version.
/// `metadata` is the object's. A namespaced owner is in the object's namespace.
std::vector<workqueue::Key> OwnersOf(const api::meta::v1::ObjectMeta& metadata,
                                     const apimachinery::ResourceInfo& owner, OwnerMatch match);

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_OWNER_MAPPING_H_
