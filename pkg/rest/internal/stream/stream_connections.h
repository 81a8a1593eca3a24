/// @file
/// StreamConnections: the connections to one server for lists and watches, and through a proxy for
/// all requests.
#ifndef KUBEXX_REST_INTERNAL_STREAM_STREAM_CONNECTIONS_H_
#define KUBEXX_REST_INTERNAL_STREAM_STREAM_CONNECTIONS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/rest/internal/stream/connection.h"
#include "kubexx/rest/internal/stream/dial.h"
#include "kubexx/rest/internal/tls/tls.h"
#include "kubexx/rest/proxy.h"
#include "kubexx/rest/round_tripper.h"
#include "kubexx/rest/url.h"

namespace kubexx::rest::internal {

/// Returns the value of the header Host: the server's host, with the port if it is not the usual
/// one.
std::string HostHeader(const ServerUrl& server);

/// Sends requests whose responses are read in pieces. Each request has a connection for itself. No
/// thread reads for other threads: the caller that waits for a piece takes it from the socket,
/// decrypts it, and gets it without a copy. Thread-safe. Semantics of connections: Go's
/// http.Transport.
class StreamConnections : public std::enable_shared_from_this<StreamConnections> {
 public:
  /// `clock` must outlive all requests that Start returns.
  StreamConnections(ServerUrl server, std::optional<Proxy> proxy, base::Clock& clock);

  /// Uses this TLS material for new connections, to the server and to its proxy; null means no TLS.
  /// Requests in progress keep their
  /// material. When OpenSSL refuses the material, it returns an error and changes nothing.
  apimachinery::Result<void> Use(std::shared_ptr<TlsSettings> tls,
                                 std::shared_ptr<TlsSettings> proxy_tls);

  /// See RoundTripper. Opens the connection when AwaitHead is called.
  std::unique_ptr<RoundTrip> Start(const HttpRequest& request) {
    return StartOn(request, nullptr, 0);
  }
  /// As Start, on this connection of this version (see RouteNow).
  std::unique_ptr<RoundTrip> StartOn(const HttpRequest& request,
                                     std::unique_ptr<Connection> connection, std::uint64_t version);

  // These functions are for the requests:

  /// Returns how to reach the server now. `version` is set to the version of the TLS material,
  /// which each Use increments.
  Route RouteNow(std::uint64_t& version) const;
  /// Returns a connection of that version that can be used again, or null when there is none.
  std::unique_ptr<Connection> TakeIdle(std::uint64_t version);
  /// Keeps a connection on which another request can be sent.
  void GiveBack(std::unique_ptr<Connection> connection, std::uint64_t version);
  base::Clock& clock() const { return clock_; }

 private:
  base::Clock& clock_;
  mutable base::Mutex mu_;
  Route route_ KX_GUARDED_BY(mu_);
  std::uint64_t version_ KX_GUARDED_BY(mu_) = 0;
  std::vector<std::unique_ptr<Connection>> idle_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_STREAM_STREAM_CONNECTIONS_H_
