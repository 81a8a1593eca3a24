#include "kubexx/kubernetes/pod_methods.h"

#include <utility>

namespace kubexx::kubernetes {

using apimachinery::Result;

EvictionMethods::EvictionMethods(std::shared_ptr<rest::RESTClient> client, std::string namespace_,
                                 const apimachinery::ResourceInfo& resource)
    : client_(std::move(client), std::move(namespace_), resource,
              codec::SchemaOf<api::policy::v1::Eviction>()) {}

Result<void> EvictionMethods::Evict(const api::policy::v1::Eviction& eviction,
                                    const CreateOptions& options, std::stop_token stop) const {
  return client_.Post({.namespace_ = eviction.metadata.namespace_,
                       .name = eviction.metadata.name,
                       .subresource = "eviction"},
                      &eviction, options, std::move(stop));
}

BindingMethods::BindingMethods(std::shared_ptr<rest::RESTClient> client, std::string namespace_,
                               const apimachinery::ResourceInfo& resource)
    : client_(std::move(client), std::move(namespace_), resource,
              codec::SchemaOf<api::core::v1::Binding>()) {}

Result<void> BindingMethods::Bind(const api::core::v1::Binding& binding,
                                  const CreateOptions& options, std::stop_token stop) const {
  return client_.Post({.namespace_ = binding.metadata.namespace_,
                       .name = binding.metadata.name,
                       .subresource = "binding"},
                      &binding, options, std::move(stop));
}

}  // namespace kubexx::kubernetes
