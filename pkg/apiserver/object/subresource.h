/// @file
/// The subresources of resources.
#ifndef KUBEXX_APISERVER_OBJECT_SUBRESOURCE_H_
#define KUBEXX_APISERVER_OBJECT_SUBRESOURCE_H_

#include <cstdint>
#include <string_view>

#include "kubexx/apiserver/object/verbs.h"

namespace kubexx::apiserver {

/// A subresource of a type: its description in discovery, and which one it is for the handlers.
struct Subresource {
  /// What a request for the subresource reads or writes.
  enum class Is : std::uint8_t {
    kStatus,
    kApproval,             ///< the conditions of a CertificateSigningRequest
    kEphemeralContainers,  ///< of a pod
    kResize,               ///< the resources of a pod
    kFinalize,             ///< a namespace with the finalizers of its spec
    kScale,                ///< how many replicas an object wants
    kBinding,              ///< a pod's node
    kEviction,             ///< the deletion of a pod, if its disruption budget allows it
    kToken,                ///< a service account's token
  };

  Is is = Is::kStatus;
  std::string_view name{};
  Verbs verbs = kReadAndWritten;
  /// The group, version and kind of the objects that are sent and returned. When the kind is empty,
  /// they are of the resource's own type.
  std::string_view group{};
  std::string_view version{};
  std::string_view kind{};

  bool operator==(const Subresource&) const = default;
};

/// The subresource "status", which many types have.
inline constexpr Subresource kStatusSubresource{.is = Subresource::Is::kStatus, .name = "status"};
/// The subresource "scale" of types that have replicas.
inline constexpr Subresource kScaleSubresource{.is = Subresource::Is::kScale,
                                               .name = "scale",
                                               .group = "autoscaling",
                                               .version = "v1",
                                               .kind = "Scale"};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_OBJECT_SUBRESOURCE_H_
