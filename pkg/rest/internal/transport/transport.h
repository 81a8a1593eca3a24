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

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/internal/config/proxy.h"
#include "kubexx/rest/round_tripper.h"
#include "kubexx/rest/url.h"

namespace kubexx::rest::internal {

/// One request under way. Not thread-safe. Its destructor gives up what is not finished and does
/// not wait for it.
class HttpCall {
 public:
  using Sink = RoundTrip::Sink;
  using Limits = RoundTrip::Limits;

  class Impl;
  explicit HttpCall(std::unique_ptr<Impl> impl);
  HttpCall(HttpCall&&) noexcept;
  ~HttpCall();

  /// As RoundTrip's.
  apimachinery::Result<HttpHead> AwaitHead(const std::stop_token& stop, const Limits& limits);
  /// As RoundTrip's.
  apimachinery::Result<bool> Read(Sink sink, const std::stop_token& stop, base::TimePoint deadline);
  /// As RoundTrip's.
  bool lost_connection() const;
  /// As RoundTrip's.
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
  /// network thread, unless config.round_tripper stands in for all of that.
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
