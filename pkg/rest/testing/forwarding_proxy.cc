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
#include "kubexx/rest/testing/usual_server.h"

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
void Relay(FakeConnection& client, int server) {
  std::array<pollfd, 2> both{pollfd{.fd = client.fd(), .events = POLLIN, .revents = 0},
                             pollfd{.fd = server, .events = POLLIN, .revents = 0}};
  std::array<char, 16384> block;
  while (client.HasUnread() || ::poll(both.data(), both.size(), -1) > 0) {
    if (client.HasUnread() || both[0].revents != 0) {
      const std::string bytes = client.ReadSome();
      if (bytes.empty() || !SendAll(server, bytes)) {
        return;
      }
    }
    if (std::exchange(both[1].revents, 0) != 0) {
      const ssize_t n = ::recv(server, block.data(), block.size(), 0);
      if (n <= 0 || !client.Write({block.data(), static_cast<std::size_t>(n)})) {
        return;
      }
    }
    both[0].revents = 0;
  }
}

// Takes `size` bytes from the front of `input`, for which more is read when needed. Shorter when
// the client has closed.
std::string Take(FakeConnection& client, std::string& input, std::size_t size) {
  while (input.size() < size) {
    const std::string more = client.ReadSome();
    if (more.empty()) {
      return {};
    }
    input += more;
  }
  const std::string taken = input.substr(0, size);
  input.erase(0, size);
  return taken;
}

std::string TakeCounted(FakeConnection& client, std::string& input) {
  const std::string size = Take(client, input, 1);
  return size.empty() ? "" : Take(client, input, static_cast<unsigned char>(size.front()));
}

// The address of a SOCKS5 request as "host:port".
std::string TakeTarget(FakeConnection& client, std::string& input, char kind) {
  std::string host;
  if (kind == '\x03') {
    host = TakeCounted(client, input);
  } else {
    const bool v4 = kind == '\x01';
    const std::string bytes = Take(client, input, v4 ? sizeof(in_addr) : sizeof(in6_addr));
    std::array<char, INET6_ADDRSTRLEN> text{};
    inet_ntop(v4 ? AF_INET : AF_INET6, bytes.data(), text.data(), text.size());
    host = v4 ? std::string(text.data()) : "[" + std::string(text.data()) + "]";
  }
  const std::string port = Take(client, input, 2);
  return port.empty() ? ""
                      : host + ":" +
                            std::to_string(static_cast<unsigned char>(port[0]) * 256 +
                                           static_cast<unsigned char>(port[1]));
}

}  // namespace

ForwardingProxy::ForwardingProxy(Routes routes, std::string credentials, ProxyProtocol protocol)
    : routes_(std::move(routes)),
      credentials_(std::move(credentials)),
      protocol_(protocol),
      server_([this](FakeConnection& connection) { Serve(connection); },
              UsualTlsIf(protocol == ProxyProtocol::kHttps)) {}

std::string ForwardingProxy::Url() const {
  std::string url = UrlWithoutUser();
  return credentials_.empty() ? url : url.insert(url.find("://") + 3, credentials_ + "@");
}

std::string ForwardingProxy::UrlWithoutUser() const {
  const Proxy self{.protocol = protocol_,
                   .address = {.host = "127.0.0.1", .port = std::to_string(server_.port())}};
  return self.Origin();
}

std::vector<std::string> ForwardingProxy::requests() const {
  const base::MutexLock lock(mu_);
  return requests_;
}

void ForwardingProxy::Note(std::string request) {
  const base::MutexLock lock(mu_);
  requests_.push_back(std::move(request));
}

int ForwardingProxy::PortFor(const std::string& host) const {
  const auto route = routes_.find(host);
  return route == routes_.end() ? 0 : route->second;
}

void ForwardingProxy::Serve(FakeConnection& connection) {
  protocol_ == ProxyProtocol::kSocks5 ? ServeSocks(connection) : ServeHttp(connection);
}

bool ForwardingProxy::LetIn(FakeConnection& connection, std::string& input) const {
  Take(connection, input, 1);
  const std::string methods = TakeCounted(connection, input);
  const char wanted = credentials_.empty() ? '\0' : '\x02';
  if (methods.find(wanted) == std::string::npos) {
    connection.Write("\x05\xff");
    return false;
  }
  connection.Write(std::string("\x05") + wanted);
  if (credentials_.empty()) {
    return true;
  }
  Take(connection, input, 1);
  const std::string user = TakeCounted(connection, input);
  const bool right = user + ":" + TakeCounted(connection, input) == credentials_;
  connection.Write(std::string("\x01") + (right ? '\0' : '\x01'));
  return right;
}

void ForwardingProxy::ServeSocks(FakeConnection& connection) {
  std::string input;
  if (!LetIn(connection, input)) {
    return;
  }
  const std::string head = Take(connection, input, 4);
  const std::string target = head.empty() ? "" : TakeTarget(connection, input, head.back());
  if (target.empty()) {
    return;
  }
  Note("CONNECT " + target);
  const Upstream upstream(PortFor(target));
  connection.Write(std::string("\x05") + (upstream.connected() ? '\0' : '\x04') +
                   std::string("\0\x01\0\0\0\0\0\0", 8));
  if (upstream.connected()) {
    Relay(connection, upstream.fd());
  }
}

void ForwardingProxy::ServeHttp(FakeConnection& connection) {
  const auto request = connection.ReadRequest();
  if (!request) {
    return;
  }
  Note(request->method + " " + request->target);
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
  const Upstream upstream(PortFor(host));
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
  Relay(connection, upstream.fd());
}

}  // namespace kubexx::rest::testing
