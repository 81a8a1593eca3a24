#include "kubexx/rest/testing/fake_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "kubexx/rest/testing/certificates.h"
#include "kubexx/rest/testing/network_threads.h"

namespace kubexx::rest::testing {
namespace {

class DrainEnvironment final : public ::testing::Environment {
 public:
  void TearDown() override { DrainNetworkThreads(); }
};

[[maybe_unused]] const ::testing::Environment* const drain_at_the_end =
    ::testing::AddGlobalTestEnvironment(new DrainEnvironment());

[[noreturn]] void Die(const char* what) {
  std::perror(what);
  std::abort();
}

// A listening socket on 127.0.0.1 and its port.
std::pair<int, int> Listen() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  if (fd < 0 || ::bind(fd, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
      ::listen(fd, 512) != 0 ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    Die("listen");
  }
  return {fd, ntohs(address.sin_port)};
}

}  // namespace

FakeServer::FakeServer(Script script, std::optional<FakeServerTls> tls)
    : script_(std::move(script)) {
  if (tls.has_value()) {
    ssl_context_ = NewServerContext(*tls);
  }
  std::tie(listener_, port_) = Listen();
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
  return (ssl_context_ == nullptr ? "http://127.0.0.1:" : "https://127.0.0.1:") +
         std::to_string(port_);
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
    base::MutexLock lock(mu_);
    if (fd < 0 || stopping_) {
      if (fd >= 0) {
        ::close(fd);
      }
      return;
    }
    ++accepted_;
    Session& session = sessions_.emplace_back();
    session.connection = std::make_unique<FakeConnection>(fd, ssl_context_);
    session.thread = std::jthread([this, connection = session.connection.get()] {
      if (connection->Handshake()) {
        script_(*connection);
      }
      connection->Shutdown();
    });
  }
}

int UnusedPort() {
  const auto [fd, port] = Listen();
  ::close(fd);
  return port;
}

}  // namespace kubexx::rest::testing
