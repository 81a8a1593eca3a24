/// @file
/// How an object goes: at once, when its finalizers are done, or after a grace period.
#ifndef KUBEXX_APISERVER_ENDPOINTS_STORE_DELETION_H_
#define KUBEXX_APISERVER_ENDPOINTS_STORE_DELETION_H_

#include <cstdint>

#include "kubexx/apiserver/endpoints/request/delete_options.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/base/clock.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// What is to be done with an object.
enum class DeletionStep : std::uint8_t {
  kRemove,  ///< it goes now
  kMark,    ///< it has been changed: it is to be written, and waits
  kWait,    ///< it waits already, and nothing changes
};

/// Decides, and marks `object`: deletionTimestamp, deletionGracePeriodSeconds, generation, the
/// finalizers foregroundDeletion and orphan, a namespace's phase, a definition's condition. As
/// registry's BeforeDelete and deletionFinalizersForGarbageCollection.
DeletionStep PlanDeletion(const ResourceType& type, const DeleteOptions& options,
                          base::Clock& clock, codec::JsonTree& object);

/// Whether an object that has been written without finalizers goes now: it was marked before, and
/// no grace period is left for a kubelet to end.
bool IsDone(const ResourceType& type, const codec::JsonTree& before, const codec::JsonTree& after);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_STORE_DELETION_H_
