/// @file
/// ServerStreams: the streams to one server, over HTTP/1.1 or HTTP/2.
#ifndef KUBEXX_REST_INTERNAL_HTTP2_SERVER_STREAMS_H_
#define KUBEXX_REST_INTERNAL_HTTP2_SERVER_STREAMS_H_

#include <atomic>
#include <memory>
#include <optional>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/internal/http2/http2_connections.h"
#include "kubexx/rest/internal/stream/stream_connections.h"
#include "kubexx/rest/internal/tls/tls.h"
#include "kubexx/rest/proxy.h"
#include "kubexx/rest/round_tripper.h"
#include "kubexx/rest/url.h"

namespace kubexx::rest::internal {

/// Chooses how each stream is sent. A connection of its own costs a stream less processor time; a
/// shared one costs less memory, and no descriptor. So the first streams that are open at a time
/// have their own, and all others share: see Http2Use. Thread-safe.
class ServerStreams {
 public:
  /// How many streams have a connection of their own before others share, with
  /// Http2Use::kManyStreams.
  static constexpr int kOwnConnections = 8;

  /// `clock` must outlive everything that Start returns.
  ServerStreams(const ServerUrl& server, std::optional<Proxy> proxy, base::Clock& clock,
                Http2Use use);

  /// See StreamConnections.
  apimachinery::Result<void> Use(std::shared_ptr<TlsSettings> tls,
                                 std::shared_ptr<TlsSettings> proxy_tls) {
    return own_->Use(std::move(tls), std::move(proxy_tls));
  }
  /// See RoundTripper.
  std::unique_ptr<RoundTrip> Start(const HttpRequest& request);

 private:
  const Http2Use use_;
  const std::shared_ptr<StreamConnections> own_;
  const std::shared_ptr<Http2Connections> shared_;
  const std::shared_ptr<std::atomic<int>> open_;  ///< streams on connections of their own
};

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_HTTP2_SERVER_STREAMS_H_
