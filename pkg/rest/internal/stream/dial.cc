#include "kubexx/rest/internal/stream/dial.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "kubexx/base/ascii.h"
#include "kubexx/base/host_lookup.h"
#include "kubexx/rest/internal/stream/io_wait.h"
#include "kubexx/rest/internal/stream/tunnel.h"

namespace kubexx::rest::internal {
namespace {

using std::unexpected;

// When a name has several addresses, each gets at least this time, as in Go's dialer.
constexpr std::chrono::seconds kLeastShare(2);

/// The state of a name's lookup that its two threads share.
struct Lookup {
  base::Mutex mu;
  base::CondVar changed;
  std::optional<base::HostAddresses> found KX_GUARDED_BY(mu);
};

std::string WhyNotFound(const base::HostAddresses& found) {
  if (found.error == base::kTooManyLookups) {
    return "too many lookups are under way";
  }
  if (found.error == EAI_SYSTEM) {
    return base::ToLower(std::strerror(found.system_error));
  }
  return base::ToLower(::gai_strerror(found.error));
}

std::expected<std::vector<base::SocketAddress>, Trouble> FindAddresses(const ServerUrl& of,
                                                                       bool is_proxy,
                                                                       const Waiting& waiting) {
  const auto lookup = std::make_shared<Lookup>();
  base::LookUpHost(of.host, of.port, [lookup](base::HostAddresses result) {
    const base::MutexLock lock(lookup->mu);
    lookup->found = std::move(result);
    lookup->changed.notify_all();
  });
  const base::MutexLock lock(lookup->mu);
  while (!lookup->found) {
    const base::Wake wake =
        waiting.clock.WaitUntil(lookup->mu, lookup->changed, waiting.stop, waiting.deadline);
    if (Trouble trouble; !lookup->found && Trouble::Is(wake, trouble)) {
      return unexpected(trouble);
    }
  }
  if (lookup->found->error != 0) {
    const std::string whose = is_proxy ? "the proxy's host name: " : "the host name: ";
    return unexpected(Trouble::Because("cannot resolve " + whose + WhyNotFound(*lookup->found),
                                       false, !is_proxy));
  }
  return std::move(lookup->found->addresses);
}

// The system probes the peer after 30 s of silence, and gives the connection up after three more
// probes with 10 s each, as for all other connections (keep_alive.h).
void SetOptions(int fd) {
  const auto set = [fd](int level, int name, int value) {
    ::setsockopt(fd, level, name, &value, sizeof(value));
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

// Returns 0, or the error with which the connection ended.
int ErrorOfSocket(int fd) {
  int error = 0;
  socklen_t size = sizeof(error);
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

// When it returns a Trouble of kFailed, the message is only the reason.
std::expected<std::unique_ptr<Connection>, Trouble> ConnectTo(const base::SocketAddress& address,
                                                              const Waiting& waiting) {
  const auto failed = [](int error) {
    return unexpected(Trouble::Because(base::ToLower(std::strerror(error))));
  };
  const int fd =
      ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
  if (fd < 0) {
    return failed(errno);
  }
  auto connection = std::make_unique<Connection>(fd);
  SetOptions(fd);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address.storage), address.size) == 0) {
    return connection;
  }
  if (errno != EINPROGRESS && errno != EINTR) {
    return failed(errno);
  }
  const base::Wake wake = waiting.poller.Wait(fd, Poller::Interest::kWrite, waiting.clock,
                                              waiting.stop, waiting.deadline);
  if (Trouble trouble; Trouble::Is(wake, trouble)) {
    return unexpected(trouble);
  }
  if (const int error = ErrorOfSocket(fd); error != 0) {
    return failed(error);
  }
  return connection;
}

std::expected<std::unique_ptr<Connection>, Trouble> ConnectToAny(
    const std::vector<base::SocketAddress>& addresses, bool is_proxy, const Waiting& waiting) {
  Trouble last;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    Waiting share = waiting;
    const std::size_t left = addresses.size() - i;
    if (waiting.deadline != base::TimePoint::max() && left > 1) {
      const base::TimePoint now = waiting.clock.Now();
      const base::Duration time = std::max<base::Duration>(
          (waiting.deadline - now) / static_cast<base::Duration::rep>(left), kLeastShare);
      share.deadline = std::min(waiting.deadline, now + time);
    }
    auto connection = ConnectTo(addresses[i], share);
    if (connection) {
      return connection;
    }
    last = std::move(connection.error());
    const bool over =
        last.kind == Trouble::Kind::kTimeout && waiting.clock.Now() >= waiting.deadline;
    if (last.kind == Trouble::Kind::kStopped || over) {
      return unexpected(std::move(last));
    }
  }
  const std::string why =
      last.kind == Trouble::Kind::kTimeout ? "no answer in time" : last.failure.status.message;
  return unexpected(Trouble::Because(
      (is_proxy ? "cannot connect to the proxy: " : "cannot connect: ") + why, false, !is_proxy));
}

// The reason why there is no way to the server through `proxy`, or what had not happened in time.
Trouble OfProxy(Trouble trouble, const Proxy& proxy, std::string_view missed) {
  const std::string which = " (proxy " + proxy.Origin() + ")";
  if (trouble.kind == Trouble::Kind::kFailed) {
    trouble.failure.status.message += which;
  } else {
    trouble.missed = std::string(missed) + which;
  }
  return trouble;
}

std::expected<std::unique_ptr<Connection>, Trouble> ConnectToHost(const ServerUrl& host,
                                                                  bool is_proxy,
                                                                  const Waiting& waiting) {
  auto addresses = FindAddresses(host, is_proxy, waiting);
  if (!addresses) {
    return unexpected(std::move(addresses).error());
  }
  return ConnectToAny(*addresses, is_proxy, waiting);
}

std::expected<std::unique_ptr<Connection>, Trouble> ConnectThroughProxy(const Route& route,
                                                                        const Waiting& waiting) {
  const Proxy& proxy = *route.proxy;
  auto connection = ConnectToHost(proxy.address, true, waiting);
  if (!connection) {
    return unexpected(
        OfProxy(std::move(connection).error(), proxy, "the proxy could not be reached"));
  }
  if (route.proxy_tls) {
    if (auto done = StartProxyTls(**connection, route.proxy_tls, waiting); !done) {
      return unexpected(
          OfProxy(std::move(done).error(), proxy,
                  "the proxy did not complete the TLS handshake; does its URL need the "
                  "scheme http or socks5?"));
    }
  }
  if (!route.AsksProxy()) {
    if (auto open = OpenTunnel(**connection, proxy, route.server, waiting); !open) {
      return unexpected(OfProxy(std::move(open).error(), proxy, "the proxy did not open a tunnel"));
    }
  }
  return connection;
}

std::expected<std::unique_ptr<Connection>, Trouble> OpenConnection(const Route& route,
                                                                   const Waiting& waiting,
                                                                   Offer offer) {
  auto connection = route.proxy ? ConnectThroughProxy(route, waiting)
                                : ConnectToHost(route.server, false, waiting);
  if (!connection || !route.tls) {
    return connection;
  }
  if (auto done = StartTls(**connection, route.tls, offer, waiting); !done) {
    Trouble trouble = std::move(done).error();
    if (trouble.kind == Trouble::Kind::kFailed) {
      trouble.failure.no_connection = true;
      trouble.failure.status.message.insert(0, "TLS handshake: ");
    }
    return unexpected(std::move(trouble));
  }
  return connection;
}

}  // namespace

std::expected<std::unique_ptr<Connection>, Trouble> Dial(const Route& route, const Waiting& waiting,
                                                         Offer offer) {
  auto connection = OpenConnection(route, waiting, offer);
  if (!connection && connection.error().failure.no_connection) {
    // Most often somebody has configured another server than was meant.
    connection.error().failure.status.message += " (" + route.server.Origin() + "/)";
  }
  return connection;
}

}  // namespace kubexx::rest::internal
