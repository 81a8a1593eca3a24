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

/// The subresource pods/eviction. Thread-safe, cheap to copy.
class EvictionMethods {
 public:
  EvictionMethods(std::shared_ptr<rest::RESTClient> client, std::string namespace_,
                  const apimachinery::ResourceInfo& resource);

  /// Deletes the pod that `eviction` names if its disruption budgets allow that. kTooManyRequests
  /// when one of them is exhausted; the caller may then try again later.
  apimachinery::Result<void> Evict(const api::policy::v1::Eviction& eviction,
                                   const CreateOptions& options = {},
                                   std::stop_token stop = {}) const;

 private:
  UntypedClient client_;
};

/// The subresource pods/binding. Thread-safe, cheap to copy.
class BindingMethods {
 public:
  BindingMethods(std::shared_ptr<rest::RESTClient> client, std::string namespace_,
                 const apimachinery::ResourceInfo& resource);

  /// Assigns the pod that `binding` names to the node that is its target, as a scheduler does;
  /// kConflict when the pod already has a node.
  apimachinery::Result<void> Bind(const api::core::v1::Binding& binding,
                                  const CreateOptions& options = {},
                                  std::stop_token stop = {}) const;

 private:
  UntypedClient client_;
};

}  // namespace kubexx::kubernetes

#endif  // KUBEXX_KUBERNETES_POD_METHODS_H_
