#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/base/testing/temporary_folder.h"
#include "kubexx/remotecommand/executor.h"
#include "kubexx/remotecommand/testing/web_socket_server.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/rest/testing/certificates.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"
#include "kubexx/rest/testing/forwarding_proxy.h"
#include "kubexx/rest/testing/usual_server.h"

// Who a command comes from, and which way it goes: as the client's other requests.

namespace kubexx::remotecommand {
namespace {

using base::testing::TemporaryFolder;
using rest::testing::CertificateAuthority;
using rest::testing::ClientFor;
using rest::testing::ForwardingProxy;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ServerConnection;
using ::testing::SizeIs;
using testing::WebSocketServer;

// A server that runs nothing, but says that it went well.
WebSocketServer::Options Succeeding() {
  return {.script = [](ServerConnection& connection) {
    connection.Write(std::string("\3") + R"({"metadata":{},"status":"Success"})");
    connection.Close(1000);
  }};
}

std::string RunIn(const std::shared_ptr<rest::RESTClient>& client) {
  std::string out;
  const auto exit =
      Executor(client, {.connect_timeout = std::chrono::seconds(60)})
          .Exec({.namespace_ = "ns", .pod = "web-0"}, {"true"}, {.out = StringSink(out)});
  return exit ? "exit " + std::to_string(exit->code) : exit.error().ToString();
}

// A server that forwards to a pod which says no more than hello.
WebSocketServer::Options Forwarding() {
  return {.script =
              [](ServerConnection& connection) {
                const std::string port("\x90\x1f", 2);  // 8080
                connection.Write(std::string(1, '\0') + port);
                connection.Write(std::string(1, '\1') + port);
                connection.Write(std::string(1, '\0') + "hello");
                connection.Close(1000);
              },
          .protocol = "v4.channel.k8s.io"};
}

std::string AttachTo(const std::shared_ptr<rest::RESTClient>& client) {
  std::string out;
  const auto exit = Executor(client, {.connect_timeout = std::chrono::seconds(60)})
                        .Attach({.namespace_ = "ns", .pod = "web-0"}, {.out = StringSink(out)});
  return exit ? "exit " + std::to_string(exit->code) : exit.error().ToString();
}

std::string ForwardTo(const std::shared_ptr<rest::RESTClient>& client) {
  std::string out;
  const auto ended =
      Executor(client, {.connect_timeout = std::chrono::seconds(60)})
          .Forward({.namespace_ = "ns", .pod = "web-0"}, 8080, StringSource(""), StringSink(out));
  return ended ? out : ended.error().ToString();
}

TEST(ExecutorCredentialsTest, AttachAndForwardTryOnceMoreToo) {
  for (const bool forward : {false, true}) {
    const TemporaryFolder dir;
    const std::string file = dir.Write("token", "old");
    WebSocketServer::Options options = forward ? Forwarding() : Succeeding();
    options.accepts = [&dir](const std::string& authorization) {
      if (authorization == "Bearer new") {
        return true;
      }
      dir.Write("token", "new");
      return false;
    };
    WebSocketServer server(std::move(options));
    base::testing::FakeClock clock;
    const auto client = ClientFor({.host = server.Url(), .bearer_token_file = file},
                                  rest::testing::WithoutDeadlines(clock));
    clock.Advance(std::chrono::seconds(10));
    EXPECT_EQ(forward ? ForwardTo(client) : AttachTo(client), forward ? "hello" : "exit 0");
    EXPECT_EQ(server.requests(), 2);
  }
}

TEST(ExecutorCredentialsTest, ARefusedTokenIsReadAgainAndTheCallTriedOnceMore) {
  const TemporaryFolder dir;
  const std::string file = dir.Write("token", "old");
  WebSocketServer::Options options = Succeeding();
  options.accepts = [&dir](const std::string& authorization) {
    if (authorization == "Bearer new") {
      return true;
    }
    dir.Write("token", "new");  // as a kubelet, in the very moment
    return false;
  };
  WebSocketServer server(std::move(options));
  base::testing::FakeClock clock;
  const auto client = ClientFor({.host = server.Url(), .bearer_token_file = file},
                                rest::testing::WithoutDeadlines(clock));
  clock.Advance(std::chrono::seconds(10));  // a file is not read again at once
  EXPECT_EQ(RunIn(client), "exit 0");
  EXPECT_EQ(server.requests(), 2);
}

TEST(ExecutorCredentialsTest, ARefusalForGoodIsTheServers) {
  WebSocketServer::Options options = Succeeding();
  options.accepts = [](const std::string&) { return false; };
  WebSocketServer server(std::move(options));
  const auto client = ClientFor({.host = server.Url(), .bearer_token = "old"});
  EXPECT_THAT(RunIn(client), HasSubstr("Unauthorized"));
  EXPECT_EQ(server.requests(), 1);
}

TEST(ExecutorCredentialsTest, APluginRunsOnceForRequestsAndCommands) {
  const TemporaryFolder dir;
  const std::string runs = dir.path() + "/runs";
  const std::string plugin = dir.Write(
      "plugin", "#!/bin/sh\necho run >> " + runs +
                    "\necho '{\"kind\":\"ExecCredential\",\"apiVersion\":"
                    "\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"made\"}}'\n");
  WebSocketServer server(Succeeding());
  const auto client =
      ClientFor({.host = server.Url(),
                 .exec = rest::ExecConfig{.api_version = "client.authentication.k8s.io/v1",
                                          .command = "/bin/sh",
                                          .args = {plugin},
                                          .interactive = rest::ExecInteractive::kNever}});
  for (int i = 0; i < 3; ++i) {
    // An ordinary request, which this server does not understand.
    (void)client->Get().AbsPath("/x").MaxRetries(0).Do();
    EXPECT_EQ(server.last_authorization(), "Bearer made");
    EXPECT_EQ(RunIn(client), "exit 0");
    EXPECT_EQ(server.last_authorization(), "Bearer made");
    EXPECT_EQ(AttachTo(client), "exit 0");
  }
  EXPECT_EQ(server.requests(), 9);
  std::ifstream file(runs);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, "run\n");
}

class ExecutorProxyTest : public ::testing::Test {
 protected:
  ~ExecutorProxyTest() override {
    ::unsetenv("HTTPS_PROXY");
    ::unsetenv("NO_PROXY");
  }
  static WebSocketServer::Options Tls(const CertificateAuthority& authority) {
    const auto issued = authority.Issue({.alternative_names = "DNS:api.example"});
    WebSocketServer::Options options = Succeeding();
    options.certificate = issued.certificate;
    options.key = issued.key;
    return options;
  }
  rest::Config ConfigFor(std::string host, std::string proxy_url = {}) const {
    return {.host = std::move(host),
            .tls = {.server_name = "api.example",
                    .ca_data =
                        authority_.certificate() + rest::testing::UsualAuthority().certificate()},
            .bearer_token = "secret",
            .proxy_url = std::move(proxy_url)};
  }
  static int PortOf(const WebSocketServer& server) {
    const std::string url = server.Url();
    return std::stoi(url.substr(url.rfind(':') + 1));
  }

