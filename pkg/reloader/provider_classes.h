/// @file
/// What pods report of the SecretProviderClasses that they mount.
#ifndef KUBEXX_RELOADER_PROVIDER_CLASSES_H_
#define KUBEXX_RELOADER_PROVIDER_CLASSES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/group_version.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/mutex.h"
#include "kubexx/cache/object.h"
#include "kubexx/reloader/annotations.h"
#include "kubexx/reloader/source.h"

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

/// The states of all classes. A class is at the digest of the newest change that some pod has
/// reported, and pods that come later begin with it or with something newer: their digests are as
/// good. States that are older are of pods that have not been told yet. Pods that come and go
/// change nothing by themselves, so that neither a rollout nor a node that drains rolls anything.
/// Keeps a few dozen bytes for each class that was ever reported, until Forget. Thread-safe.
class ProviderClasses {
 public:
  /// Digests kept of one class.
  static constexpr std::size_t kMaxDigests = 16;

  /// Takes a report into account; whether Get says something else than before.
  bool Observe(const PodReport& report);
  /// The class does not exist any more.
  void Forget(const SourceId& id);
  /// Nothing when no pod has reported it. Without the annotations of the class.
  std::optional<Source> Get(const SourceId& id) const;
  /// Names of all classes that pods of the namespace have reported.
  std::vector<std::string> Names(std::string_view namespace_) const;

 private:
  struct Seen {
    Digest digest{};
    bool updated = false;
    bool operator==(const Seen&) const = default;
  };
  /// By version. The first is the newest change, unless nothing has changed yet.
  using History = std::map<std::uint64_t, Seen>;
  static std::vector<Seen> States(const History& history);

  mutable base::Mutex mu_;
  std::map<SourceId, History> classes_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PROVIDER_CLASSES_H_
