/// @file
/// The server that the API server asks before it stores objects.
#ifndef KUBEXX_WEBHOOK_SERVER_H_
#define KUBEXX_WEBHOOK_SERVER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/http/server.h"
#include "kubexx/webhook/admission.h"

namespace kubexx::metrics {
class Registry;
}

namespace kubexx::webhook {

/// Admission webhooks of admission.k8s.io/v1 over TLS, each under a path of its own. Handlers run
/// on threads of the server, several at once, and have to be thread-safe; one that throws denies
/// with code 500. Thread-safe.
///
///     webhook::Server server(
///         {.tls = {.certificate = watcher->Provider()}, .registry = &registry});
///     server.Handle<Deployment>("/mutate", [](webhook::Review<Deployment>& review) {
///       review.object.spec.replicas = review.object.spec.replicas.value_or(2);
///       return webhook::Response::Allowed();
///     });
///     server.Handle<Deployment>("/validate", [](const webhook::Review<Deployment>& review) {
///       return review.object.spec.paused ? webhook::Response::Denied("must not be paused")
///                                        : webhook::Response::Allowed();
///     });
///     KX_RETURN_IF_ERROR(server.Start());
///
/// Semantics: controller-runtime webhook.Server and admission.Webhook.
class Server {
 public:
  /// Where to listen, TLS, and the limits on requests.
  struct Options {
    /// As http::Server::Options::address.
    std::string address = ":9443";
    /// TLS is not optional: API servers call nothing else. The `caBundle` of the webhook's
    /// configuration has to hold the authority, or the certificate itself when it is self-signed.
    http::TlsOptions tls{};
    /// How many requests are read and answered at once. While a handler runs another thread takes
    /// its place, so that it may ask the API server for what needs another of these webhooks: as
    /// many handlers run as there are connections that ask.
    std::size_t handler_threads = 4;
    std::size_t max_connections = 64;
    /// The largest AdmissionReview that is read: 413 beyond.
    std::size_t max_body_bytes = 7 << 20;
    /// No API server waits longer than 30 s.
    std::chrono::milliseconds handler_timeout = std::chrono::seconds(30);
    /// Records controller_runtime_webhook_* there when set; must outlive the server.
    metrics::Registry* registry = nullptr;
  };
  using RawHandler = std::function<Response(const Call&)>;

  explicit Server(Options options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Asks `handler` about requests to `path` for objects of type T, built-in or with a schema table
  /// of its own. It is called as `Response handler(Review<T>&)`: mutating when it changes the
  /// object, validating otherwise; a validating webhook must take `const Review<T>&` or leave the
  /// object alone. Objects that are no T are denied with code 400.
  template <class T, class F>
  void Handle(std::string path, F handler) {
    HandleRaw(std::move(path), [handler = std::move(handler)](const Call& call) {
      return internal::Admit<T>(call, handler);
    });
  }

  /// The same without a type: the objects are JSON in `call.request`, a patch has to be given, for
  /// example by MakeJsonPatch.
  void HandleRaw(std::string path, RawHandler handler);

  /// As http::Server::Start.
  apimachinery::Result<void> Start();
  std::uint16_t port() const;
  /// Answers what it has been asked first; see http::Server.
  void Drain(std::chrono::milliseconds limit);
  void Stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::webhook

#endif  // KUBEXX_WEBHOOK_SERVER_H_
