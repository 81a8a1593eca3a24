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

/// Which object to scale: a kind and its version (empty: the preferred one), namespace and name, as
/// for example a HorizontalPodAutoscaler's scaleTargetRef has them.
struct ScaleTarget {
  apimachinery::GroupVersionKind kind{};
  apimachinery::ObjectKey object{};
};

/// Scales built-in and custom resources alike by way of autoscaling/v1 Scale. As client-go's
/// polymorphic scale client. kNotFound when the server has no such kind or object,
/// kMethodNotAllowed when objects of the kind have no scale. Thread-safe, cheap to copy; calls
/// block.
class ScaleClient {
 public:
  using Scale = api::autoscaling::v1::Scale;

  ScaleClient(std::shared_ptr<rest::RESTClient> client,
              std::shared_ptr<discovery::RestMapper> mapper);

  apimachinery::Result<Scale> Get(const ScaleTarget& target, std::stop_token stop = {}) const;
  /// Sets spec.replicas; kConflict when the resource_version of `scale` is set and not the stored
  /// one. `scale` is about `target`, whatever its own metadata say.
  apimachinery::Result<Scale> Update(const ScaleTarget& target, Scale scale,
                                     const kubernetes::UpdateOptions& options = {},
                                     std::stop_token stop = {}) const;
  /// A patch of the Scale. Of custom resources the API server takes JSON and merge patches only (as
  /// of 1.36 it fails an apply with kInternalError).
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
