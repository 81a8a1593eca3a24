/// @file
/// The address of a webhook: as its configuration states it, and as a URL to call.
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

/// The Service of a webhook.
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

/// Reads a WebhookClientConfig. When caBundle is not valid base64, `ClientConfig::authority` stays
/// empty.
ClientConfig ReadClientConfig(const codec::JsonTree& config);

/// A URL to call, and how to verify its server.
struct Endpoint {
  std::string url{};
  /// The name in the server's certificate, when it is not the URL's host.
  std::string server_name{};
  std::string authority{};
  std::chrono::milliseconds timeout{10000};  ///< limit for the whole call

  auto operator<=>(const Endpoint&) const = default;
};

/// Finds the addresses of Services. Thread-safe.
class ServiceResolver {
 public:
  virtual ~ServiceResolver() = default;
  /// Returns "HOST:PORT". Returns kNotFound or kServiceUnavailable, with the name of the Service,
  /// when it has no address.
  virtual apimachinery::Result<std::string> Resolve(const ServiceReference& service,
                                                    const std::stop_token& stop) = 0;
};

/// Makes the endpoint to call. The URL gets a parameter `timeout`, which tells the webhook how much
/// time it has. Returns the errors of `services`.
apimachinery::Result<Endpoint> EndpointOf(const ClientConfig& client, std::chrono::seconds timeout,
                                          ServiceResolver& services, const std::stop_token& stop);

}  // namespace kubexx::apiserver::admission

#endif  // KUBEXX_APISERVER_ADMISSION_ENDPOINT_H_
