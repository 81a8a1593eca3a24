/// @file
/// What informers keep of SecretProviderClasses and of what pods report of them.
#ifndef KUBEXX_RELOADER_MODEL_PROVIDER_CLASS_PROJECTION_H_
#define KUBEXX_RELOADER_MODEL_PROVIDER_CLASS_PROJECTION_H_

#include <cstdint>
#include <optional>

#include "kubexx/apimachinery/group_version.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/cache/object.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/source.h"

namespace kubexx::reloader {

/// Where the API serves what the Secrets Store CSI driver writes for each pod...
inline constexpr apimachinery::ResourceInfo kPodStatusResource{
    "secrets-store.csi.x-k8s.io", "v1", "SecretProviderClassPodStatus",
    "secretproviderclasspodstatuses", true};
/// ...and what its users write.
inline constexpr apimachinery::ResourceInfo kProviderClassResource{
    "secrets-store.csi.x-k8s.io", "v1", "SecretProviderClass", "secretproviderclasses", true};

/// The state of one pod's mount: a SecretProviderClassPodStatus.
struct PodReport {
  SourceId source{};  ///< the SecretProviderClass
  Digest digest{};    ///< over "id=version" of its objects and the name of the class
  /// The state has changed since the pod began with it.
  bool updated = false;
  /// Of the object; a later change has a higher one.
  std::uint64_t version = 0;
  bool operator==(const PodReport&) const = default;
};

/// Reduces a SecretProviderClassPodStatus to what PodReport holds. For InformerOptions::transform.
/// kMalformed when it is none.
apimachinery::Result<void> ProjectPodStatus(cache::Object& object);
/// Reads back what ProjectPodStatus made; nothing when the pod has reported no objects yet.
/// kMalformed for anything else.
apimachinery::Result<std::optional<PodReport>> PodReportFrom(const cache::Object& object);
/// Reduces a SecretProviderClass to those of its annotations that count. kMalformed when it is
/// none.
apimachinery::Result<void> ProjectProviderClass(const AnnotationKeys& keys, cache::Object& object);
/// Reads back what ProjectProviderClass made: a source without digest.
apimachinery::Result<Source> ProviderClassFrom(const cache::Object& object);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_MODEL_PROVIDER_CLASS_PROJECTION_H_
