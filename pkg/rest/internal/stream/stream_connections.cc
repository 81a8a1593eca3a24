#include "kubexx/rest/internal/stream/stream_connections.h"

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

#include "kubexx/rest/internal/stream/stream_trip.h"

namespace kubexx::rest::internal {
namespace {

using apimachinery::Result;

// A list that has ended leaves its connection for the watch that follows, or for the next page.
// More idle connections than a few are useless.
constexpr std::size_t kMaxIdle = 4;
// Through a proxy, all requests go here, so workers give back more at a time. The value is that of
// client-go.
constexpr std::size_t kMaxIdleThroughProxy = 25;
// The value is that of Go.
constexpr std::chrono::seconds kMaxIdleAge(90);

bool MayBeRepeated(const HttpRequest& request) {
  return request.method == "GET" || request.method == "HEAD";
}

std::string Serialize(const HttpRequest& request, const Route& route) {
  const bool to_proxy = route.AsksProxy();
  std::string out = request.method + " " + (to_proxy ? route.server.Origin() : "") +
                    request.target + " HTTP/1.1\r\nHost: " + HostHeader(route.server) + "\r\n";
  if (to_proxy) {
    if (const std::string user = route.proxy->Authorization(); !user.empty()) {
      out += "Proxy-Authorization: " + user + "\r\n";
    }
  }
  for (const auto& [name, value] : request.headers) {
    out += name;
    out += ": ";
    out += value;
    out += "\r\n";
  }
  if (request.has_body || !MayBeRepeated(request)) {
    out += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
  }
  out += "\r\n";
  out += request.body;
  return out;
}

}  // namespace

std::string HostHeader(const ServerUrl& server) {
  std::string authority = server.Authority();
  const std::string usual = server.tls ? ":443" : ":80";
  if (authority.ends_with(usual) && server.port == usual.substr(1)) {
    authority.resize(authority.size() - usual.size());
  }
  return authority;
}

StreamConnections::StreamConnections(ServerUrl server, std::optional<Proxy> proxy,
                                     base::Clock& clock)
    : clock_(clock), route_{.server = std::move(server), .proxy = std::move(proxy)} {}

Result<void> StreamConnections::Use(std::shared_ptr<TlsSettings> tls,
                                    std::shared_ptr<TlsSettings> proxy_tls) {
  std::shared_ptr<TlsContext> context;
  if (tls) {
    KX_ASSIGN_OR_RETURN(context, TlsContext::New(std::move(tls)));
  }
  std::shared_ptr<TlsContext> proxy_context;
  if (proxy_tls) {
    KX_ASSIGN_OR_RETURN(proxy_context, TlsContext::New(std::move(proxy_tls)));
  }
  std::vector<std::unique_ptr<Connection>> old;  // they are closed without the lock
  const base::MutexLock lock(mu_);
  route_.tls.swap(context);
  route_.proxy_tls.swap(proxy_context);
  idle_.swap(old);
  ++version_;
  return {};
}

std::unique_ptr<RoundTrip> StreamConnections::StartOn(const HttpRequest& request,
                                                      std::unique_ptr<Connection> connection,
                                                      std::uint64_t version) {
  std::uint64_t present = 0;
  const Route route = RouteNow(present);
  return std::make_unique<StreamTrip>(shared_from_this(),
                                      StreamTrip::Asked{.bytes = Serialize(request, route),
                                                        .repeatable = MayBeRepeated(request),
                                                        .no_body = request.method == "HEAD",
                                                        .secret = request.secret},
                                      std::move(connection), version);
}

Route StreamConnections::RouteNow(std::uint64_t& version) const {
  const base::MutexLock lock(mu_);
  version = version_;
  return route_;
}

std::unique_ptr<Connection> StreamConnections::TakeIdle(std::uint64_t version) {
  std::vector<std::unique_ptr<Connection>> closed;  // they are closed without the lock
  const base::TimePoint now = clock_.Now();
  const base::MutexLock lock(mu_);
  if (version != version_) {
    return nullptr;
  }
  while (!idle_.empty()) {
    std::unique_ptr<Connection> last = std::move(idle_.back());
    idle_.pop_back();
    if (now - last->idle_since < kMaxIdleAge && last->IsUsable()) {
      return last;
    }
    closed.push_back(std::move(last));
  }
  return nullptr;
}

void StreamConnections::GiveBack(std::unique_ptr<Connection> connection, std::uint64_t version) {
  std::unique_ptr<Connection> oldest;  // it is closed without the lock
  connection->idle_since = clock_.Now();
  const base::MutexLock lock(mu_);
  if (version != version_) {
    oldest = std::move(connection);
    return;
  }
  if (idle_.size() >= (route_.proxy ? kMaxIdleThroughProxy : kMaxIdle)) {
    oldest = std::move(idle_.front());
    idle_.erase(idle_.begin());
  }
  idle_.push_back(std::move(connection));
}

}  // namespace kubexx::rest::internal
