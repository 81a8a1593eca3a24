/// @file
/// What of an object a write of a subresource changes, and what it leaves as it is.
#ifndef KUBEXX_APISERVER_ENDPOINTS_PREPARATION_WRITE_PART_H_
#define KUBEXX_APISERVER_ENDPOINTS_PREPARATION_WRITE_PART_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/managedfields/field_set.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/base/clock.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Which part of an object a write is for.
enum class WritePart : std::uint8_t {
  kObject,
  kStatus,
  kApproval,             ///< the conditions of a CertificateSigningRequest
  kEphemeralContainers,  ///< of a pod
  kResize,               ///< the resources of a pod
  kFinalizers,           ///< a namespace with those of its spec, the subresource finalize
  kAll,                  ///< a write of the server's own
};

/// kObject where there is no subresource, or one that is no part. `subresource` may be null.
WritePart WritePartOf(const Subresource* subresource);

/// Members of metadata that a write of the status leaves as they are, of those that clients set; as
/// kube-apiserver's strategies have it.
std::span<const std::string_view> KeptByStatus(const ResourceType& type);

/// `object` becomes `current` with the part that is written. For parts that are subresources.
void KeepTheRest(const ResourceType& type, WritePart part, const codec::JsonTree& current,
                 codec::JsonTree& object);

/// What a write does not own, for its manager: fields that it leaves alone.
managedfields::FieldSet IgnoredBy(const ResourceType& type, WritePart part);

/// What such a write may not do: take conditions of a decision or ephemeral containers away, decide
/// by the status, or resize what cannot be.
void CheckPart(const ResourceType& type, WritePart part, const codec::JsonTree& current,
               const codec::JsonTree& object, FieldCauses& causes);

/// Conditions of a CertificateSigningRequest that have no times get them: those of `current` when
/// they hold since then, else the present.
void SetConditionTimes(base::Clock& clock, const codec::JsonTree& current, codec::JsonTree& object);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_PREPARATION_WRITE_PART_H_
