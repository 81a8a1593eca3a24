#include <gmock/gmock.h>

#include <chrono>
#include <cstddef>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/rest/testing/certificates.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"
#include "kubexx/rest/testing/forwarding_proxy.h"
#include "kubexx/rest/testing/usual_server.h"

// Tests what requests say and do when a proxy does not do what the client asks.

namespace kubexx::rest {
namespace {

using apimachinery::Reason;
using apimachinery::Result;
using ::testing::AllOf;
using testing::ClientFor;
using testing::FakeConnection;
using testing::FakeServer;
using testing::FakeServerTls;
using testing::ForwardingProxy;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::UsualAuthority;
using testing::UsualTls;
using testing::UsualTlsIf;

constexpr std::string_view kApiServer = "https://api.example:6443";

std::string AskThrough(const std::string& proxy_url, TlsConfig tls = {}) {
  const auto client =
      ClientFor({.host = std::string(kApiServer), .tls = std::move(tls), .proxy_url = proxy_url});
  const auto answer = client->Get().AbsPath("/version").MaxRetries(0).Do();
  return answer ? "ok: " + answer->body : answer.error().ToString();
}

std::string UrlOf(std::string_view scheme, const FakeServer& proxy) {
  return std::string(scheme) + "://me:SECRET@127.0.0.1:" + std::to_string(proxy.port());
}

TlsConfig TrustsUsual() { return {.ca_data = UsualAuthority().certificate()}; }

struct BadAnswer {
  std::string name;
  std::string scheme;
  std::vector<std::string> answers;  // one for each message of the client
  std::string message;
};

class BadProxyTest : public ::testing::TestWithParam<BadAnswer> {};

TEST_P(BadProxyTest, IsNamedWithWhatItDid) {
  FakeServer proxy(
      [](FakeConnection& connection) {
        for (const std::string& answer : GetParam().answers) {
          connection.ReadSome();
          connection.Write(answer);
        }
      },
      UsualTlsIf(GetParam().scheme == "https"));
  EXPECT_THAT(AskThrough(UrlOf(GetParam().scheme, proxy), TrustsUsual()),
              AllOf(HasSubstr(GetParam().message),
                    HasSubstr("(proxy " + GetParam().scheme +
                              "://127.0.0.1:" + std::to_string(proxy.port()) + ")"),
                    Not(HasSubstr("SECRET"))));
}

std::string Bytes(std::string_view bytes) { return std::string(bytes); }

using namespace std::string_view_literals;

INSTANTIATE_TEST_SUITE_P(
    Answers, BadProxyTest,
    ::testing::Values(
        BadAnswer{"SaysNothing", "http", {""}, "the proxy closed the connection"},
        BadAnswer{"SaysNothingInTls", "https", {""}, "the proxy closed the connection"},
        BadAnswer{"IsNotHttp",
                  "http",
                  {"SSH-2.0-OpenSSH\r\n\r\n"},
                  "the proxy's answer is not HTTP; does its URL need the scheme https or socks5?"},
        BadAnswer{"Speaks", "https", {"HTTP/1.1 200 OK\r\n\r\nhello"}, "sent data of its own"},
        BadAnswer{"SaysTooMuch",
                  "http",
                  {"HTTP/1.1 200 OK\r\nX: " + std::string(200'000, 'x') + "\r\n\r\n"},
                  "the proxy's answer is larger than 64 KiB"},
        BadAnswer{"RefusesWithNoise",
                  "http",
                  {"HTTP/1.1 403 " + std::string(300, 'x') + "\r\n\r\n"},
                  "the proxy refused a tunnel: 403 " + std::string(100, 'x') + " ("},
        BadAnswer{"IsNoSocks",
                  "socks5",
                  {"HTTP/1.1 400 Bad Request\r\n\r\n"},
                  "the proxy's answer is not SOCKS5; does its URL need the scheme http or https?"},
        BadAnswer{"WantsAnotherLogin", "socks5", {Bytes("\5\1"sv)}, "another kind of login"},
        BadAnswer{"ClosesAtTheLogin",
                  "socks5",
                  {Bytes("\5\2"sv), ""},
                  "closed the connection instead of opening a tunnel; check the user"},
        BadAnswer{"HasRules",
                  "socks5",
                  {Bytes("\5\0"sv), Bytes("\5\2\0\1\0\0\0\0\0\0"sv)},
                  "the proxy refused a tunnel: its rules do not allow it"},
        BadAnswer{"SendsItsOwn",
                  "socks5",
                  {Bytes("\5\0"sv), Bytes("\5\0\0\1\0\0\0\0\0\0x"sv)},
                  "sent data of its own"}),
    [](const auto& bad) { return bad.param.name; });

TEST(BadProxyAddressTest, NobodyListensThere) {
  const std::string port = std::to_string(testing::UnusedPort());
  EXPECT_THAT(AskThrough("socks5://me:SECRET@127.0.0.1:" + port),
              AllOf(HasSubstr("cannot connect to the proxy: connection refused (proxy "
                              "socks5://127.0.0.1:" +
                              port + ")"),
                    Not(HasSubstr("SECRET"))));
}

// The script of a proxy that answers a message of the client with each of `answers`, in pieces of
// one byte, and after `bytes` of them closes the connection.
FakeServer::Script CutAfter(std::size_t bytes, std::vector<std::string> answers) {
  return [bytes, answers = std::move(answers)](FakeConnection& connection) {
    std::size_t left = bytes;
    for (const std::string& answer : answers) {
      if (connection.ReadSome().empty()) {
        return;
      }
      for (const char c : answer) {
        if (left-- == 0) {
          return;
        }
        connection.Write({&c, 1});
      }
    }
  };
}

TEST(CutProxyTest, ACutAnywhereInItsAnswersIsAnError) {
  const std::string http = "HTTP/1.1 200 OK\r\nVia: x\r\n\r\n";
  for (std::size_t at = 0; at < http.size(); ++at) {
    for (const char* scheme : {"http", "https"}) {
      const bool tls = std::string_view(scheme) == "https";
      FakeServer proxy(CutAfter(at, {http}), UsualTlsIf(tls));
      EXPECT_THAT(AskThrough(UrlOf(scheme, proxy), TrustsUsual()),
                  HasSubstr("the proxy closed the connection instead of opening a tunnel"))
          << scheme << " at " << at;
    }
  }
  const std::vector<std::string> socks = {Bytes("\5\2"sv), Bytes("\1\0"sv),
                                          Bytes("\5\0\0\3\4name\0\0"sv)};
  for (std::size_t at = 0; at < 15; ++at) {
    FakeServer proxy(CutAfter(at, socks));
    EXPECT_THAT(AskThrough(UrlOf("socks5", proxy)),
                HasSubstr("the proxy closed the connection instead of opening a tunnel"))
        << at;
  }
}

struct Stall {
  std::string name;
  std::string scheme;
  std::vector<std::string> answers;  // before the proxy falls silent
  std::string missed;
};

class SilentProxyTest : public ::testing::TestWithParam<Stall> {};

TEST_P(SilentProxyTest, IsGivenUpAtTheConnectTimeout) {
  base::testing::FakeClock clock;
  std::latch asked(1);
  FakeServer proxy([&asked](FakeConnection& connection) {
    for (const std::string& answer : GetParam().answers) {
      connection.ReadSome();
      connection.Write(answer);
    }
    connection.ReadSome();
    asked.count_down();
    connection.AwaitPeer();
  });
  const auto client =
      ClientFor({.host = std::string(kApiServer), .proxy_url = UrlOf(GetParam().scheme, proxy)},
                {.clock = clock});
  Result<Response> result;
  std::jthread caller([&] { result = client->Get().AbsPath("/version").Do(); });
  KX_AWAIT(asked.try_wait());
  clock.AdvanceToSleeper(std::chrono::seconds(30));
  caller.join();
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message,
              AllOf(HasSubstr("no connection within the connect timeout: " + GetParam().missed +
                              " (proxy " + GetParam().scheme + "://127.0.0.1:"),
                    Not(HasSubstr("SECRET"))));
}

INSTANTIATE_TEST_SUITE_P(
    Steps, SilentProxyTest,
    ::testing::Values(Stall{"Connect", "http", {}, "the proxy did not open a tunnel"},
                      Stall{"Handshake",
                            "https",
                            {},
                            "the proxy did not complete the TLS handshake; does its URL need "
                            "the scheme http or socks5?"},
                      Stall{"Greeting", "socks5", {}, "the proxy did not open a tunnel"},
                      Stall{
                          "Login", "socks5", {Bytes("\5\2"sv)}, "the proxy did not open a tunnel"},
                      Stall{"Request",
                            "socks5",
                            {Bytes("\5\2"sv), Bytes("\1\0"sv)},
                            "the proxy did not open a tunnel"}),
    [](const auto& stall) { return stall.param.name; });

TEST(ProxyTlsTest, AProxyWithoutTlsIsToldAsSuch) {
  FakeServer proxy([](FakeConnection& connection) {
    connection.ReadSome();
    connection.Write("HTTP/1.1 400 Bad Request\r\n\r\n");
    connection.AwaitPeer();
  });
  EXPECT_THAT(AskThrough(UrlOf("https", proxy)),
              AllOf(HasSubstr("TLS handshake with the proxy: "),
                    HasSubstr("does its URL need the scheme http or socks5?")));
}

class ProxyCertificateTest : public ::testing::Test {
 protected:
  FakeServer server_{[](FakeConnection& connection) {
                       while (connection.ReadRequest()) {
                         connection.Respond(200, "text/plain", "hello");
                       }
                     },
                     ServerTls()};
  ForwardingProxy proxy_{{{"api.example:6443", server_.port()}}, "", ProxyProtocol::kHttps};

  static const testing::CertificateAuthority& ServersAuthority() {
    static const testing::CertificateAuthority authority("server's");
    return authority;
  }
  static FakeServerTls ServerTls() {
    const auto issued = ServersAuthority().Issue({.alternative_names = "DNS:api.example"});
    return {.certificate = issued.certificate, .key = issued.key};
  }
  std::string Url(const std::string& host = "127.0.0.1") const {
    const std::string url = proxy_.Url();
    return "https://" + host + url.substr(url.rfind(':'));
  }
};

TEST_F(ProxyCertificateTest, IsCheckedWithTheConfigsAuthorities) {
  const std::string both = ServersAuthority().certificate() + UsualAuthority().certificate();
  EXPECT_EQ(AskThrough(Url(), {.ca_data = both}), "ok: hello");
  EXPECT_THAT(AskThrough(Url(), {.ca_data = ServersAuthority().certificate()}),
              AllOf(HasSubstr("TLS handshake with the proxy: "),
                    HasSubstr("neither the system's authorities nor the config's have signed the "
                              "proxy's certificate (proxy https://127.0.0.1:")));
  EXPECT_THAT(AskThrough(Url(), TrustsUsual()),
              AllOf(HasSubstr("TLS handshake: "), Not(HasSubstr("proxy"))))
      << "the server's certificate is another matter";
  EXPECT_EQ(proxy_.requests().size(), 2U);
}

TEST_F(ProxyCertificateTest, HasToNameTheProxyWhateverTheServersNameIs) {
  const std::string both = ServersAuthority().certificate() + UsualAuthority().certificate();
  EXPECT_THAT(AskThrough(Url("localhost"), {.server_name = "api.example", .ca_data = both}),
              HasSubstr("the proxy's certificate is not valid for localhost"));
  EXPECT_EQ(AskThrough(Url(), {.server_name = "api.example", .ca_data = both}), "ok: hello");
}

TEST_F(ProxyCertificateTest, IsNotCheckedWhereTheServersIsNot) {
  EXPECT_EQ(AskThrough(Url("localhost"), {.insecure_skip_verify = true}), "ok: hello");
}

// The client certificate is for the server alone.
TEST(ProxyClientCertificateTest, IsNotShownToTheProxy) {
  const auto of_client = UsualAuthority().Issue({.common_name = "admin"});
  FakeServerTls tls = UsualTls();
  tls.client_ca = UsualAuthority().certificate();
  FakeServer proxy([](FakeConnection& connection) { connection.ReadSome(); }, tls);
  EXPECT_THAT(AskThrough(UrlOf("https", proxy), {.ca_data = UsualAuthority().certificate(),
                                                 .cert_data = of_client.certificate,
                                                 .key_data = of_client.key}),
              HasSubstr("(proxy https://127.0.0.1:"))
      << "the proxy wants a certificate and gets none";
}

struct PlainCase {
  ProxyProtocol protocol;
  std::string asked;
};

// Requests to a server without TLS.
TEST(PlainServerTest, IsReachedThroughEachKindOfProxy) {
  FakeServer server([](FakeConnection& connection) {
    while (const auto request = connection.ReadRequest()) {
      connection.Respond(200, "text/plain", request->method + " " + request->target);
    }
  });
  for (const PlainCase& c : {PlainCase{ProxyProtocol::kHttp, "PUT http://api.example:8080/x"},
                             PlainCase{ProxyProtocol::kHttps, "PUT http://api.example:8080/x"},
                             PlainCase{ProxyProtocol::kSocks5, "CONNECT api.example:8080"}}) {
    ForwardingProxy proxy({{"api.example:8080", server.port()}}, "me:pass", c.protocol);
    const auto client = ClientFor(
        {.host = "http://api.example:8080", .tls = TrustsUsual(), .proxy_url = proxy.Url()});
    const auto answer = client->Put().AbsPath("/x").Body(codec::Encoding::kJson, "{}").Do();
    ASSERT_TRUE(answer) << answer.error().ToString();
    EXPECT_EQ(answer->body, "PUT /x");
    EXPECT_THAT(proxy.requests(), ::testing::ElementsAre(c.asked));
  }
}

}  // namespace
}  // namespace kubexx::rest
