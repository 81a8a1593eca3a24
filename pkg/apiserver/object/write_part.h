/// @file
/// The parts of an object that a write may change.
#ifndef KUBEXX_APISERVER_OBJECT_WRITE_PART_H_
#define KUBEXX_APISERVER_OBJECT_WRITE_PART_H_

#include <cstdint>

#include "kubexx/apiserver/object/subresource.h"

namespace kubexx::apiserver {

/// The part of an object that a write changes, depending on its subresource.
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

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_OBJECT_WRITE_PART_H_
