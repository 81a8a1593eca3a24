/// @file
/// Where a webhook is, as its configuration says and as it is asked.
#ifndef KUBEXX_APISERVER_ADMISSION_ENDPOINT_H_
#define KUBEXX_APISERVER_ADMISSION_ENDPOINT_H_

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::admission {

/// A Service that a webhook is behind.
struct ServiceReference {
  std::string namespace_{};
  std::string name{};
  std::string path{};
  std::int64_t port = 443;
};

/// As admissionregistration/v1 and apiextensions/v1 WebhookClientConfig: `url` or `service`.
struct ClientConfig {
  std::string url{};
  std::optional<ServiceReference> service{};
  std::string authority{};  ///< PEM; empty: the system's authorities
};

/// What caBundle encodes is PEM; what is no base64 is no authority.
ClientConfig ReadClientConfig(const codec::JsonTree& config);

/// A URL and how its server is verified.
struct Endpoint {
  std::string url{};
  std::string server_name{};  ///< instead of the URL's host
  std::string authority{};
  std::chrono::milliseconds timeout{10000};  ///< of a whole call

  auto operator<=>(const Endpoint&) const = default;
};

/// Knows where Services lead. Thread-safe.
class ServiceResolver {
 public:
  virtual ~ServiceResolver() = default;
  /// "HOST:PORT". kNotFound and kServiceUnavailable say which Service has no address.
  virtual apimachinery::Result<std::string> Resolve(const ServiceReference& service,
                                                    const std::stop_token& stop) = 0;
};

/// Where to ask. The webhook learns from the parameter `timeout` of its URL how long it has.
apimachinery::Result<Endpoint> EndpointOf(const ClientConfig& client, std::chrono::seconds timeout,
                                          ServiceResolver& services, const std::stop_token& stop);

}  // namespace kubexx::apiserver::admission

#endif  // KUBEXX_APISERVER_ADMISSION_ENDPOINT_H_
