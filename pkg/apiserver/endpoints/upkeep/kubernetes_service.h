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

/// Where the server is.
struct KubernetesService {
  std::string address{};  ///< an IP address that others reach it by
  std::uint16_t port = 0;
  bool plain_http = false;
};

/// What others reach a server by that listens on `host`: this address, or, when it is the loopback
/// address or stands for all, the first of the machine's that is no loopback address, as
/// kube-apiserver has it. The loopback address when there is none.
std::string ReachableAddress(std::string_view host);

/// Makes the Service, with the first address of Services, or leaves it as it is, and gives its
/// Endpoints and EndpointSlice the server's address: of several servers of one store the last that
/// was started is in them. Errors of the store; that another Service has the address is none, and
/// in the log.
apimachinery::Result<void> PublishService(const TypeRegistry& types, ObjectStore& objects,
                                          const KubernetesService& service,
                                          const std::stop_token& stop);

/// Makes again what somebody has deleted of what PublishService makes, and leaves the rest alone.
/// Whether there was something to make. kNotFound when the namespace is not there, and errors of
/// the store.
apimachinery::Result<bool> MakeMissingOfService(const TypeRegistry& types, ObjectStore& objects,
                                                const KubernetesService& service,
                                                const std::stop_token& stop);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_UPKEEP_KUBERNETES_SERVICE_H_
