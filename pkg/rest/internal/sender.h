/// @file
/// Sender: sends prepared requests, with throttling, credentials, retries, error responses and
/// metrics.
#ifndef KUBEXX_REST_INTERNAL_SENDER_H_
#define KUBEXX_REST_INTERNAL_SENDER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/internal/credentials/credentials.h"
#include "kubexx/rest/internal/message/gzip.h"
#include "kubexx/rest/internal/report/rest_metrics.h"
#include "kubexx/rest/internal/report/throttle_log.h"
#include "kubexx/rest/internal/transport/tls_reload.h"
#include "kubexx/rest/internal/transport/transport.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/rest/stream_access.h"

namespace kubexx::rest::internal {

/// A request that is complete except for its credentials.
struct Prepared {
  HttpRequest http{};
  bool watch = false;
  std::chrono::milliseconds timeout{0};   ///< zero: none
  std::chrono::milliseconds response{0};  ///< limit of each attempt's head; zero: none
  int max_retries = 0;
  std::shared_ptr<RateLimiter> limiter{};     ///< null: no limit
  std::shared_ptr<BackoffManager> backoff{};  ///< null: none
  std::shared_ptr<WarningHandler> warnings{};
  std::shared_ptr<const std::string> encoded{};  ///< the owner of http.body if an encoder wrote it
};

/// A 2xx response whose body has not been read yet. When the request has a timeout, it can be read
/// until `deadline`.
struct Opened {
  HttpCall call;
  HttpHead head{};
  base::TimePoint deadline = base::TimePoint::max();
  std::unique_ptr<GzipDecoder> gzip{};  ///< null: the body is not compressed
  std::size_t bytes = 0;                ///< of the body read so far, as sent
  /// The generation of the connection's client certificate, or an older one.
  std::uint64_t certificate = 0;

  /// Does as HttpCall::Read, but decompresses the bytes. One read may give several pieces or none.
  apimachinery::Result<bool> Read(HttpCall::Sink sink, const std::stop_token& stop,
                                  base::TimePoint until);
  /// Does the same without waiting; see RoundTrip::TryRead.
  apimachinery::Result<StreamRead> TryRead(HttpCall::Sink sink);

 private:
  apimachinery::Result<void> Take(std::string_view chunk, HttpCall::Sink sink);
};

/// The resources for which the server does not accept protobuf. Thread-safe.
class JsonOnly {
 public:
  bool Has(const std::string& resource) const;
  void Add(const std::string& resource);

 private:
  mutable base::Mutex mu_;
  std::set<std::string> resources_ KX_GUARDED_BY(mu_);
};

/// The core of a RESTClient. Thread-safe.
class Sender {
 public:
  static apimachinery::Result<std::unique_ptr<Sender>> New(Config config,
                                                           RESTClient::Options options);

  /// Sends the request until there is a 2xx response or an error after which a retry makes no
  /// sense. An exception of the user's rate limiter, backoff or middleware is kInternalError.
  apimachinery::Result<Opened> Open(const Prepared& request, const std::stop_token& stop);

  /// Returns what a connection of another kind, for example a WebSocket, needs to connect as this
  /// client.
  apimachinery::Result<StreamAccess> AccessForStream(const std::stop_token& stop);
  /// Call this when the server has answered 401 to `refused`. Returns whether AccessForStream now
  /// returns something else.
  bool RenewAccess(const StreamAccess& refused);

  /// Whether there is a client certificate that is newer than that of `opened`'s connection. It
  /// checks the files when the interval has passed.
  bool HasOldCertificate(const Opened& opened);
  /// The interval at which the caller should call HasOldCertificate. Zero means never.
  std::chrono::seconds certificate_interval() const;

  /// See RoundTripper.
  bool CanNotify() const { return wrapped_ ? wrapped_->CanNotify() : transport_->CanNotify(); }

  const Config& config() const { return config_; }
  const RESTClient::Options& options() const { return options_; }
  const ServerUrl& server() const { return server_; }
  base::Clock& clock() { return options_.clock; }
  const RestMetrics& metrics() const { return metrics_; }
  JsonOnly& json_only() { return json_only_; }

 private:
  // The reason why an attempt failed, whether another attempt makes sense, and how long to wait
  // before it.
  struct Attempt {
    apimachinery::Status status{};
    bool retry = false;
    base::Duration wait{0};
    int code = 0;  ///< the response's; 0 without one
    bool refused = false;
    std::uint64_t credential = 0;   ///< generation of the refused one
    std::uint64_t certificate = 0;  ///< generation of the connection's certificate
  };

  Sender(Config config, RESTClient::Options options, ServerUrl server);

  /// Does as Open. Throws what the user's rate limiter or backoff throws.
  apimachinery::Result<Opened> OpenOrThrow(const Prepared& request, const std::stop_token& stop);
  /// Waits for the rate limiter. Returns kTimeout at once when the limiter would allow the request
  /// only after `deadline`.
  apimachinery::Result<void> Throttle(const Prepared& request, base::TimePoint deadline,
                                      const std::stop_token& stop);
  /// Returns the longer of `wait` and the backoff of the host.
  base::Duration DelayOf(const Prepared& request, base::Duration wait) const;
  apimachinery::Result<void> Pause(base::Duration wait, const std::stop_token& stop);
  std::expected<Opened, Attempt> TryOnce(const Prepared& request, base::TimePoint deadline,
                                         const std::stop_token& stop);
  apimachinery::Result<Credentials::Credential> AddCredentials(HttpRequest& http,
                                                               base::TimePoint deadline,
                                                               const std::stop_token& stop);
  bool RenewCredentials(const Attempt& attempt);
  void Warn(const Prepared& request, const HttpHead& head) const;
  Attempt ReadError(Opened opened, const std::stop_token& stop);
  void LogThrottle(const Prepared& request, base::Duration wait);

  const Config config_;
  const RESTClient::Options options_;
  const ServerUrl server_;
  const RestMetrics metrics_;
  ThrottleLog throttle_log_;
  JsonOnly json_only_;
  std::vector<std::pair<std::string, std::string>> impersonation_;
  std::unique_ptr<Credentials> credentials_;
  std::unique_ptr<TlsReload> reload_;
  std::shared_ptr<Transport> transport_;
  std::unique_ptr<Transport> wrapped_;  ///< null without Config::wrap_round_tripper
};

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_SENDER_H_