  const CertificateAuthority authority_{"exec"};
  WebSocketServer server_{Tls(authority_)};
};

class ExecutorTunnelTest : public ExecutorProxyTest,
                           public ::testing::WithParamInterface<rest::ProxyProtocol> {};

INSTANTIATE_TEST_SUITE_P(Proxies, ExecutorTunnelTest,
                         ::testing::Values(rest::ProxyProtocol::kHttp, rest::ProxyProtocol::kHttps,
                                           rest::ProxyProtocol::kSocks5));

TEST_P(ExecutorTunnelTest, CommandsGoThroughATunnel) {
  for (const std::string user : {"", "me:p@ss"}) {
    ForwardingProxy proxy({{"api.example:6443", PortOf(server_)}}, user, GetParam());
    std::string url = proxy.UrlWithoutUser();
    url.insert(url.find("://") + 3, user.empty() ? "" : "me:p%40ss@");
    EXPECT_EQ(RunIn(ClientFor(ConfigFor("https://api.example:6443", url))), "exit 0");
    EXPECT_EQ(server_.last_authorization(), "Bearer secret");
    EXPECT_THAT(proxy.requests(), ElementsAre("CONNECT api.example:6443"));
  }
}

TEST_P(ExecutorTunnelTest, SoDoAttachedProcessesAndForwardedPorts) {
  ForwardingProxy proxy({{"api.example:6443", PortOf(server_)}}, "", GetParam());
  EXPECT_EQ(AttachTo(ClientFor(ConfigFor("https://api.example:6443", proxy.Url()))), "exit 0");
  WebSocketServer plain(Forwarding());
  ForwardingProxy other({{"api.example:80", PortOf(plain)}}, "", GetParam());
  EXPECT_EQ(ForwardTo(ClientFor(ConfigFor("http://api.example", other.Url()))), "hello");
  EXPECT_THAT(other.requests(), ElementsAre("CONNECT api.example:80"));
}

TEST_P(ExecutorTunnelTest, SoDoPlainOnes) {
  WebSocketServer plain(Succeeding());
  ForwardingProxy proxy({{"api.example:80", PortOf(plain)}}, "", GetParam());
  EXPECT_EQ(RunIn(ClientFor(ConfigFor("http://api.example", proxy.Url()))), "exit 0");
}

TEST_F(ExecutorProxyTest, TheProxysCertificateIsChecked) {
  ForwardingProxy proxy({{"api.example:6443", PortOf(server_)}}, "", rest::ProxyProtocol::kHttps);
  rest::Config config = ConfigFor("https://api.example:6443", proxy.Url());
  config.tls.ca_data = authority_.certificate();
  EXPECT_THAT(RunIn(ClientFor(config)),
              AllOf(HasSubstr("proxy " + proxy.Url() + ": TLS handshake: "),
                    HasSubstr("neither the system's authorities nor the config's")));
}

TEST_F(ExecutorProxyTest, ARefusalOfTheProxyIsToldAsSuch) {
  ForwardingProxy proxy({{"api.example:6443", PortOf(server_)}}, "me:pass");
  EXPECT_THAT(RunIn(ClientFor(ConfigFor("https://api.example:6443", proxy.UrlWithoutUser()))),
              HasSubstr("the proxy refused a tunnel: 407"));
  ForwardingProxy elsewhere({});
  EXPECT_THAT(RunIn(ClientFor(ConfigFor("https://api.example:6443", elsewhere.Url()))),
              HasSubstr("the proxy refused a tunnel: 502"));
  EXPECT_THAT(RunIn(ClientFor(
                  ConfigFor("https://api.example:6443",
                            "http://127.0.0.1:" + std::to_string(rest::testing::UnusedPort())))),
              HasSubstr("proxy http://127.0.0.1:"));
}

TEST_F(ExecutorProxyTest, TheEnvironmentsProxyIsUsedUnlessNoProxyNamesTheServer) {
  // An address of this machine that does not look like one.
  const std::string host = "127.1:" + std::to_string(PortOf(server_));
  ForwardingProxy proxy({{host, PortOf(server_)}});
  ::setenv("HTTPS_PROXY", proxy.Url().c_str(), 1);
  EXPECT_EQ(RunIn(ClientFor(ConfigFor("https://" + host))), "exit 0");
  EXPECT_THAT(proxy.requests(), ElementsAre("CONNECT " + host));
  ::setenv("NO_PROXY", "127.1", 1);
  EXPECT_EQ(RunIn(ClientFor(ConfigFor("https://" + host))), "exit 0");
  EXPECT_THAT(proxy.requests(), SizeIs(1)) << "the second one went straight";
}

}  // namespace
}  // namespace kubexx::remotecommand
