/// @file
/// The subresources of resources.
#ifndef KUBEXX_APISERVER_OBJECT_SUBRESOURCE_H_
#define KUBEXX_APISERVER_OBJECT_SUBRESOURCE_H_

#include <cstdint>
#include <string_view>

#include "kubexx/apiserver/object/verbs.h"

namespace kubexx::apiserver {

/// A subresource of a type: what discovery says of it, and which one it is to the handlers.
struct Subresource {
  /// What a request for it is about.
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
  /// Of the objects that are sent and answered; without a kind it is the type's own.
  std::string_view group{};
  std::string_view version{};
  std::string_view kind{};

  bool operator==(const Subresource&) const = default;
};

/// Of many types.
inline constexpr Subresource kStatusSubresource{.is = Subresource::Is::kStatus, .name = "status"};
/// Of what has replicas.
inline constexpr Subresource kScaleSubresource{.is = Subresource::Is::kScale,
                                               .name = "scale",
                                               .group = "autoscaling",
                                               .version = "v1",
                                               .kind = "Scale"};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_OBJECT_SUBRESOURCE_H_
