/// @file
/// StreamConnections: the connections for lists and watches of one server.
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

/// What the request says about whom it is for: the server's host, with the port if it is not the
/// usual one.
std::string HostHeader(const ServerUrl& server);

/// Sends requests whose answers are read in pieces, each on a connection that it has for itself. No
/// thread reads for others: whoever waits for a piece takes it from the socket, decrypts it and
/// gets it where it lies. Thread-safe. Semantics of connections: Go's http.Transport.
class StreamConnections : public std::enable_shared_from_this<StreamConnections> {
 public:
  /// `clock` must outlive everything that Start returns.
  StreamConnections(ServerUrl server, std::optional<Proxy> proxy, base::Clock& clock);

  /// Uses this TLS material for new connections, null for none; requests under way keep theirs.
  /// When OpenSSL refuses it, returns an error and changes nothing.
  apimachinery::Result<void> Use(std::shared_ptr<TlsSettings> tls);

  /// See RoundTripper. Opens the connection when AwaitHead is called.
  std::unique_ptr<RoundTrip> Start(const HttpRequest& request) {
    return StartOn(request, nullptr, 0);
  }
  /// As Start, on this connection of this version (see RouteNow).
  std::unique_ptr<RoundTrip> StartOn(const HttpRequest& request,
                                     std::unique_ptr<Connection> connection, std::uint64_t version);

  // For the requests:

  /// How to reach the server, and which Use this is from.
  Route RouteNow(std::uint64_t& version) const;
  /// A connection of that version that can be used again; null when there is none.
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
