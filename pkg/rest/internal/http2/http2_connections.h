/// @file
/// Http2Connections: the HTTP/2 connections to one server.
#ifndef KUBEXX_REST_INTERNAL_HTTP2_HTTP2_CONNECTIONS_H_
#define KUBEXX_REST_INTERNAL_HTTP2_HTTP2_CONNECTIONS_H_

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/rest/internal/http2/http2_connection.h"
#include "kubexx/rest/internal/stream/stream_connections.h"
#include "kubexx/rest/internal/stream/waiting.h"
#include "kubexx/rest/round_tripper.h"

namespace kubexx::rest::internal {

/// Opens a connection when there is none with room for another stream, one at a time, and closes it
/// when nobody uses it any more. Thread-safe.
class Http2Connections {
 public:
  /// Connects as `streams` does.
  explicit Http2Connections(std::shared_ptr<StreamConnections> streams)
      : streams_(std::move(streams)) {}

  /// Where a request has been sent. Without a `connection` it was not: the server does not speak
  /// HTTP/2, and perhaps there is a new connection for HTTP/1.1.
  struct Place {
    std::shared_ptr<Http2Connection> connection{};
    std::unique_ptr<Connection> http1{};
    std::uint64_t version = 0;  ///< of http1, see StreamConnections
    bool was_in_use = false;    ///< the connection has served others before
  };

  /// Sends a GET. Waits for a connection if need be.
  std::expected<Place, Trouble> Open(const HttpRequest& request, Http2Stream& stream,
                                     const std::shared_ptr<Poller>& poller, const Waiting& waiting);
  /// Somebody has left this connection.
  void Left(const std::shared_ptr<Http2Connection>& connection);
  /// The server has asked for HTTP/1.1.
  void AvoidHttp2();

  StreamConnections& streams() const { return *streams_; }

 private:
  struct Known {
    std::shared_ptr<Http2Connection> connection{};
    std::uint64_t version = 0;
  };

  /// Forgets those of other versions, and those that take no more requests. Returns what was known.
  std::vector<Known> KnownLocked(std::uint64_t version) KX_REQUIRES(mu_);
  std::expected<Place, Trouble> DialAndOpen(const Route& route, std::uint64_t version,
                                            const HttpRequest& request, Http2Stream& stream,
                                            const std::shared_ptr<Poller>& poller,
                                            const Waiting& waiting);
  void AvoidHttp2Locked(base::TimePoint now) KX_REQUIRES(mu_);

  const std::shared_ptr<StreamConnections> streams_;
  base::Mutex mu_;
  base::CondVar dialed_;
  std::vector<Known> known_ KX_GUARDED_BY(mu_);
  bool is_dialing_ KX_GUARDED_BY(mu_) = false;
  std::uint64_t dials_ KX_GUARDED_BY(mu_) = 0;
  std::uint64_t failed_dial_ KX_GUARDED_BY(mu_) = 0;
  std::optional<Trouble> dial_failure_ KX_GUARDED_BY(mu_);
  int failures_ KX_GUARDED_BY(mu_) = 0;  ///< after HTTP/2 was chosen, one after the other
  std::optional<base::TimePoint> http1_until_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_HTTP2_HTTP2_CONNECTIONS_H_
