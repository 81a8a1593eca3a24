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

namespace kubexx::rest {

struct ClientAccess;

/// Thread-safe. Shared by all clients of one server; keep it in a shared_ptr. One network thread
/// serves the connections of all RESTClients of the process; the first one starts it.
class RESTClient {
 public:
  /// What a client needs beside its Config.
  struct Options {
    base::Clock& clock = base::Clock::Real();
    /// Records rest_client_* metrics there when set; must outlive the client.
    metrics::Registry* registry = nullptr;
    /// How long name resolution, connecting and the TLS handshake may take together; zero: no
    /// limit.
    std::chrono::milliseconds connect_timeout = std::chrono::seconds(30);
    /// How long the head of a response may take from when the request's head has been sent, for
    /// requests that have no timeout of their own, watches included; zero: no limit. An API server
    /// ends what takes longer than 60 s itself, unless its --request-timeout says otherwise.
    std::chrono::milliseconds response_timeout = std::chrono::minutes(2);
    /// How long a response may bring nothing; zero: no limit. Not of watches, which are quiet while
    /// nothing changes: they have their lifetime, see Request::Stream.
    std::chrono::milliseconds idle_timeout = std::chrono::minutes(2);
    /// How long the bodies of responses to requests without a timeout are waited for in all, so
    /// that a server that sends a byte now and then holds nobody up; zero: no limit. Not of
    /// watches.
    std::chrono::milliseconds body_timeout = std::chrono::minutes(10);
    /// Instead of one made of Config's qps and burst; may be shared.
    std::shared_ptr<RateLimiter> rate_limiter{};
    /// Instead of what KUBE_CLIENT_BACKOFF_BASE and _DURATION say.
    std::shared_ptr<BackoffManager> backoff{};
    /// Instead of NewWarningLogger().
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

 private:
  friend class Request;
  friend struct ClientAccess;
  class Impl;
  explicit RESTClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::rest

#endif  // KUBEXX_REST_REST_CLIENT_H_
