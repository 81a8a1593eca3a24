/// @file
/// Which part of an object a write changes, depending on its subresource.
#ifndef KUBEXX_APISERVER_ENDPOINTS_PREPARATION_WRITE_PART_H_
#define KUBEXX_APISERVER_ENDPOINTS_PREPARATION_WRITE_PART_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/managedfields/field_set.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// The part of an object that a write changes.
enum class WritePart : std::uint8_t {
  kObject,
  kStatus,
  kApproval,             ///< the conditions of a CertificateSigningRequest
  kEphemeralContainers,  ///< of a pod
  kResize,               ///< the resources of a pod
  kFinalizers,           ///< the finalizers in a namespace's spec, by the subresource finalize
  kAll,                  ///< everything, for the server's own writes
};

/// The part that writes of `subresource` change. kObject when it is null or no part of the object.
WritePart WritePartOf(const Subresource* subresource);

/// The members of metadata, among those that clients set, that a write of the status does not
/// change, as in kube-apiserver's strategies.
std::span<const std::string_view> KeptByStatus(const ResourceType& type);

/// Sets `object` to `current` with the written part taken from `object`. For parts that are
/// subresources.
void KeepTheRest(const ResourceType& type, WritePart part, const codec::JsonTree& current,
                 codec::JsonTree& object);

/// The fields that the manager of a write does not become the owner of, because the write does not
/// change them.
managedfields::FieldSet IgnoredBy(const ResourceType& type, WritePart part);

/// Adds causes for changes that such a write may not make: to remove conditions of a decision or
/// ephemeral containers, to approve or deny through the status, or to resize what cannot be
/// resized.
void CheckPart(const ResourceType& type, WritePart part, const codec::JsonTree& current,
               const codec::JsonTree& object, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_PREPARATION_WRITE_PART_H_
