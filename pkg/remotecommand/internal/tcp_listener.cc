#include "kubexx/remotecommand/internal/tcp_listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace kubexx::remotecommand::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

/// An address of one of the two kinds.
union LocalAddress {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
};

Result<LocalAddress> ParseLocalAddress(const std::string& text, std::uint16_t port) {
  LocalAddress address{};
  std::memset(&address, 0, sizeof address);
  if (::inet_pton(AF_INET, text.c_str(), &address.v4.sin_addr) == 1) {
    address.v4.sin_family = AF_INET;
    address.v4.sin_port = htons(port);
    return address;
  }
  if (::inet_pton(AF_INET6, text.c_str(), &address.v6.sin6_addr) == 1) {
    address.v6.sin6_family = AF_INET6;
    address.v6.sin6_port = htons(port);
    return address;
  }
  return Fail(Reason::kBadRequest, "\"" + text +
                                       "\" is not an address to listen on: give one in numbers, "
                                       "such as 127.0.0.1 or ::1");
}

}  // namespace

TcpListener::TcpListener(base::FileDescriptor socket, std::uint16_t port)
    : socket_(std::move(socket)), port_(port) {}

Result<TcpListener> TcpListener::New(const std::string& address, std::uint16_t port) {
  KX_ASSIGN_OR_RETURN(LocalAddress local, ParseLocalAddress(address, port));
  const bool is_v4 = local.any.sa_family == AF_INET;
  socklen_t size = is_v4 ? sizeof local.v4 : sizeof local.v6;
  base::FileDescriptor socket(
      ::socket(local.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
  // The connections of an earlier run do not keep the port. And whoever asks for IPv6 does not get
  // IPv4 with it, as with Go's "tcp6".
  const int yes = 1;
  if (socket.get() < 0 ||
      ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
      (!is_v4 && ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes) != 0) ||
      ::bind(socket.get(), &local.any, size) != 0 || ::listen(socket.get(), SOMAXCONN) != 0 ||
      ::getsockname(socket.get(), &local.any, &size) != 0) {
    const std::string why = std::strerror(errno);  // NOLINT(concurrency-mt-unsafe)
    return Fail(Reason::kUnavailable,
                "listen on port " + std::to_string(port) + " of " + address + ": " + why);
  }
  return TcpListener(std::move(socket), ntohs(is_v4 ? local.v4.sin_port : local.v6.sin6_port));
}

TcpListener::Accepted TcpListener::Accept() const {
  Accepted accepted{.socket = base::FileDescriptor(
                        ::accept4(fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK))};
  if (accepted.socket.get() < 0) {
    accepted.error = errno;
    return accepted;
  }
  // Whoever ends in the midst does not take a part for the whole: its next call fails.
  const linger reset{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(accepted.socket.get(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  const auto set = [&accepted](int level, int name, int value) {
    ::setsockopt(accepted.socket.get(), level, name, &value, sizeof value);
  };
  // What comes from the pod in small pieces goes on at once.
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  // A client whose machine is gone gives its place back. With the times of Go's listeners.
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 15);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 15);
  set(IPPROTO_TCP, TCP_KEEPCNT, 9);
  return accepted;
}

}  // namespace kubexx::remotecommand::internal
