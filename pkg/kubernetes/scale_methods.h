/// @file
/// ScaleMethods: the subresource scale, which has the same form for all kinds with a replica count.
#ifndef KUBEXX_KUBERNETES_SCALE_METHODS_H_
#define KUBEXX_KUBERNETES_SCALE_METHODS_H_

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "kubexx/api/autoscaling/v1/types.gen.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/kubernetes/apply.h"
#include "kubexx/kubernetes/untyped_client.h"

namespace kubexx::kubernetes {

/// Reads and writes the scale of one resource's objects, as client-go's GetScale and its siblings.
/// When the client's namespace is empty, writes use the namespace in the scale. Thread-safe, cheap
/// to copy.
class ScaleMethods {
 public:
  using Scale = api::autoscaling::v1::Scale;

  ScaleMethods(std::shared_ptr<rest::RESTClient> client, std::string namespace_,
               const apimachinery::ResourceInfo& resource);

  apimachinery::Result<Scale> GetScale(std::string_view name, std::stop_token stop = {}) const;
  /// Sets spec.replicas of the object that `scale` names. kConflict when the resource_version in
  /// `scale` is set and differs from the stored one.
  apimachinery::Result<Scale> UpdateScale(const Scale& scale, const UpdateOptions& options = {},
                                          std::stop_token stop = {}) const;
  /// Patches the scale; ignores `options.subresource`.
  apimachinery::Result<Scale> PatchScale(std::string_view name, RawPatch patch,
                                         PatchOptions options = {},
                                         std::stop_token stop = {}) const;

  /// Server-side apply; the object must exist.
  apimachinery::Result<Scale> ApplyScale(const ApplyObject<Scale>& scale,
                                         const ApplyOptions& options,
                                         std::stop_token stop = {}) const;

 private:
  UntypedClient client_;
};

}  // namespace kubexx::kubernetes

#endif  // KUBEXX_KUBERNETES_SCALE_METHODS_H_
