#include "kubexx/rest/testing/forwarding_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "kubexx/codec/base64.h"

namespace kubexx::rest::testing {
namespace {

class Upstream {
 public:
  explicit Upstream(int port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }
  Upstream(const Upstream&) = delete;
  Upstream& operator=(const Upstream&) = delete;
  ~Upstream() { ::close(fd_); }

  bool connected() const { return connected_; }
  int fd() const { return fd_; }

 private:
  int fd_;
  bool connected_ = false;
};

bool SendAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

// Passes bytes in both directions until one side has closed.
void Relay(int a, int b) {
  std::array<pollfd, 2> both{pollfd{.fd = a, .events = POLLIN, .revents = 0},
                             pollfd{.fd = b, .events = POLLIN, .revents = 0}};
  std::array<char, 16384> block;
  while (::poll(both.data(), both.size(), -1) > 0) {
    for (std::size_t i = 0; i < both.size(); ++i) {
      if (both[i].revents == 0) {
        continue;
      }
      const ssize_t n = ::recv(both[i].fd, block.data(), block.size(), 0);
      if (n <= 0 ||
          !SendAll(both[1 - i].fd, std::string_view(block.data(), static_cast<std::size_t>(n)))) {
        return;
      }
    }
  }
}

}  // namespace

ForwardingProxy::ForwardingProxy(Routes routes, std::string credentials)
    : routes_(std::move(routes)),
      credentials_(std::move(credentials)),
      server_([this](FakeConnection& connection) { Serve(connection); }) {}

std::string ForwardingProxy::Url() const {
  const std::string user = credentials_.empty() ? "" : credentials_ + "@";
  return "http://" + user + "127.0.0.1:" + std::to_string(server_.port());
}

std::vector<std::string> ForwardingProxy::requests() const {
  const base::MutexLock lock(mu_);
  return requests_;
}

void ForwardingProxy::Serve(FakeConnection& connection) {
  const auto request = connection.ReadRequest();
  if (!request) {
    return;
  }
  {
    const base::MutexLock lock(mu_);
    requests_.push_back(request->method + " " + request->target);
  }
  const auto given = request->headers.find("proxy-authorization");
  if (!credentials_.empty() && (given == request->headers.end() ||
                                given->second != "Basic " + codec::EncodeBase64(credentials_))) {
    connection.Respond(407, "text/plain", "who are you?",
                       {{"Proxy-Authenticate", "Basic realm=\"test\""}});
    return;
  }
  std::string host = request->target;
  std::string path;
  const bool tunnel = request->method == "CONNECT";
  if (!tunnel) {
    host.erase(0, std::string_view("http://").size());
    path = host.substr(std::min(host.find('/'), host.size()));
    host.resize(host.size() - path.size());
  }
  const auto route = routes_.find(host);
  const Upstream upstream(route == routes_.end() ? 0 : route->second);
  if (!upstream.connected()) {
    connection.Respond(502, "text/plain", "cannot reach " + host);
    return;
  }
  if (tunnel) {
    connection.Write("HTTP/1.1 200 Connection established\r\nProxy-Agent: test\r\n\r\n");
  } else {
    std::string head = request->method + " " + path + " HTTP/1.1\r\n";
    for (const auto& [name, value] : request->headers) {
      head += name.starts_with("proxy-") ? "" : name + ": " + value + "\r\n";
    }
    SendAll(upstream.fd(), head + "\r\n" + request->body);
  }
  Relay(connection.fd(), upstream.fd());
}

}  // namespace kubexx::rest::testing
