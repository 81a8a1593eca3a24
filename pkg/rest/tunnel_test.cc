#include <gmock/gmock.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kubexx/rest/rest_client.h"
#include "kubexx/rest/testing/certificates.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"
#include "kubexx/rest/testing/forwarding_proxy.h"
#include "kubexx/rest/testing/usual_server.h"

// Tests TLS through a proxy that forwards bytes, from end to end.

namespace kubexx::rest {
namespace {

using apimachinery::Reason;
using apimachinery::Result;
using ::testing::AllOf;
using testing::CertificateAuthority;
using testing::ClientFor;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::FakeConnection;
using testing::FakeServer;
using testing::FakeServerTls;
using testing::ForwardingProxy;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kConfigMaps;
using ::testing::Not;
using ::testing::SizeIs;
using testing::UsualAuthority;

const CertificateAuthority& TunnelAuthority() {
  static const CertificateAuthority authority("tunnel");
  return authority;
}

FakeServerTls TunnelServerTls() {
  const auto issued = TunnelAuthority().Issue({.alternative_names = "DNS:api.example"});
  return {.certificate = issued.certificate, .key = issued.key};
}

// An API server whose name only the proxy can resolve.
void ServeApi(FakeConnection& connection) {
  while (const auto request = connection.ReadRequest()) {
    if (request->target.find("watch=true") != std::string::npos) {
      connection.RespondChunked(200, "application/json;stream=watch");
      for (int i = 0; i < 100; ++i) {
        connection.WriteChunk("event " + std::to_string(i) + "\n");
      }
      connection.EndChunks();
    } else if (request->target == "/api/v1/configmaps") {
      connection.RespondChunked(200, "application/json");
      const std::string block(100'000, 'x');
      for (int i = 0; i < 30; ++i) {
        connection.WriteChunk(block);
      }
      connection.EndChunks();
    } else {
      connection.Respond(200, "application/json",
                         request->method + " " + request->headers.at("host") + " " +
                             connection.ServerName() + " " + request->body +
                             (request->headers.contains("proxy-authorization") ? " leak" : ""));
    }
  }
}

struct TunnelCase {
  ProxyProtocol protocol;
  std::string credentials;
};

std::string NameOfTunnel(const ::testing::TestParamInfo<TunnelCase>& info) {
  const std::string protocol = info.param.protocol == ProxyProtocol::kHttp    ? "Http"
                               : info.param.protocol == ProxyProtocol::kHttps ? "Https"
                                                                              : "Socks5";
  return protocol + (info.param.credentials.empty() ? "" : "WithUser");
}

class TunnelTest : public ::testing::TestWithParam<TunnelCase> {
 protected:
  // Trusts the server's authority, and that of proxies with TLS.
  static std::string Authorities() {
    return TunnelAuthority().certificate() + UsualAuthority().certificate();
  }
  std::shared_ptr<RESTClient> Client(std::string proxy_url, RESTClient::Options options = {}) {
    return ClientFor({.host = "https://api.example:6443",
                      .tls = {.ca_data = Authorities()},
                      .proxy_url = std::move(proxy_url)},
                     options);
  }
  static std::string Stream(Request request) {
    std::string body;
    const auto result = request.Stream([](const auto&) -> Result<void> { return {}; },
                                       [&body](std::string_view bytes) -> Result<void> {
                                         body += bytes;
                                         return {};
                                       },
                                       {});
    return result ? body : result.error().ToString();
  }

  FakeServer server_{ServeApi, TunnelServerTls()};
  ForwardingProxy proxy_{
      {{"api.example:6443", server_.port()}}, GetParam().credentials, GetParam().protocol};
};

TEST_P(TunnelTest, RequestsListsAndWatchesGoThroughIt) {
  const auto client = Client(proxy_.Url());
  for (int round = 0; round < 3; ++round) {
    const auto got = client->Get().AbsPath("/version").Do();
    ASSERT_TRUE(got) << got.error().ToString();
    EXPECT_EQ(got->body, "GET api.example:6443 api.example ");
    const auto patched = client->Patch(PatchType::kMerge)
                             .Resource(kConfigMaps)
                             .Namespace("ns")
                             .Name("x")
                             .Body(codec::Encoding::kJson, "{}")
                             .Do();
    ASSERT_TRUE(patched) << patched.error().ToString();
    EXPECT_EQ(patched->body, "PATCH api.example:6443 api.example {}");
    Request list = client->Get();
    list.Resource(kConfigMaps);
    EXPECT_EQ(Stream(std::move(list)).size(), 3'000'000U);
    Request watch = client->Get();
    watch.Resource(kConfigMaps).Watch();
    const std::string events = Stream(std::move(watch));
    EXPECT_TRUE(events.starts_with("event 0\n")) << events.substr(0, 200);
    EXPECT_TRUE(events.ends_with("event 99\n"));
  }
  EXPECT_THAT(proxy_.requests(), Not(IsEmpty()));
  EXPECT_THAT(proxy_.requests(), Each("CONNECT api.example:6443"));
  EXPECT_LT(proxy_.requests().size(), 12U) << "tunnels are used again";
}

TEST_P(TunnelTest, QuietStreamsGoThroughIt) {
  const auto client = Client(proxy_.Url());
  Request log = client->Get();
  log.Resource(kConfigMaps).Namespace("ns").Name("x").SubResource("log");
  EXPECT_THAT(Stream(std::move(log)), HasSubstr("GET api.example:6443"));
  const std::size_t before = proxy_.requests().size();
  const auto got = client->Get().AbsPath("/version").Do();
  EXPECT_TRUE(got) << got.error().ToString();
  EXPECT_EQ(proxy_.requests().size(), before) << "the log's tunnel was not used again";
}

TEST_P(TunnelTest, ManyAtOnceAndTheirTunnelsBreak) {
  const auto client = Client(proxy_.Url());
  std::atomic<int> answers = 0;
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 8; ++i) {
      callers.emplace_back([&] {
        for (int n = 0; n < 20; ++n) {
          answers += client->Get().AbsPath("/version").Do() ? 1 : 0;
        }
      });
    }
  }
  EXPECT_EQ(answers, 160);
  proxy_.DropConnections();
  const auto after = client->Get().AbsPath("/version").Do();
  EXPECT_TRUE(after) << after.error().ToString();
}

TEST_P(TunnelTest, TheCertificateIsTheServersAndIsChecked) {
  const auto client = ClientFor({.host = "https://other.example:6443",
                                 .tls = {.ca_data = Authorities()},
                                 .proxy_url = proxy_.Url()});
  ForwardingProxy proxy({{"other.example:6443", server_.port()}}, "", GetParam().protocol);
  const auto wrong = ClientFor({.host = "https://other.example:6443",
                                .tls = {.ca_data = Authorities()},
                                .proxy_url = proxy.Url()})
                         ->Get()
                         .AbsPath("/version")
                         .Do();
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message,
              HasSubstr("the server's certificate is not valid for other.example"));
  // The test's proxy does not know this host.
  const auto unknown = client->Get().AbsPath("/version").Do();
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().reason, Reason::kUnavailable);
  EXPECT_THAT(unknown.error().message,
              AllOf(HasSubstr(GetParam().protocol == ProxyProtocol::kSocks5
                                  ? "the proxy refused a tunnel: it cannot reach the host"
                                  : "the proxy refused a tunnel: 502"),
                    HasSubstr("(proxy " + proxy_.UrlWithoutUser() + ")"), Not(HasSubstr("pass"))));
}

