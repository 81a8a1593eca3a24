/// @file
/// The projections of SecretProviderClasses and of what pods report about them.
#ifndef KUBEXX_RELOADER_MODEL_PROVIDER_CLASS_PROJECTION_H_
#define KUBEXX_RELOADER_MODEL_PROVIDER_CLASS_PROJECTION_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "kubexx/apimachinery/group_version.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/cache/object.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/source.h"

namespace kubexx::reloader {

/// The resource that the Secrets Store CSI driver writes for each pod...
inline constexpr apimachinery::ResourceInfo kPodStatusResource{
    "secrets-store.csi.x-k8s.io", "v1", "SecretProviderClassPodStatus",
    "secretproviderclasspodstatuses", true};
/// ...and the resource that its users write.
inline constexpr apimachinery::ResourceInfo kProviderClassResource{
    "secrets-store.csi.x-k8s.io", "v1", "SecretProviderClass", "secretproviderclasses", true};

/// What one pod reports about its mount, from a SecretProviderClassPodStatus.
struct PodReport {
  SourceId source{};  ///< the SecretProviderClass
  Digest digest{};    ///< over "id=version" of the mounted objects and the name of the class
  /// The state has changed since the pod started.
  bool updated = false;
  /// The object's resource version; a later change has a higher one.
  std::uint64_t version = 0;
  bool operator==(const PodReport&) const = default;
};

/// Reduces a SecretProviderClassPodStatus to what PodReport contains. Made for
/// InformerOptions::transform. Fails with kMalformed when the object is of another kind.
apimachinery::Result<void> ProjectPodStatus(cache::Object& object);
/// Reads back what ProjectPodStatus has made. Returns std::nullopt when the pod has not reported
/// any objects yet. Fails with kMalformed for anything else.
apimachinery::Result<std::optional<PodReport>> PodReportFrom(const cache::Object& object);
/// Reduces a SecretProviderClass to those of its annotations that matter. Fails with kMalformed
/// when the object is of another kind.
apimachinery::Result<void> ProjectProviderClass(const AnnotationKeys& keys, cache::Object& object);
/// The InformerOptions::transform that informers of SecretProviderClasses need.
std::function<apimachinery::Result<void>(cache::Object&)> TransformForProviderClass(
    AnnotationKeys keys);
/// Reads back what ProjectProviderClass has made: a source without a digest.
apimachinery::Result<Source> ProviderClassFrom(const cache::Object& object);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_MODEL_PROVIDER_CLASS_PROJECTION_H_
