/// @file
/// The Service that every cluster has for its API server: default/kubernetes.
#ifndef KUBEXX_APISERVER_ENDPOINTS_UPKEEP_KUBERNETES_SERVICE_H_
#define KUBEXX_APISERVER_ENDPOINTS_UPKEEP_KUBERNETES_SERVICE_H_

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/registry/type_registry.h"
#include "kubexx/apiserver/endpoints/store/object_store.h"

namespace kubexx::apiserver {

/// The address of the server.
struct KubernetesService {
  std::string address{};  ///< an IP address at which others reach the server
  std::uint16_t port = 0;
  bool plain_http = false;
};

/// The URL of the server, without a path.
std::string UrlOf(const KubernetesService& service);

/// The address at which others reach a server that listens on `host`. It is `host` itself, unless
/// that is the loopback address or stands for all addresses; then, as in kube-apiserver, it is the
/// machine's first address that is not a loopback address, or the loopback address when there is
/// none.
std::string ReachableAddress(std::string_view host);

/// Creates the Service with the first address of the range for Services, unless it exists, and
/// writes the server's address to its Endpoints and EndpointSlice. When several servers use one
/// store, these have the address of the server that was started last. Returns errors of the store.
/// When another Service has the address, it logs that and succeeds.
apimachinery::Result<void> PublishService(const TypeRegistry& types, ObjectStore& objects,
                                          const KubernetesService& service,
                                          const std::stop_token& stop);

/// Creates again those objects of PublishService that somebody has deleted, and does not change the
/// others. Returns whether it has created any. Returns kNotFound when the namespace does not exist,
/// and errors of the store.
apimachinery::Result<bool> MakeMissingOfService(const TypeRegistry& types, ObjectStore& objects,
                                                const KubernetesService& service,
                                                const std::stop_token& stop);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_UPKEEP_KUBERNETES_SERVICE_H_