INSTANTIATE_TEST_SUITE_P(Proxies, TunnelTest,
                         ::testing::Values(TunnelCase{ProxyProtocol::kHttp, ""},
                                           TunnelCase{ProxyProtocol::kHttp, "me:pass"},
                                           TunnelCase{ProxyProtocol::kHttps, ""},
                                           TunnelCase{ProxyProtocol::kHttps, "me:pass"},
                                           TunnelCase{ProxyProtocol::kSocks5, ""},
                                           TunnelCase{ProxyProtocol::kSocks5, "me:pass"}),
                         NameOfTunnel);

class TunnelWithUserTest : public TunnelTest {};
INSTANTIATE_TEST_SUITE_P(Proxies, TunnelWithUserTest,
                         ::testing::Values(TunnelCase{ProxyProtocol::kHttp, "me:pass"},
                                           TunnelCase{ProxyProtocol::kHttps, "me:pass"},
                                           TunnelCase{ProxyProtocol::kSocks5, "me:pass"}),
                         NameOfTunnel);

TEST_P(TunnelWithUserTest, WithoutCredentialsItSaysSo) {
  const auto refused = Client(proxy_.UrlWithoutUser())->Get().AbsPath("/version").Do();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::kUnavailable);
  const bool socks = GetParam().protocol == ProxyProtocol::kSocks5;
  EXPECT_THAT(refused.error().message,
              AllOf(HasSubstr(socks ? "the proxy wants to know who asks"
                                    : "the proxy refused a tunnel: 407"),
                    HasSubstr("write its user and password into the proxy's URL")));
}

TEST_P(TunnelWithUserTest, WrongCredentialsAreNotShown) {
  std::string url = proxy_.UrlWithoutUser();
  url.insert(url.find("://") + 3, "me:SECRET@");
  const auto refused = Client(url)->Get().AbsPath("/version").Do();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::kUnavailable);
  EXPECT_THAT(refused.error().message,
              AllOf(HasSubstr("check the user and password in the proxy's URL"),
                    HasSubstr("(proxy " + proxy_.UrlWithoutUser() + ")"), Not(HasSubstr("SECRET")),
                    Not(HasSubstr("me:"))));
}

// A proxy from the environment, and a server with an address of this machine that is not a loopback
// address: a loopback address never has a proxy.
class EnvironmentProxyTest : public ::testing::Test {
 protected:
  ~EnvironmentProxyTest() override {
    ::unsetenv("HTTPS_PROXY");
    ::unsetenv("NO_PROXY");
  }
  std::string Ask() {
    const Config config{
        .host = "https://127.1:" + std::to_string(server_.port()),
        .tls = {.server_name = "api.example", .ca_data = TunnelAuthority().certificate()}};
    const auto answer = ClientFor(config)->Get().AbsPath("/version").Do();
    return answer ? "ok" : answer.error().ToString();
  }

  FakeServer server_{ServeApi, TunnelServerTls()};
  ForwardingProxy proxy_{{{"127.1:" + std::to_string(server_.port()), server_.port()}}};
};

TEST_F(EnvironmentProxyTest, IsUsedUnlessNoProxyNamesTheServer) {
  ::setenv("HTTPS_PROXY", proxy_.Url().c_str(), 1);
  EXPECT_EQ(Ask(), "ok");
  EXPECT_THAT(proxy_.requests(), ElementsAre("CONNECT 127.1:" + std::to_string(server_.port())));
  ::setenv("NO_PROXY", "other.example,127.1", 1);
  EXPECT_EQ(Ask(), "ok");
  EXPECT_THAT(proxy_.requests(), SizeIs(1)) << "the second request went straight";
}

}  // namespace
}  // namespace kubexx::rest
