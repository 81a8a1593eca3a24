#include <arpa/inet.h>
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <string_view>

#include "kubexx/rest/rest_client.h"
#include "kubexx/rest/testing/certificates.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"
#include "kubexx/rest/testing/forwarding_proxy.h"

// "two-addresses.test" has two addresses, of which the first refuses connections.
extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* hints,
                           addrinfo** out) {
  using Function = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto next = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  if (name == nullptr || std::string_view(name) != "two-addresses.test") {
    return next(name, service, hints, out);
  }
  if (const int error = next("127.0.0.2", service, hints, out); error != 0) {
    return error;
  }
  addrinfo* last = *out;
  while (last->ai_next != nullptr) {
    last = last->ai_next;
  }
  return next("127.0.0.1", service, hints, &last->ai_next);
}

namespace kubexx::rest {
namespace {

using testing::CertificateAuthority;
using testing::ClientFor;
using testing::FakeConnection;
using testing::FakeServer;
using testing::FakeServerTls;

int PortOf(int fd, decltype(::getsockname) get) {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  if (get(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0 || address.sin_family != AF_INET) {
    return 0;
  }
  return ntohs(address.sin_port);
}

int OptionOf(int fd, int level, int name) {
  int value = 0;
  socklen_t size = sizeof(value);
  ::getsockopt(fd, level, name, &value, &size);
  return value;
}

// Returns the keepalive settings of this process's socket that has `port` at the end that `get`
// returns.
std::string ProbesAt(int port, decltype(::getsockname) get) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::stoi(entry.path().filename().string());
    if (port != 0 && PortOf(fd, get) == port) {
      return OptionOf(fd, SOL_SOCKET, SO_KEEPALIVE) == 0
                 ? "none"
                 : std::to_string(OptionOf(fd, IPPROTO_TCP, TCP_KEEPIDLE)) + "+" +
                       std::to_string(OptionOf(fd, IPPROTO_TCP, TCP_KEEPCNT)) + "*" +
                       std::to_string(OptionOf(fd, IPPROTO_TCP, TCP_KEEPINTVL));
    }
  }
  return "not found";
}

// Returns the settings of the other end of `connection`.
std::string Probes(const FakeConnection& connection) {
  return ProbesAt(PortOf(connection.fd(), ::getpeername), ::getsockname);
}

void AnswerWithProbes(FakeConnection& connection) {
  while (connection.ReadRequest()) {
    connection.Respond(200, "text/plain", Probes(connection));
  }
}

std::string Ask(const Config& config) {
  const auto client = ClientFor(config);
  const auto answer = client->Get().AbsPath("/x").Do();
  return answer ? answer->body : answer.error().ToString();
}

TEST(KeepAliveTest, TheFirstPlainRequestHasIt) {
  FakeServer server(AnswerWithProbes);
  EXPECT_EQ(Ask({.host = server.Url()}), "30+3*10");
}

TEST(KeepAliveTest, AConnectionInPlaceOfOneThatFailedHasIt) {
  FakeServer server(AnswerWithProbes);
  EXPECT_EQ(Ask({.host = "http://two-addresses.test:" + std::to_string(server.port())}), "30+3*10");
}

TEST(KeepAliveTest, TlsHasIt) {
  const CertificateAuthority authority("keepalive");
  const auto issued = authority.Issue({.alternative_names = "DNS:two-addresses.test"});
  FakeServer server(AnswerWithProbes,
                    FakeServerTls{.certificate = issued.certificate, .key = issued.key});
  const Config config{.host = "https://two-addresses.test:" + std::to_string(server.port()),
                      .tls = {.ca_data = authority.certificate()}};
  EXPECT_EQ(Ask(config), "30+3*10");
}

TEST(KeepAliveTest, SoHasTheConnectionToAProxy) {
  FakeServer proxy(AnswerWithProbes);
  EXPECT_EQ(Ask({.host = "http://api.example:80", .proxy_url = proxy.Url()}), "30+3*10");
}

TEST(KeepAliveTest, SoHasATunnel) {
  const CertificateAuthority authority("keepalive");
  const auto issued = authority.Issue({.alternative_names = "DNS:api.example"});
  std::atomic<int> proxy_port = 0;
  FakeServer server(
      [&proxy_port](FakeConnection& connection) {
        while (connection.ReadRequest()) {
          connection.Respond(200, "text/plain", ProbesAt(proxy_port, ::getpeername));
        }
      },
      FakeServerTls{.certificate = issued.certificate, .key = issued.key});
  testing::ForwardingProxy proxy({{"api.example:6443", server.port()}});
  const std::string url = proxy.Url();
  proxy_port = std::stoi(url.substr(url.rfind(':') + 1));
  const Config config{.host = "https://api.example:6443",
                      .tls = {.ca_data = authority.certificate()},
                      .proxy_url = url};
  EXPECT_EQ(Ask(config), "30+3*10");
  EXPECT_THAT(proxy.requests(), ::testing::SizeIs(1));
}

}  // namespace
}  // namespace kubexx::rest
