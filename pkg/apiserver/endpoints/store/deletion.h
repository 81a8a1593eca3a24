/// @file
/// Decides how an object is deleted: at once, when its finalizers are removed, or after a grace
/// period.
#ifndef KUBEXX_APISERVER_ENDPOINTS_STORE_DELETION_H_
#define KUBEXX_APISERVER_ENDPOINTS_STORE_DELETION_H_

#include <cstdint>

#include "kubexx/apiserver/endpoints/request/delete_options.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/base/clock.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// What to do with an object that is to be deleted.
enum class DeletionStep : std::uint8_t {
  kRemove,  ///< remove it now
  kMark,    ///< write it: the object was marked, and waits
  kWait,    ///< do nothing: the object already waits
};

/// Decides the next step and marks `object`. Marking sets deletionTimestamp,
/// deletionGracePeriodSeconds and generation, the finalizers foregroundDeletion and orphan, and the
/// phase of a namespace or the condition of a definition. As registry's BeforeDelete and
/// deletionFinalizersForGarbageCollection.
DeletionStep PlanDeletion(const ResourceType& type, const DeleteOptions& options,
                          base::Clock& clock, codec::JsonTree& object);

/// Whether an object that was written without finalizers has to be removed now: it was marked
/// before, and no grace period is left that a kubelet has to end.
bool IsDone(const ResourceType& type, const codec::JsonTree& before, const codec::JsonTree& after);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_STORE_DELETION_H_
