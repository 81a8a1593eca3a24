#include "kubexx/rest/internal/config/proxy.h"

#include <gmock/gmock.h>

#include <atomic>
#include <map>
#include <string>

#include "kubexx/rest/rest_client.h"
#include "kubexx/rest/testing/certificates.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::rest::internal {
namespace {

using rest::testing::FakeConnection;
using rest::testing::FakeServer;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Choose(const std::string& url, std::map<std::string, std::string> env) {
  const auto server = ParseServerUrl(url);
  const auto lookup = [&env](const char* name) { return env[name]; };
  const auto proxy = ChooseProxy("", *server, lookup);
  return proxy ? (proxy->has_value() ? (*proxy)->Origin() : "none") : proxy.error().message;
}

TEST(ProxyTest, EnvironmentChoosesByScheme) {
  EXPECT_EQ(Choose("https://a.example", {}), "none");
  EXPECT_EQ(Choose("https://a.example", {{"HTTPS_PROXY", "p:3128"}}), "http://p:3128");
  EXPECT_EQ(Choose("https://a.example", {{"https_proxy", "http://p"}}), "http://p:80");
  EXPECT_EQ(Choose("https://a.example", {{"HTTP_PROXY", "http://p"}}), "none");
  EXPECT_EQ(Choose("http://a.example", {{"HTTP_PROXY", "http://p"}}), "http://p:80");
  EXPECT_EQ(Choose("http://a.example", {{"HTTP_PROXY", "http://p"}, {"REQUEST_METHOD", "GET"}}),
            "none");
  EXPECT_EQ(Choose("https://a.example", {{"HTTPS_PROXY", "socks5://u:SECRET@p"}}),
            "socks5://p:1080");
  EXPECT_EQ(Choose("http://a.example", {{"http_proxy", "https://p"}}), "https://p:443");
  EXPECT_THAT(Choose("https://a.example", {{"HTTPS_PROXY", "socks4://u:SECRET@p"}}),
              AllOf(HasSubstr("HTTPS_PROXY"), HasSubstr("socks5"), Not(HasSubstr("SECRET"))));
}

TEST(ProxyTest, NoProxyExempts) {
  const auto with = [](const std::string& url, const std::string& exempt) {
    return Choose(url, {{"HTTPS_PROXY", "http://p"}, {"NO_PROXY", exempt}}) == "none";
  };
  EXPECT_TRUE(with("https://localhost:6443", ""));
  EXPECT_TRUE(with("https://127.0.0.1", ""));
  EXPECT_TRUE(with("https://a.example", "*"));
  EXPECT_TRUE(with("https://a.example", "x, A.example"));
  EXPECT_TRUE(with("https://a.example", "example"));
  EXPECT_TRUE(with("https://a.example", ".example"));
  EXPECT_TRUE(with("https://a.example", "*.example"));
  EXPECT_TRUE(with("https://a.example:6443", "a.example:6443"));
  EXPECT_TRUE(with("https://10.1.2.3", "10.0.0.0/8"));
  EXPECT_TRUE(with("https://10.1.2.3", "10.1.2.3"));
  EXPECT_TRUE(with("https://[::1]:6443", ""));
  EXPECT_TRUE(with("https://[fd00::1]:6443", "fd00::1"));
  EXPECT_TRUE(with("https://[fd00::1]:6443", "[fd00:0::1]"));
  EXPECT_TRUE(with("https://[fd00::1]:6443", "[fd00::1]:6443"));
  EXPECT_TRUE(with("https://[fd00::1]:6443", "10.0.0.0/8,fd00::/8"));
  EXPECT_FALSE(with("https://[fd00::1]:6443", "fd00::2, [fd00::1]:443, fe00::/8, ::1, []:6443, ["));
  EXPECT_FALSE(with("https://10.1.2.3", "fd00::/8, ::/0, 10.1.2.3:"));
  EXPECT_FALSE(with("https://example", ".example"));
  EXPECT_FALSE(with("https://aexample", "example"));
  EXPECT_FALSE(with("https://a.example:6443", "a.example:443"));
  EXPECT_FALSE(with("https://11.1.2.3", "10.0.0.0/8"));
  EXPECT_FALSE(with("https://11.1.2.3", "10.0.0.0/33, 10.0.0.0/, /8, :, ., ,"));
}

TEST(ProxyTest, ReadsUserAndRefusesOthers) {
  const auto proxy = ParseProxyUrl("http://me:p%40ss@p.example:3128/");
  ASSERT_TRUE(proxy) << proxy.error().message;
  EXPECT_EQ(proxy->address.Origin(), "http://p.example:3128");
  EXPECT_EQ(proxy->username, "me");
  EXPECT_EQ(proxy->password, "p@ss");
  for (const std::string bad : {"socks4://p", "socks://p", "ftp://p", "https://", "socks5://",
                                "socks5://p:0", "socks5://p/path", "http://", "http://p:x",
                                "http://p/path", "http://u:%4@p", "http://[::x]:80", ""}) {
    EXPECT_FALSE(ParseProxyUrl(bad)) << bad;
  }
}

TEST(ProxyTest, UserOrPasswordMayBeEmpty) {
  for (const char* login : {":token", "me", "me:"}) {
    const auto proxy = ParseProxyUrl("http://" + std::string(login) + "@p");
    ASSERT_TRUE(proxy) << proxy.error().message;
    EXPECT_THAT(proxy->Authorization(), HasSubstr("Basic ")) << login;
  }
  EXPECT_EQ(ParseProxyUrl("http://p")->Authorization(), "");
}

TEST(ProxyTest, EachProtocolHasItsPort) {
  struct Case {
    std::string url;
    std::string origin;
  };
  for (const Case& c :
       {Case{"http://p", "http://p:80"}, Case{"HTTPS://p", "https://p:443"},
        Case{"https://u:p@p:8443/", "https://p:8443"}, Case{"socks5://p", "socks5://p:1080"},
        Case{"SOCKS5h://p/", "socks5://p:1080"}, Case{"socks5h://u:p@p:1", "socks5://p:1"},
        Case{"socks5://[::1]", "socks5://[::1]:1080"},
        Case{"socks5://[::1]:80", "socks5://[::1]:80"}, Case{"socks5://p:80", "socks5://p:80"}}) {
    const auto proxy = ParseProxyUrl(c.url);
    ASSERT_TRUE(proxy) << c.url << ": " << proxy.error().message;
    EXPECT_EQ(proxy->Origin(), c.origin) << c.url;
  }
}

TEST(ProxyTest, Socks5HasNoRoomForLongCredentials) {
  const std::string longest(255, 'x');
  EXPECT_TRUE(ParseProxyUrl("socks5://" + longest + ":" + longest + "@p"));
  for (const std::string& user : {longest + "y:p", "u:" + longest + "y"}) {
    const auto proxy = ParseProxyUrl("socks5://" + user + "@p");
    ASSERT_FALSE(proxy);
    EXPECT_THAT(proxy.error().message, AllOf(HasSubstr("255"), Not(HasSubstr("xx"))));
    EXPECT_TRUE(ParseProxyUrl("https://" + user + "@p"));
  }
}

// The proxy does not forward requests, but answers with the request that it got.
TEST(ProxyTest, PlainRequestsGoThroughTheProxy) {
  FakeServer proxy([](FakeConnection& connection) {
    while (const auto request = connection.ReadRequest()) {
      connection.Respond(200, "application/json",
                         request->target + "|" + request->headers.at("host"));
    }
  });
  const auto client =
      rest::testing::ClientFor({.host = "http://api.example:8080", .proxy_url = proxy.Url()});
  const auto result = client->Get().AbsPath("/version").Do();
  ASSERT_TRUE(result) << result.error().ToString();
  EXPECT_THAT(result->body, HasSubstr("http://api.example:8080/version"));
}

TEST(ProxyTest, TlsGoesThroughATunnel) {
  std::atomic<int> tunnels = 0;
  std::string asked;
  FakeServer proxy([&](FakeConnection& connection) {
    if (const auto request = connection.ReadRequest()) {
      asked = request->method + " " + request->target + " " +
              (request->headers.contains("proxy-authorization")
                   ? request->headers.at("proxy-authorization")
                   : "");
      ++tunnels;
      connection.Respond(403, "text/plain", "");
    }
  });
  const auto client = rest::testing::ClientFor(
      {.host = "https://api.example:6443",
       .proxy_url = "http://me:pw@127.0.0.1:" + std::to_string(proxy.port())});
  EXPECT_FALSE(client->Get().AbsPath("/version").Do());
  EXPECT_EQ(tunnels, 1);
  EXPECT_EQ(asked, "CONNECT api.example:6443 Basic bWU6cHc=");
}

}  // namespace
}  // namespace kubexx::rest::internal
