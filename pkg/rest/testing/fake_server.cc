#include "kubexx/rest/testing/fake_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <random>

#include "kubexx/rest/testing/certificates.h"

namespace kubexx::rest::testing {
namespace {

[[noreturn]] void Die(const char* what) {
  std::perror(what);
  std::abort();
}

// A listening socket and its port. The port is -1 when the machine does not have the address.
template <class Address>
std::pair<int, int> ListenAt(Address address, in_port_t Address::* port) {
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  const int fd = ::socket(any->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  socklen_t length = sizeof(address);
  if (fd < 0 || ::bind(fd, any, length) != 0 || ::listen(fd, 512) != 0 ||
      ::getsockname(fd, any, &length) != 0) {
    if (fd >= 0) {
      ::close(fd);
    }
    return {-1, 0};
  }
  return {fd, ntohs(address.*port)};
}

std::pair<int, int> TryListen(Loopback loopback) {
  if (loopback == Loopback::kIpv6) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_addr = in6addr_loopback;
    return ListenAt(address, &sockaddr_in6::sin6_port);
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ListenAt(address, &sockaddr_in::sin_port);
}

std::pair<int, int> Listen(Loopback loopback) {
  const auto made = TryListen(loopback);
  if (made.first < 0) {
    Die("listen");
  }
  return made;
}

}  // namespace

FakeServer::FakeServer(Script script, std::optional<FakeServerTls> tls, Loopback loopback)
    : script_(std::move(script)), loopback_(loopback) {
  if (tls.has_value()) {
    ssl_context_ = NewServerContext(*tls);
  }
  std::tie(listener_, port_) = Listen(loopback_);
  acceptor_ = std::jthread([this] { Accept(); });
}

FakeServer::~FakeServer() {
  {
    base::MutexLock lock(mu_);
    stopping_ = true;
  }
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  DropConnections();
  std::list<Session> sessions;
  {
    base::MutexLock lock(mu_);
    sessions.swap(sessions_);
  }
  for (Session& session : sessions) {
    session.thread.join();
  }
  sessions.clear();
  ::close(listener_);
  SSL_CTX_free(static_cast<SSL_CTX*>(ssl_context_));
}

std::string FakeServer::Url() const {
  return std::string(ssl_context_ == nullptr ? "http" : "https") + "://" +
         (loopback_ == Loopback::kIpv6 ? "[::1]" : "127.0.0.1") + ":" + std::to_string(port_);
}

int FakeServer::connections() const {
  base::MutexLock lock(mu_);
  return accepted_;
}

void FakeServer::DropConnections() {
  base::MutexLock lock(mu_);
  for (Session& session : sessions_) {
    session.connection->Shutdown();
  }
}

void FakeServer::Accept() {
  for (;;) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    std::list<Session> over;  // Joined without the lock.
    base::MutexLock lock(mu_);
    if (fd < 0 || stopping_) {
      if (fd >= 0) {
        ::close(fd);
      }
      return;
    }
    ++accepted_;
    over = TakeOverLocked();
    Session& session = sessions_.emplace_back();
    session.connection = std::make_unique<FakeConnection>(fd, ssl_context_);
    session.thread = std::jthread([this, &session] {
      if (session.connection->Handshake()) {
        script_(*session.connection);
      }
      session.connection->Shutdown();
      session.over = true;
    });
  }
}

bool HasIpv6() {
  const int fd = TryListen(Loopback::kIpv6).first;
  if (fd >= 0) {
    ::close(fd);
  }
  return fd >= 0;
}

std::list<FakeServer::Session> FakeServer::TakeOverLocked() {
  std::list<Session> over;
  for (auto session = sessions_.begin(); session != sessions_.end();) {
    const auto next = std::next(session);
    if (session->over) {
      over.splice(over.end(), sessions_, session);
    }
    session = next;
  }
  return over;
}

int UnusedPort() {
  std::random_device random;
  for (int tries = 0; tries < 1000; ++tries) {
    // Linux gives ports from 32768 on to clients, and to servers that leave the choice to it.
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<in_port_t>(20000 + random() % 12000));
    if (const auto [fd, port] = ListenAt(address, &sockaddr_in::sin_port); fd >= 0) {
      ::close(fd);
      return port;
    }
  }
  Die("there is no unused port");
}

}  // namespace kubexx::rest::testing
