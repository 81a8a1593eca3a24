/// @file
/// Asks a URL that is no API server's: webhooks, chat rooms, manifests.
#ifndef KUBEXX_REST_URL_CLIENT_H_
#define KUBEXX_REST_URL_CLIENT_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/rest/config.h"

namespace kubexx::rest {

/// Requests to one URL, on the network thread of all RESTClients. Follows no redirect and sends no
/// credentials but what is in the URL. Errors never show the URL, whose path or query may be a
/// secret. Thread-safe.
class UrlClient {
 public:
  /// Where to ask, and how.
  struct Options {
    /// With http or https and a host; port, path and query as needed.
    std::string url{};
    /// As rest::Config::proxy_url; empty: none, whatever the environment says.
    std::string proxy{};
    /// How the server is verified; nothing set: by the system's certificates.
    TlsConfig tls{};
    /// Of the whole request.
    std::chrono::milliseconds timeout = std::chrono::seconds(10);
    base::Clock& clock = base::Clock::Real();
  };
  /// An answer of any status.
  struct Answer {
    int status = 0;
    std::string body{};  ///< of a Post its first 4 KiB
  };
  using Headers = std::vector<std::pair<std::string, std::string>>;

  /// kInvalidConfig for a URL or a proxy that cannot be used. Opens no connection.
  static apimachinery::Result<std::unique_ptr<UrlClient>> New(Options options);
  ~UrlClient();

  /// Sent once, whatever becomes of it: who is asked may have acted. Returns when the answer is
  /// here. kUnavailable when there is no connection or it broke, kTimeout, kCancelled soon after
  /// `stop` is requested.
  apimachinery::Result<Answer> Post(std::string_view content_type, std::string_view body,
                                    const std::stop_token& stop) const;
  /// As Post, with the whole body; kInvalid when it is larger than `max_bytes`.
  apimachinery::Result<Answer> PostWhole(std::string_view content_type, std::string_view body,
                                         std::size_t max_bytes, const std::stop_token& stop) const;
  /// As Post, with the whole body; kInvalid when it is larger than `max_bytes`.
  apimachinery::Result<Answer> Get(const Headers& headers, std::size_t max_bytes,
                                   const std::stop_token& stop) const;

 private:
  class Impl;
  explicit UrlClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::rest

#endif  // KUBEXX_REST_URL_CLIENT_H_
