/// @file
/// Server: serves the webhooks that the API server calls before it stores an object, or to convert
/// it between versions.
#ifndef KUBEXX_WEBHOOK_SERVER_H_
#define KUBEXX_WEBHOOK_SERVER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/http/server.h"
#include "kubexx/webhook/admission.h"
#include "kubexx/webhook/conversion.h"

namespace kubexx::metrics {
class Registry;
}

namespace kubexx::webhook {

/// Serves admission webhooks of admission.k8s.io/v1, and conversion webhooks of
/// apiextensions.k8s.io/v1, over TLS, each at a path of its own. Handlers
/// run on threads of the server, several at once, and must be thread-safe. If a handler throws, the
/// request is denied with code 500. Requests to other paths are answered with 404, without reading
/// their bodies. Thread-safe.
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
  /// The listen address, TLS, and the limits on requests.
  struct Options {
    /// Like http::Server::Options::address.
    std::string address = ":9443";
    /// The settings of TLS, which is not optional because API servers only call webhooks over TLS.
    /// The `caBundle` of the webhook's configuration must contain the authority, or the certificate
    /// itself if it is self-signed.
    http::TlsOptions tls{};
    /// How many requests are read and answered at once. While a handler runs, another thread takes
    /// its place, so that a handler may call the API server even if that call triggers another
    /// webhook of this server. So as many handlers may run as there are connections with a request.
    std::size_t handler_threads = 4;
    std::size_t max_connections = 64;
    /// The size of the largest AdmissionReview that is accepted; the answer to a larger one is 413.
    std::size_t max_body_bytes = 7 << 20;
    /// The same for ConversionReviews, of which one may have all objects of a list: kube-apiserver
    /// sends as many as its client asks for. The work on one takes a multiple of its size.
    std::size_t max_conversion_bytes = 100 << 20;
    /// How long a handler may take. No API server waits longer than 30 s.
    std::chrono::milliseconds handler_timeout = std::chrono::seconds(30);
    /// If set, the metrics controller_runtime_webhook_* are recorded here; must outlive the server.
    metrics::Registry* registry = nullptr;
  };
  using RawHandler = std::function<Response(const Call&)>;

  explicit Server(Options options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Calls `handler` for requests to `path` about objects of type T, which is built-in or has a
  /// schema table of its own. It is called as `Response handler(Review<T>&)`. A handler that
  /// changes the object is a mutating webhook. A validating webhook must take `const Review<T>&` or
  /// leave the object alone. Requests with objects of another type are denied with code 400.
  template <class T, class F>
  void Handle(const std::string& path, F handler) {
    constexpr bool kReviews = std::is_invocable_r_v<Response, const F&, Review<T>&>;
    static_assert(kReviews, "kubexx: Handle<T> takes a function Response(Review<T>&)");
    if constexpr (kReviews) {
      HandleRaw(path, [handler = std::move(handler)](const Call& call) {
        return internal::Admit<T>(call, handler);
      });
    }
  }

  /// The same without a type: the objects are JSON in `call.request`, and the handler has to make
  /// the patch, for example with MakeJsonPatch. Metrics and log lines call the webhook `name`;
  /// empty: they have its path. A path that only API servers may know needs a name, since whoever
  /// may read the metrics would know it otherwise.
  void HandleRaw(const std::string& path, RawHandler handler, const std::string& name = {});

  /// Calls `conversion` for ConversionReviews to `path`, the path in `spec.conversion` of a
  /// CustomResourceDefinition. When an object cannot be converted, or a function throws, the whole
  /// review fails, with an error that names the object; the API server then fails the request of
  /// its client.
  template <class Hub>
  void HandleConversion(const std::string& path, Conversion<Hub> conversion) {
    HandleRawConversion(path, [conversion = std::move(conversion)](std::string_view object,
                                                                   const std::string& api_version) {
      return conversion.Convert(object, api_version);
    });
  }
  /// The same without types: `convert` gets and returns JSON.
  void HandleRawConversion(const std::string& path, RawConversion convert);

  /// Like http::Server::Start.
  apimachinery::Result<void> Start();
  std::uint16_t port() const;
  /// Stops listening, and waits until the requests that have arrived are answered; see
  /// http::Server::Drain.
  void Drain(std::chrono::milliseconds limit);
  void Stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::webhook

#endif  // KUBEXX_WEBHOOK_SERVER_H_
