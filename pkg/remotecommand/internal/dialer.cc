#include "kubexx/remotecommand/internal/dialer.h"

#include <chrono>

#include "kubexx/remotecommand/internal/run_until_done.h"
#include "kubexx/remotecommand/internal/tunnel.h"

namespace kubexx::remotecommand::internal {

apimachinery::Error Dialer::Failed(const rest::StreamAccess& access, const std::string& why) const {
  return apimachinery::Fail(apimachinery::Reason::kUnavailable,
                            "connect to " + access.server.Authority() + ": " + why);
}

/// `left` addresses have the rest of the time to themselves: one that does not answer leaves some
/// for the others.
boost::system::error_code Dialer::TryAddress(ByteStream& bytes,
                                             const boost::asio::ip::tcp::endpoint& address,
                                             std::size_t left, base::TimePoint by) {
  const auto now = std::chrono::steady_clock::now();
  bytes.tcp().expires_at(left > 1 ? now + (by - now) / static_cast<int>(left) : by);
  const boost::system::error_code error = RunUntilDone(context_, [&](auto done) {
    bytes.tcp().async_connect(address, [done](boost::system::error_code e) { done(e); });
  });
  bytes.tcp().expires_never();
  return error;
}

boost::system::error_code Dialer::ConnectToHost(ByteStream& bytes, const rest::ServerUrl& host,
                                                base::TimePoint by, const std::stop_token& stop) {
  NameLookup::Endpoints found;
  boost::system::error_code error = RunUntilDone(context_, [&](auto done) {
    lookup_.Start(host.host, host.port,
                  [&found, done](boost::system::error_code e, NameLookup::Endpoints endpoints) {
                    found = std::move(endpoints);
                    done(e);
                  });
  });
  for (std::size_t i = 0; i < found.size() && !stop.stop_requested() && !cancelled_; ++i) {
    error = TryAddress(bytes, found[i], found.size() - i, by);
    if (!error) {
      break;
    }
  }
  return error;
}

apimachinery::Result<void> Dialer::Dial(ByteStream& bytes, const rest::StreamAccess& access,
                                        base::TimePoint by, const std::stop_token& stop) {
  const rest::ServerUrl& first = access.proxy ? access.proxy->address : access.server;
  const std::string of_proxy = access.proxy ? "proxy " + access.proxy->Origin() + ": " : "";
  const auto ended = [&] { return stop.stop_requested() || cancelled_; };
  if (const auto error = ConnectToHost(bytes, first, by, stop); error || ended()) {
    return Failed(access, of_proxy + error.message());
  }
  if (access.proxy) {
    ByteStream& to_proxy = access.server.tls ? *bytes.below() : bytes;
    if (const std::string why = PassProxy(to_proxy, access); !why.empty() || ended()) {
      return Failed(access, of_proxy + why);
    }
  }
  if (!access.server.tls) {
    return {};
  }
  if (const std::string why = Handshake(bytes); !why.empty()) {
    return Failed(access, "TLS: " + why);
  }
  return {};
}

std::string Dialer::Handshake(ByteStream& bytes) {
  const auto error = RunUntilDone(context_, [&](auto done) { bytes.AsyncHandshake(done); });
  const std::string detail = bytes.HandshakeDetail();
  return !error ? "" : detail.empty() ? error.message() : detail;
}

std::string Dialer::PassProxy(ByteStream& bytes, const rest::StreamAccess& access) {
  if (access.proxy->protocol == rest::ProxyProtocol::kHttps) {
    if (const std::string why = Handshake(bytes); !why.empty()) {
      const bool no_tls = why.starts_with("wrong version number");
      return "TLS handshake: " + why +
             (no_tls ? "; does its URL need the scheme http or socks5?" : "");
    }
  }
  std::string why;
  (void)RunUntilDone(context_, [&](auto done) {
    AsyncOpenTunnel(bytes, access, [&why, done](std::string reason) {
      why = std::move(reason);
      done({});
    });
  });
  return why;
}

void Dialer::Cancel() {
  cancelled_ = true;
  lookup_.Cancel();
}

}  // namespace kubexx::remotecommand::internal
