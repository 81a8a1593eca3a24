/// @file
/// From an object to its owners.
#ifndef KUBEXX_CONTROLLER_OWNER_MAPPING_H_
#define KUBEXX_CONTROLLER_OWNER_MAPPING_H_

#include <vector>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/apimachinery/group_version.h"
#include "kubexx/workqueue/key.h"

namespace kubexx::controller {

/// Which of an object's owners are asked to reconcile.
enum class OwnerMatch : std::uint8_t {
  kController,  ///< the one that controls it
  kAny,         ///< all
};

/// Keys of the owners of group and kind `owner` (in any version) of an object with this metadata. A
/// namespaced owner is in the object's namespace.
std::vector<workqueue::Key> OwnersOf(const api::meta::v1::ObjectMeta& metadata,
                                     const apimachinery::ResourceInfo& owner, OwnerMatch match);

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_OWNER_MAPPING_H_
