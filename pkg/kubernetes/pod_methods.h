/// @file
/// Subresources of pods that take an object of another type: eviction and binding.
#ifndef KUBEXX_KUBERNETES_POD_METHODS_H_
#define KUBEXX_KUBERNETES_POD_METHODS_H_

#include <memory>
#include <stop_token>
#include <string>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/api/policy/v1/types.gen.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/kubernetes/untyped_client.h"

namespace kubexx::kubernetes {

/// pods/eviction. Thread-safe, cheap to copy.
class EvictionMethods {
 public:
  EvictionMethods(std::shared_ptr<rest::RESTClient> client, std::string namespace_,
                  const apimachinery::ResourceInfo& resource);

  /// Deletes the pod that `eviction` names, as its disruption budgets allow: kTooManyRequests when
  /// one of them is exhausted; try again later then.
  apimachinery::Result<void> Evict(const api::policy::v1::Eviction& eviction,
                                   const CreateOptions& options = {},
                                   std::stop_token stop = {}) const;

 private:
  UntypedClient client_;
};

/// pods/binding. Thread-safe, cheap to copy.
class BindingMethods {
 public:
  BindingMethods(std::shared_ptr<rest::RESTClient> client, std::string namespace_,
                 const apimachinery::ResourceInfo& resource);

  /// Puts the pod that `binding` names on the node that is its target, as a scheduler does;
  /// kConflict when it is on one already.
  apimachinery::Result<void> Bind(const api::core::v1::Binding& binding,
                                  const CreateOptions& options = {},
                                  std::stop_token stop = {}) const;

 private:
  UntypedClient client_;
};

}  // namespace kubexx::kubernetes

#endif  // KUBEXX_KUBERNETES_POD_METHODS_H_
