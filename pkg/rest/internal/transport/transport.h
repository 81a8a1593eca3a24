/// @file
/// Transport: HTTP with blocking calls. Single requests go over cpprestsdk: the caller's thread
/// waits for the response, while cpprestsdk's only pool thread does the network I/O and never
/// blocks. Streams go over connections of our own, over
/// HTTP/1.1 or HTTP/2: see ServerStreams.
#ifndef KUBEXX_REST_INTERNAL_TRANSPORT_TRANSPORT_H_
#define KUBEXX_REST_INTERNAL_TRANSPORT_TRANSPORT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/internal/config/proxy.h"
#include "kubexx/rest/round_tripper.h"
#include "kubexx/rest/url.h"

namespace kubexx::rest::internal {

/// One request in progress. Not thread-safe. Its destructor abandons an unfinished request and does
/// not wait for it.
class HttpCall {
 public:
  using Sink = RoundTrip::Sink;
  using Limits = RoundTrip::Limits;

  class Impl;
  explicit HttpCall(std::unique_ptr<Impl> impl);
  HttpCall(HttpCall&&) noexcept;
  ~HttpCall();

  /// See RoundTrip.
  apimachinery::Result<HttpHead> AwaitHead(const std::stop_token& stop, const Limits& limits);
  /// See RoundTrip.
  apimachinery::Result<bool> Read(Sink sink, const std::stop_token& stop, base::TimePoint deadline);
  /// See RoundTrip. Only streams of a transport that can notify have it.
  apimachinery::Result<StreamRead> TryRead(Sink sink);
  void Notify(std::function<void()> tell);
  base::TimePoint Arm();
  /// See RoundTrip.
  bool lost_connection() const;
  /// See RoundTrip.
  bool failed() const;

  /// The generation of the connection's client certificate.
  std::uint64_t certificate_generation() const;

 private:
  std::unique_ptr<Impl> impl_;
};

/// Makes single requests use the connections of streams, too, so that the tests of one
/// implementation also test the other. It applies to all transports of the process. Thread-safe.
void SendEverythingAsStreamsForTest(bool yes);

/// The connections to one server. Thread-safe. Calls may outlive it.
class Transport {
 public:
  /// Reads the TLS material and chooses the proxy. The first transport of the process starts the
  /// network thread. With config.round_tripper it does none of this.
  static apimachinery::Result<std::unique_ptr<Transport>> New(const Config& config,
                                                              const ServerUrl& server,
                                                              base::Clock& clock);
  /// Like New, but uses this proxy or none, and ignores the environment.
  static apimachinery::Result<std::unique_ptr<Transport>> NewThrough(std::optional<Proxy> proxy,
                                                                     const TlsConfig& tls,
                                                                     const ServerUrl& server,
                                                                     base::Clock& clock,
                                                                     Http2Use http2);
  ~Transport();

  HttpCall Start(const HttpRequest& request);

  /// See RoundTripper.
  bool CanNotify() const;

  /// Reads other TLS material and uses it for new connections. Calls in progress keep theirs. When
  /// the material cannot be used, it returns an error and changes nothing. It does nothing for a
  /// server without TLS.
  apimachinery::Result<void> Use(const TlsConfig& tls, bool new_certificate);

  /// The proxy through which the transport connects.
  const std::optional<Proxy>& proxy() const;

  /// Is incremented by every Use of a new client certificate.
  std::uint64_t certificate_generation() const;

 private:
  class Impl;
  explicit Transport(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_TRANSPORT_TRANSPORT_H_
