/// @file
/// Sends prepared requests: throttling, credentials, retries, error responses, metrics.
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

/// A request with everything but credentials.
struct Prepared {
  HttpRequest http{};
  bool watch = false;
  std::chrono::milliseconds timeout{0};   ///< zero: none
  std::chrono::milliseconds response{0};  ///< of each attempt's head; zero: none
  int max_retries = 0;
  std::shared_ptr<RateLimiter> limiter{};     ///< null: no limit
  std::shared_ptr<BackoffManager> backoff{};  ///< null: none
  std::shared_ptr<WarningHandler> warnings{};
  std::shared_ptr<const std::string>
      encoded{};  ///< what http.body refers to, if an encoder wrote it
};

/// A 2xx response whose body is still to be read, until `deadline` when the request has a timeout.
struct Opened {
  HttpCall call;
  HttpHead head{};
  base::TimePoint deadline = base::TimePoint::max();
  std::unique_ptr<GzipDecoder> gzip{};  ///< null: the body is not packed
  std::size_t bytes = 0;                ///< of the body so far, as sent

  /// As HttpCall::Read, unpacked: one read may give several pieces or none.
  apimachinery::Result<bool> Read(HttpCall::Sink sink, const std::stop_token& stop,
                                  base::TimePoint until);
};

/// Resources for which the server takes no protobuf. Thread-safe.
class JsonOnly {
 public:
  bool Has(const std::string& resource) const;
  void Add(const std::string& resource);

 private:
  mutable base::Mutex mu_;
  std::set<std::string> resources_ KX_GUARDED_BY(mu_);
};

/// Thread-safe.
class Sender {
 public:
  static apimachinery::Result<std::unique_ptr<Sender>> New(Config config,
                                                           RESTClient::Options options);

  /// Sends until there is a 2xx response or an error that is not worth another try.
  apimachinery::Result<Opened> Open(const Prepared& request, const std::stop_token& stop);

  /// What a connection of another kind needs to be like one of this client's.
  apimachinery::Result<StreamAccess> AccessForStream(const std::stop_token& stop);
  /// After the server has answered 401 to `refused`: whether there is other access now.
  bool RenewAccess(const StreamAccess& refused);

  /// Whether there is a newer client certificate than the one of `opened`'s connection; looks for
  /// one when it is time to.
  bool HasOldCertificate(const Opened& opened);
  /// How often HasOldCertificate is to be asked; zero: never.
  std::chrono::seconds certificate_interval() const;

  const Config& config() const { return config_; }
  const RESTClient::Options& options() const { return options_; }
  const ServerUrl& server() const { return server_; }
  base::Clock& clock() { return options_.clock; }
  const RestMetrics& metrics() const { return metrics_; }
  JsonOnly& json_only() { return json_only_; }

 private:
  // Why an attempt failed and whether, and after how long, another one makes sense.
  struct Attempt {
    apimachinery::Status status{};
    bool retry = false;
    base::Duration wait{0};
    int code = 0;  ///< of the response; 0 without one
    bool refused = false;
    std::uint64_t credential = 0;   ///< generation of the refused one
    std::uint64_t certificate = 0;  ///< of the connection's client certificate
  };

  Sender(Config config, RESTClient::Options options, ServerUrl server);

  /// kTimeout, at once, when the limit would allow the request only after `deadline`.
  apimachinery::Result<void> Throttle(const Prepared& request, base::TimePoint deadline,
                                      const std::stop_token& stop);
  /// `wait`, or the backoff of the host when that is longer.
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
  std::unique_ptr<Transport> transport_;
};

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_SENDER_H_
