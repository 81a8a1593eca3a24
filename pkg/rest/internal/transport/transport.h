/// @file
/// HTTP/1.1 over cpprestsdk with blocking calls: the caller's thread waits for the response head
/// and takes the body in pieces, while cpprestsdk's one pool thread does the network's work and
/// never blocks.
#ifndef KUBEXX_REST_INTERNAL_TRANSPORT_TRANSPORT_H_
#define KUBEXX_REST_INTERNAL_TRANSPORT_TRANSPORT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/internal/config/proxy.h"
#include "kubexx/rest/url.h"

namespace kubexx::rest::internal {

struct HttpRequest {
  std::string method{};
  std::string target{};  ///< path and query, percent-encoded
  /// Names and values checked with CheckHeader; a name may be there several times.
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string_view body{};  ///< copied by Start
  bool has_body = false;
  bool quiet = false;  ///< the response may be silent for longer than ten minutes
};

struct HttpHead {
  int code = 0;
  std::string content_type{};
  std::string retry_after{};
  std::string warning{};
  std::string content_encoding{};
};

/// One request under way. Not thread-safe. Its destructor gives up what is not finished and does
/// not wait for it.
class HttpCall {
 public:
  using Sink = base::FunctionRef<apimachinery::Result<void>(std::string_view)>;

  /// When to give up waiting. TimePoint::max() means never.
  struct Limits {
    base::TimePoint connect = base::TimePoint::max();  ///< until the request's head has been sent
    base::TimePoint head = base::TimePoint::max();     ///< until the response's head is here
    /// The same, from when the request's head has been sent; zero: no limit.
    base::Duration response{0};
  };

  class Impl;
  explicit HttpCall(std::unique_ptr<Impl> impl);
  HttpCall(HttpCall&&) noexcept;
  ~HttpCall();

  /// Waits for the response's head. kUnavailable: no connection, or it broke; kTimeout: limits.head
  /// or limits.response passed; kCancelled.
  apimachinery::Result<HttpHead> AwaitHead(const std::stop_token& stop, const Limits& limits);

  /// Hands the next piece of the body to `sink` on this thread. False when the body has ended.
  /// kUnavailable when the connection broke before that or `deadline` passed without a piece;
  /// kCancelled; or the error of `sink`.
  apimachinery::Result<bool> Read(Sink sink, const std::stop_token& stop, base::TimePoint deadline);

  /// Whether a failed AwaitHead lost a connection that was there: reset or end of file, no answer
  /// seen.
  bool lost_connection() const;

  /// Whether it broke, as opposed to a Read whose deadline passed.
  bool failed() const;

  /// Which client certificate its connection has.
  std::uint64_t certificate_generation() const;

 private:
  std::unique_ptr<Impl> impl_;
};

/// Connections to one server. Thread-safe. Calls may outlive it.
class Transport {
 public:
  /// Reads the TLS material and chooses the proxy. The first transport of the process starts the
  /// network thread.
  static apimachinery::Result<std::unique_ptr<Transport>> New(const Config& config,
                                                              const ServerUrl& server,
                                                              base::Clock& clock);
  /// As New, through this proxy or none, whatever the environment says.
  static apimachinery::Result<std::unique_ptr<Transport>> NewThrough(std::optional<Proxy> proxy,
                                                                     const TlsConfig& tls,
                                                                     const ServerUrl& server,
                                                                     base::Clock& clock);
  ~Transport();

  HttpCall Start(const HttpRequest& request);

  /// Uses other TLS material for new connections; calls under way keep theirs. Reads it; what
  /// cannot be used is an error and changes nothing. Nothing to do for a server without TLS.
  apimachinery::Result<void> Use(const TlsConfig& tls, bool new_certificate);

  /// What it connects through.
  const std::optional<Proxy>& proxy() const;

  /// Goes up with every Use of a new client certificate.
  std::uint64_t certificate_generation() const;

 private:
  class Impl;
  explicit Transport(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_TRANSPORT_TRANSPORT_H_
