/// @file
/// RESTClient: sends requests to one API server. Its Request builder is in request.h.
#ifndef KUBEXX_REST_REST_CLIENT_H_
#define KUBEXX_REST_REST_CLIENT_H_

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/rest/backoff.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/rate_limiter.h"
#include "kubexx/rest/request.h"
#include "kubexx/rest/warning_handler.h"

namespace kubexx::metrics {
class Registry;
}
namespace kubexx::tracing {
class Tracer;
}

namespace kubexx::rest {

struct ClientAccess;

/// Sends requests to one API server. Thread-safe. All typed clients of a server share one, in a
/// shared_ptr. One network thread serves the single requests of all RESTClients of the process; the
/// first RESTClient starts it. Another one, which the first stream starts, wakes the callers of
/// Request::Stream when there is something to read.
class RESTClient {
 public:
  /// The settings of a client in addition to its Config.
  struct Options {
    base::Clock& clock = base::Clock::Real();
    /// When set, the client records rest_client_* metrics here; must outlive the client.
    metrics::Registry* registry = nullptr;
    /// When set, each attempt of a request is a span (OpenTelemetry's, of an HTTP client), from its
    /// start to the end of the response's body, and the API server is told of it by the header
    /// traceparent. Its parent is the thread's tracing::Current(). The streams of remotecommand
    /// have no spans.
    std::shared_ptr<tracing::Tracer> tracer{};
    /// How long name resolution, connecting and the TLS handshake may take together; zero: no
    /// limit.
    std::chrono::milliseconds connect_timeout = std::chrono::seconds(30);
    /// How long the head of a response may take after the request's head has been sent, for
    /// requests without a timeout of their own, including watches; zero: no limit. An API server
    /// itself ends requests that take longer than 60 s, unless its --request-timeout says
    /// otherwise.
    std::chrono::milliseconds response_timeout = std::chrono::minutes(2);
    /// How long a response may bring no bytes; zero: no limit. Does not apply to watches, which are
    /// quiet while nothing changes and are limited by their lifetime, see Request::Stream.
    std::chrono::milliseconds idle_timeout = std::chrono::minutes(2);
    /// The total time that the client waits for the body of a response, for requests without a
    /// timeout of their own, so that a server that sends a byte now and then cannot block callers
    /// for ever; zero: no limit. Does not apply to watches.
    std::chrono::milliseconds body_timeout = std::chrono::minutes(10);
    /// Replaces the limiter made from Config's qps and burst; may be shared.
    std::shared_ptr<RateLimiter> rate_limiter{};
    /// Replaces the backoff of KUBE_CLIENT_BACKOFF_BASE and _DURATION.
    std::shared_ptr<BackoffManager> backoff{};
    /// Replaces NewWarningLogger().
    std::shared_ptr<WarningHandler> warnings{};
  };

  /// Reads the TLS material; kInvalidConfig names the file or field that cannot be used. Opens no
  /// connection.
  static apimachinery::Result<std::shared_ptr<RESTClient>> New(Config config, Options options);
  static apimachinery::Result<std::shared_ptr<RESTClient>> New(Config config) {
    return New(std::move(config), {});
  }
  ~RESTClient();

  Request Get() { return Verb("GET"); }
  Request Post() { return Verb("POST"); }
  Request Put() { return Verb("PUT"); }
  Request Patch(PatchType type);
  Request Delete() { return Verb("DELETE"); }
  Request Verb(std::string method);

  const Config& config() const;

  /// Whether Request::OpenStream works: with connections of its own, and with a
  /// Config::round_tripper that can notify.
  bool CanOpenStreams() const;

 private:
  friend class Request;
  friend struct ClientAccess;
  class Impl;
  explicit RESTClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::rest

#endif  // KUBEXX_REST_REST_CLIENT_H_
