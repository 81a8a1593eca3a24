/// @file
/// How an object goes: at once, when its finalizers are done, or after a grace period.
#ifndef KUBEXX_APISERVER_ENDPOINTS_DELETION_H_
#define KUBEXX_APISERVER_ENDPOINTS_DELETION_H_

#include <cstdint>
#include <optional>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/base/clock.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// What a client says about a deletion, of meta/v1 DeleteOptions; "" and nothing for what it does
/// not say.
struct DeleteOptions {
  /// Preconditions.
  std::string uid{};
  std::string resource_version{};
  /// Orphan, Background or Foreground.
  std::string propagation{};
  std::optional<std::int64_t> grace_seconds{};
};

/// The fields of a DeleteOptions object. kInvalid for a propagation policy that does not exist, or
/// together with its predecessor orphanDependents.
apimachinery::Result<DeleteOptions> ReadDeleteOptions(const codec::JsonTree& options);

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

/// Whether the type is Namespace, whose spec has finalizers, too.
bool IsNamespace(const ResourceType& type);

/// Whether an object that has been written without finalizers goes now: it was marked before, and
/// no grace period is left for a kubelet to end.
bool IsDone(const ResourceType& type, const codec::JsonTree& before, const codec::JsonTree& after);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_DELETION_H_
