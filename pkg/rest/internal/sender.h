/// @file
/// Sends prepared requests: throttling, credentials, retries, error responses, metrics.
#ifndef KUBEXX_REST_INTERNAL_SENDER_H_
#define KUBEXX_REST_INTERNAL_SENDER_H_

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/token_bucket.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/internal/credentials.h"
#include "kubexx/rest/internal/transport.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::rest::internal {

/// A request with everything but credentials.
struct Prepared {
  HttpRequest http{};
  bool watch = false;
  std::chrono::milliseconds timeout{0};  ///< zero: none
  int max_retries = 0;
};

/// A 2xx response whose body is still to be read, until `deadline` when the request has a timeout.
struct Opened {
  HttpCall call;
  HttpHead head{};
  base::TimePoint deadline = base::TimePoint::max();
};

/// Thread-safe.
class Sender {
 public:
  static apimachinery::Result<std::unique_ptr<Sender>> New(const Config& config,
                                                           const RESTClient::Options& options);

  /// Sends until there is a 2xx response or an error that is not worth another try.
  apimachinery::Result<Opened> Open(const Prepared& request, const std::stop_token& stop);

  /// Records how long a request took, from `start` until now.
  void ObserveDuration(const std::string& verb, base::TimePoint start);

  const ServerUrl& server() const { return server_; }
  base::Clock& clock() { return options_.clock; }

 private:
  // Why an attempt failed and whether, and after how long, another one makes sense.
  struct Attempt {
    apimachinery::Status status{};
    bool retry = false;
    std::chrono::seconds wait{0};
  };

  Sender(const RESTClient::Options& options, ServerUrl server, double qps, int burst)
      : options_(options), server_(std::move(server)), bucket_(qps, burst, options.clock) {}

  apimachinery::Result<void> Throttle(const Prepared& request, const std::stop_token& stop);
  std::expected<Opened, Attempt> TryOnce(const Prepared& request, base::TimePoint deadline,
                                         const std::stop_token& stop);
  Attempt ReadError(Opened opened, const std::stop_token& stop);
  void LogThrottle(const Prepared& request, base::Duration wait);
  void Count(const std::string& verb, const std::string& code);

  const RESTClient::Options options_;
  const ServerUrl server_;
  base::TokenBucket bucket_;
  base::Mutex mu_;
  std::optional<base::TimePoint> throttle_logged_ KX_GUARDED_BY(mu_);
  std::unique_ptr<Credentials> credentials_;
  std::unique_ptr<Transport> transport_;
};

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_SENDER_H_
