#include <gmock/gmock.h>

#include <optional>
#include <string>

#include "kubexx/base/testing/temporary_folder.h"
#include "kubexx/rest/internal/config/kubeconfig_file.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/rest/testing/certificates.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"
#include "kubexx/rest/testing/forwarding_proxy.h"
#include "kubexx/rest/url_client.h"

namespace kubexx::rest {
namespace {

using base::testing::TemporaryFolder;
using testing::CertificateAuthority;
using testing::ClientFor;
using ::testing::ElementsAre;
using testing::FakeConnection;
using testing::FakeServer;
using testing::FakeServerTls;
using testing::ForwardingProxy;
using ::testing::HasSubstr;
using testing::Loopback;

// Tests servers whose address is an IPv6 literal.
class Ipv6Test : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::HasIpv6()) {
      GTEST_SKIP() << "this machine has no ::1";
    }
  }
  static void AnswerWithHost(FakeConnection& connection) {
    while (const auto request = connection.ReadRequest()) {
      connection.Respond(200, "text/plain",
                         request->headers.at("host") + "|" + connection.ServerName());
    }
  }
  FakeServerTls Tls(const std::string& names) const {
    const auto issued = authority_.Issue({.alternative_names = names});
    return {.certificate = issued.certificate, .key = issued.key};
  }
  static std::string Ask(const Config& config) {
    const auto client = ClientFor(config);
    std::string last;
    for (int i = 0; i < 3; ++i) {  // all on one connection
      const auto answer = client->Get().AbsPath("/x").Do();
      last = answer ? answer->body : answer.error().ToString();
    }
    return last;
  }

  const CertificateAuthority authority_{"ipv6"};
};

TEST_F(Ipv6Test, PlainRequests) {
  FakeServer server(AnswerWithHost, std::nullopt, Loopback::kIpv6);
  EXPECT_EQ(Ask({.host = server.Url()}), "[::1]:" + std::to_string(server.port()) + "|");
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(Ipv6Test, TlsChecksTheAddress) {
  FakeServer server(AnswerWithHost, Tls("IP:::1"), Loopback::kIpv6);
  EXPECT_EQ(Ask({.host = server.Url(), .tls = {.ca_data = authority_.certificate()}}),
            "[::1]:" + std::to_string(server.port()) + "|");
  FakeServer other(AnswerWithHost, Tls("IP:fd00::1,DNS:localhost"), Loopback::kIpv6);
  EXPECT_THAT(Ask({.host = other.Url(), .tls = {.ca_data = authority_.certificate()}}),
              HasSubstr("not valid for ::1"));
}

TEST_F(Ipv6Test, InAPod) {
  FakeServer server(AnswerWithHost, Tls("IP:::1"), Loopback::kIpv6);
  const TemporaryFolder account;
  account.Write("ca.crt", authority_.certificate());
  account.Write("token", "t");
  const auto config =
      internal::InClusterConfigFrom("::1", std::to_string(server.port()), account.path());
  ASSERT_TRUE(config) << config.error().ToString();
  EXPECT_EQ(Ask(*config), "[::1]:" + std::to_string(server.port()) + "|");
}

/// Tests that do not need such an address, because only a proxy connects to it.
class Ipv6TunnelTest : public Ipv6Test {
 protected:
  void SetUp() override {}
};

TEST_F(Ipv6TunnelTest, NamesTheServer) {
  FakeServer server(AnswerWithHost, Tls("IP:fd00::1"));
  ForwardingProxy proxy({{"[fd00::1]:6443", server.port()}});
  EXPECT_EQ(Ask({.host = "https://[fd00::1]:6443",
                 .tls = {.ca_data = authority_.certificate()},
                 .proxy_url = proxy.Url()}),
            "[fd00::1]:6443|");
  EXPECT_THAT(proxy.requests(), ElementsAre("CONNECT [fd00::1]:6443"));
}

TEST_F(Ipv6Test, AsTheProxysAddress) {
  FakeServer proxy(
      [](FakeConnection& connection) {
        while (const auto request = connection.ReadRequest()) {
          connection.Respond(200, "text/plain", request->target);
        }
      },
      std::nullopt, Loopback::kIpv6);
  EXPECT_EQ(Ask({.host = "http://api.example:80", .proxy_url = proxy.Url()}),
            "http://api.example:80/x");
}

TEST_F(Ipv6Test, OfAUrlClient) {
  FakeServer server(AnswerWithHost, std::nullopt, Loopback::kIpv6);
  const auto client = UrlClient::New({.url = server.Url() + "/x"});
  ASSERT_TRUE(client) << client.error().ToString();
  const auto answer = (*client)->Get({}, 1000, {});
  ASSERT_TRUE(answer) << answer.error().ToString();
  EXPECT_EQ(answer->body, "[::1]:" + std::to_string(server.port()) + "|");
}

}  // namespace
}  // namespace kubexx::rest
