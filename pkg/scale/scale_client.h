/// @file
/// ScaleClient: the replica count of objects of any kind that has the subresource scale.
#ifndef KUBEXX_SCALE_SCALE_CLIENT_H_
#define KUBEXX_SCALE_SCALE_CLIENT_H_

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "kubexx/api/autoscaling/v1/types.gen.h"
#include "kubexx/apimachinery/group_version.h"
#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/discovery/rest_mapper.h"
#include "kubexx/kubernetes/options.h"
#include "kubexx/kubernetes/raw_client.h"

namespace kubexx::scale {

/// The object to scale: its kind and version (empty: the preferred one), namespace and name, as for
/// example in the scaleTargetRef of a HorizontalPodAutoscaler.
struct ScaleTarget {
  apimachinery::GroupVersionKind kind{};
  apimachinery::ObjectKey object{};
};

/// Scales built-in and custom resources through autoscaling/v1 Scale. As client-go's polymorphic
/// scale client. kNotFound when the server has no such kind or object, kMethodNotAllowed when
/// objects of the kind have no scale. Thread-safe, cheap to copy; calls block.
class ScaleClient {
 public:
  using Scale = api::autoscaling::v1::Scale;

  ScaleClient(std::shared_ptr<rest::RESTClient> client,
              std::shared_ptr<discovery::RestMapper> mapper);

  apimachinery::Result<Scale> Get(const ScaleTarget& target, std::stop_token stop = {}) const;
  /// Sets spec.replicas of `target`, whatever object the metadata of `scale` names. kConflict when
  /// the resource_version in `scale` is set and differs from the stored one.
  apimachinery::Result<Scale> Update(const ScaleTarget& target, Scale scale,
                                     const kubernetes::UpdateOptions& options = {},
                                     std::stop_token stop = {}) const;
  /// Patches the Scale. For custom resources the API server accepts only JSON and merge patches
  /// (1.36 fails an apply with kInternalError).
  apimachinery::Result<Scale> Patch(const ScaleTarget& target, kubernetes::RawPatch patch,
                                    kubernetes::PatchOptions options = {},
                                    std::stop_token stop = {}) const;

 private:
  apimachinery::Result<kubernetes::RawClient> ClientFor(const ScaleTarget& target,
                                                        const std::stop_token& stop) const;

  std::shared_ptr<rest::RESTClient> client_;
  std::shared_ptr<discovery::RestMapper> mapper_;
};

}  // namespace kubexx::scale

#endif  // KUBEXX_SCALE_SCALE_CLIENT_H_
