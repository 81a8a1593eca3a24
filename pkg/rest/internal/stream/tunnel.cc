#include "kubexx/rest/internal/stream/tunnel.h"

#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "kubexx/rest/internal/stream/io_wait.h"
#include "kubexx/rest/proxy_tunnel.h"

namespace kubexx::rest::internal {
namespace {

using std::unexpected;

Trouble Closed(const ProxyTunnel& tunnel) {
  return Trouble::Because(tunnel.WhenClosed().message, true);
}

std::expected<void, Trouble> SendAndWipe(Connection& connection, const ProxyTunnel& tunnel,
                                         std::string bytes, const Waiting& waiting) {
  auto written = WriteAll(connection, bytes, waiting);
  explicit_bzero(bytes.data(), bytes.size());
  if (!written && written.error().kind == Trouble::Kind::kFailed) {
    return unexpected(Closed(tunnel));
  }
  return written;
}

}  // namespace

std::expected<void, Trouble> StartProxyTls(Connection& connection, std::shared_ptr<TlsContext> tls,
                                           const Waiting& waiting) {
  auto done = StartTls(connection, std::move(tls), Offer::kHttp1, waiting);
  if (!done && done.error().kind == Trouble::Kind::kFailed) {
    std::string& message = done.error().failure.status.message;
    const bool no_tls = connection.tls_failed() &&
                        (message == "wrong version number" || message == "packet length too long");
    message = "TLS handshake with the proxy: " + message +
              (no_tls ? "; does its URL need the scheme http or socks5?" : "");
  }
  return done;
}

std::expected<void, Trouble> OpenTunnel(Connection& connection, const Proxy& proxy,
                                        const ServerUrl& server, const Waiting& waiting) {
  auto made = ProxyTunnel::New(proxy, server);
  if (!made) {
    return unexpected(Trouble{.failure = {.status = std::move(made).error()}});
  }
  ProxyTunnel& tunnel = *made;
  std::array<char, 4096> buffer;
  while (!tunnel.is_open()) {
    if (auto sent = SendAndWipe(connection, tunnel, tunnel.TakeOutput(), waiting); !sent) {
      return sent;
    }
    const auto step =
        AwaitIo(connection, waiting, [&] { return connection.Read(buffer.data(), buffer.size()); });
    if (!step) {
      return unexpected(step.error());
    }
    if (step->io != Connection::Io::kDone) {
      return unexpected(Closed(tunnel));
    }
    if (auto fed = tunnel.Feed({buffer.data(), step->bytes}); !fed) {
      return unexpected(Trouble{.failure = {.status = std::move(fed).error()}});
    }
    // A proxy may send its answer byte by byte, so that no read has to wait.
    if (waiting.stop.stop_requested()) {
      return unexpected(Trouble{.kind = Trouble::Kind::kStopped});
    }
    if (waiting.clock.Now() >= waiting.deadline) {
      return unexpected(Trouble{.kind = Trouble::Kind::kTimeout});
    }
  }
  return {};
}

}  // namespace kubexx::rest::internal
