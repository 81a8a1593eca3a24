/// @file
/// UrlClient: sends requests to a URL that is not an API server's, such as a webhook, a chat room
/// or a manifest.
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

/// Sends requests to one URL, over connections like those of lists and watches, which bound what a
/// server may send in the head of an answer. Follows no redirects and
/// sends no credentials except those in the URL and in Options::headers. Errors never contain the
/// URL, whose path or query may be a secret, nor the values of headers. Thread-safe.
class UrlClient {
 public:
  using Headers = std::vector<std::pair<std::string, std::string>>;

  /// The address and how to connect to it.
  struct Options {
    /// A URL with the scheme http or https and a host; port, path and query are optional.
    std::string url{};
    /// Like rest::Config::proxy_url; empty means no proxy, whatever the environment says.
    std::string proxy{};
    /// With an empty `proxy`: use the environment's, as rest::Config does.
    bool proxy_from_environment = false;
    /// How to verify the server; by default with the system's certificates.
    TlsConfig tls{};
    /// Sent with each request, besides Content-Type. They may be credentials.
    Headers headers{};
    /// The time limit of the whole request.
    std::chrono::milliseconds timeout = std::chrono::seconds(10);
    base::Clock& clock = base::Clock::Real();
  };
  /// An answer of any status.
  struct Answer {
    int status = 0;
    std::string body{};  ///< only the first 4 KiB for Post
    /// What the header Retry-After asks for; 0 when there is none, or none in whole seconds.
    std::chrono::seconds retry_after{0};
  };

  /// Returns kInvalidConfig for a URL, a proxy or a header that cannot be used. Opens no
  /// connection.
  static apimachinery::Result<std::unique_ptr<UrlClient>> New(Options options);
  ~UrlClient();

  /// Sends the request once and never repeats it, because the server may have acted on it. Returns
  /// when the answer has arrived. kUnavailable when there is no connection or it broke, kTimeout,
  /// kCancelled soon after `stop` is requested. `deadline` may end it before Options::timeout.
  apimachinery::Result<Answer> Post(std::string_view content_type, std::string_view body,
                                    const std::stop_token& stop,
                                    base::TimePoint deadline = base::TimePoint::max()) const;
  /// Like Post, but reads the whole body; kInvalid when it is larger than `max_bytes`.
  apimachinery::Result<Answer> PostWhole(std::string_view content_type, std::string_view body,
                                         std::size_t max_bytes, const std::stop_token& stop) const;
  /// Sends a GET and reads the whole body; kInvalid when it is larger than `max_bytes`. Other
  /// errors are those of Post.
  apimachinery::Result<Answer> Get(const Headers& headers, std::size_t max_bytes,
                                   const std::stop_token& stop) const;

 private:
  class Impl;
  explicit UrlClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::rest

#endif  // KUBEXX_REST_URL_CLIENT_H_
