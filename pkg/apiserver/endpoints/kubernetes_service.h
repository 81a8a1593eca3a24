/// @file
/// The Service that every cluster has for its API server: default/kubernetes.
#ifndef KUBEXX_APISERVER_ENDPOINTS_KUBERNETES_SERVICE_H_
#define KUBEXX_APISERVER_ENDPOINTS_KUBERNETES_SERVICE_H_

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/object_store.h"
#include "kubexx/apiserver/endpoints/type_registry.h"

namespace kubexx::apiserver {

/// Where the server is.
struct KubernetesService {
  std::string address{};  ///< an IP address that others reach it by
  std::uint16_t port = 0;
  bool plain_http = false;
  /// CIDRs of Services' addresses, as FirstServiceAddress takes them.
  std::string cluster_ip_range = "10.0.0.0/24";
};

/// Whether it is an IPv4 or an IPv6 address, without brackets.
bool IsIpAddress(std::string_view text);

/// The first address of Services, "10.0.0.1" of "10.0.0.0/24" and of "10.0.0.7/24,fd00::/108".
/// kInvalidConfig for what kube-apiserver's --service-cluster-ip-range does not take: anything but
/// one CIDR or two of different families, and those of fewer than 8 addresses.
apimachinery::Result<std::string> FirstServiceAddress(std::string_view cidrs);

/// What others reach a server by that listens on `host`: this address, or, when it is the loopback
/// address or stands for all, the first of the machine's that is no loopback address, as
/// kube-apiserver has it. The loopback address when there is none.
std::string ReachableAddress(std::string_view host);

/// Makes the Service, or leaves it as it is, and gives its Endpoints and EndpointSlice the server's
/// address: of several servers of one store the last that was started is in them. kInvalidConfig
/// for a bad CIDR, and errors of the store.
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

#endif  // KUBEXX_APISERVER_ENDPOINTS_KUBERNETES_SERVICE_H_
