/// @file
/// ClientWith: adds the methods of subresources, which only some resources have, to their clients.
#ifndef KUBEXX_KUBERNETES_SUBRESOURCES_H_
#define KUBEXX_KUBERNETES_SUBRESOURCES_H_

#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/kubernetes/resource_client.h"

namespace kubexx::kubernetes {

/// A ResourceClient<T> with the methods of T's subresources. Each of `Methods` is a class with a
/// constructor like `ScaleMethods(client, namespace_, resource)`. In the generated clientset each
/// built-in type has the methods of the subresources that the API server has for it, so that the
/// use of a missing subresource does not compile. For a custom resource with a scale, write
/// `ClientWith<Widget, ScaleMethods>`. Thread-safe, cheap to copy.
template <class T, class... Methods>
class ClientWith : public ResourceClient<T>, public Methods... {
 public:
  ClientWith(const std::shared_ptr<rest::RESTClient>& client, const std::string& namespace_)
      : ResourceClient<T>(client, namespace_),
        Methods(client, namespace_, api::ResourceOf<T>())... {}
};

/// The common part of the subresources that take and return the whole object.
template <class T>
class ObjectSubresource {
 protected:
  ObjectSubresource(std::shared_ptr<rest::RESTClient> client, std::string namespace_,
                    const apimachinery::ResourceInfo& resource)
      : client_(std::move(client), std::move(namespace_), resource, codec::SchemaOf<T>()) {}

  apimachinery::Result<T> UpdateAt(std::string_view subresource, const T& object,
                                   const UpdateOptions& options, std::stop_token stop) const {
    T out{};
    KX_RETURN_IF_ERROR(client_.Update({.namespace_ = object.metadata.namespace_,
                                       .name = object.metadata.name,
                                       .subresource = subresource},
                                      &object, options, &out, std::move(stop)));
    return out;
  }

 private:
  UntypedClient client_;
};

/// The subresource certificatesigningrequests/approval.
template <class T>
class ApprovalMethods : private ObjectSubresource<T> {
 public:
  using ObjectSubresource<T>::ObjectSubresource;
  /// Stores only the conditions Approved and Denied of `request`.
  apimachinery::Result<T> UpdateApproval(const T& request, const UpdateOptions& options = {},
                                         std::stop_token stop = {}) const {
    return this->UpdateAt("approval", request, options, std::move(stop));
  }
};

/// The subresource namespaces/finalize.
template <class T>
class FinalizeMethods : private ObjectSubresource<T> {
 public:
  using ObjectSubresource<T>::ObjectSubresource;
  /// Stores spec.finalizers of `namespace_`. The server removes a namespace that is being deleted
  /// when it has no finalizers left.
  apimachinery::Result<T> Finalize(const T& namespace_, const UpdateOptions& options = {},
                                   std::stop_token stop = {}) const {
    return this->UpdateAt("finalize", namespace_, options, std::move(stop));
  }
};

/// The subresource pods/ephemeralcontainers.
template <class T>
class EphemeralContainersMethods : private ObjectSubresource<T> {
 public:
  using ObjectSubresource<T>::ObjectSubresource;
  /// Stores spec.ephemeral_containers of `pod`; containers may only be added.
  apimachinery::Result<T> UpdateEphemeralContainers(const T& pod, const UpdateOptions& options = {},
                                                    std::stop_token stop = {}) const {
    return this->UpdateAt("ephemeralcontainers", pod, options, std::move(stop));
  }
};

/// The subresource pods/resize.
template <class T>
class ResizeMethods : private ObjectSubresource<T> {
 public:
  using ObjectSubresource<T>::ObjectSubresource;
  /// Stores only the containers' resources of `pod`.
  apimachinery::Result<T> UpdateResize(const T& pod, const UpdateOptions& options = {},
                                       std::stop_token stop = {}) const {
    return this->UpdateAt("resize", pod, options, std::move(stop));
  }
};

}  // namespace kubexx::kubernetes

#endif  // KUBEXX_KUBERNETES_SUBRESOURCES_H_
