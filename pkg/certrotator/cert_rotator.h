/// @file
/// CertRotator: makes, distributes and renews the certificate of a program's webhooks.
#ifndef KUBEXX_CERTROTATOR_CERT_ROTATOR_H_
#define KUBEXX_CERTROTATOR_CERT_ROTATOR_H_

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/http/certificate.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::metrics {
class Registry;
}

namespace kubexx::certrotator {

/// Keeps the certificate of a webhook server in a Secret, where all replicas find it, and writes it
/// into the `caBundle` of the configurations that name the server's Service. The certificate is
/// self-signed, and API servers trust it as it is: no key of an authority exists that could be
/// stolen.
///
///     KX_ASSIGN_OR_RETURN(auto rotator,
///                         certrotator::CertRotator::New(
///                             client, {.secret = {"tools", "my-webhook-tls"},
///                                      .service = {"tools", "my-webhook"},
///                                      .validating = {"check-owner"}}));
///     controller::ManagerOptions options;
///     options.webhooks = {.tls = {.certificate = rotator->Provider()}};
///     KX_ASSIGN_OR_RETURN(auto manager, controller::Manager::New(config, std::move(options)));
///     const auto rotate = [&rotator](std::stop_token stop) { return rotator->Run(stop); };
///     KX_RETURN_IF_ERROR(manager->Add("certificates", controller::Stage::kServer, rotate));
///
/// Before the certificate expires, the rotator makes the next one, and only serves it when the
/// configurations have had both for a while: at no time does an API server meet a certificate that
/// it does not trust. Every step is written to the Secret, so it does not matter which replica
/// makes it, or whether one ends in between. The rotator makes a new certificate at once when the
/// Secret has none that can be used, because nothing works in that case anyway. One that only lacks
/// a further name is renewed. While the Secret cannot be written, the rotator serves and
/// distributes what it holds.
///
/// The account needs `get`, `create` and `update` on the Secret, and `get` and `patch` on each
/// named configuration. Thread-safe. Semantics: open-policy-agent/cert-controller, without an
/// authority.
class CertRotator {
 public:
  /// The certificate's Secret and Service, the configurations to update, and the times of the
  /// rotation.
  struct Options {
    /// The Secret, of the type kubernetes.io/tls. The rotator makes it if it does not exist.
    apimachinery::ObjectKey secret{};
    /// The Service of the webhook server. The certificate is for its name in the cluster, and the
    /// rotator only touches webhooks whose clientConfig names it.
    apimachinery::ObjectKey service{};
    /// When set, the rotator also touches webhooks whose clientConfig has this URL, or one that
    /// goes on behind it with a slash, for example "https://192.0.2.7:9443" for a server outside of
    /// the cluster.
    std::string url{};
    /// Further host names and IP addresses for which the certificate is. One that is added later is
    /// in the next certificate, which is made at once, and is served some minutes later like any
    /// other.
    std::vector<std::string> further_names{};
    /// Names of MutatingWebhookConfigurations.
    std::vector<std::string> mutating{};
    /// Names of ValidatingWebhookConfigurations.
    std::vector<std::string> validating{};
    /// Names of CustomResourceDefinitions with a conversion webhook.
    std::vector<std::string> definitions{};
    /// How long a certificate is valid; at most a hundred years.
    base::Duration lifetime = std::chrono::days(365);
    /// How long before the end the next certificate is made.
    base::Duration renew_before = std::chrono::days(90);
    /// How long the configurations must have had the next certificate before it is served: API
    /// servers learn of a change of a configuration within seconds, and another replica of this
    /// program with its next look at the Secret.
    base::Duration trust_delay = std::chrono::minutes(5);
    /// How often the rotator looks at the Secret and the configurations.
    base::Duration interval = std::chrono::minutes(1);
    base::Clock& clock = base::Clock::Real();
    /// When set, the rotator records kubexx_webhook_certificate_expiration_timestamp_seconds and
    /// kubexx_webhook_certificate_errors_total here; must outlive the rotator.
    metrics::Registry* registry = nullptr;
  };

  /// Reads the Secret, or makes it, so that the server has a certificate from its start. Errors are
  /// those of the requests; kInvalidConfig for options that do not fit together.
  static apimachinery::Result<std::unique_ptr<CertRotator>> New(
      std::shared_ptr<rest::RESTClient> client, Options options, std::stop_token stop = {});
  ~CertRotator();
  CertRotator(const CertRotator&) = delete;
  CertRotator& operator=(const CertRotator&) = delete;

  /// The certificate to serve now; never null.
  std::shared_ptr<const http::KeyPair> Current() const;
  /// A provider for http::TlsOptions. It may be called after the rotator is destroyed, and then
  /// always returns the last pair.
  http::CertificateProvider Provider() const;

  /// Looks at once, and then at every interval until `stop` is requested. Each look makes what is
  /// due. A failed request is logged, counted and tried again with the next look. Returns success.
  apimachinery::Result<void> Run(std::stop_token stop);

 private:
  class Impl;
  explicit CertRotator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::certrotator

#endif  // KUBEXX_CERTROTATOR_CERT_ROTATOR_H_
