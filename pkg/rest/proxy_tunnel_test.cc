#include "kubexx/rest/proxy_tunnel.h"

#include <gmock/gmock.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/rest/proxy.h"
#include "kubexx/rest/url.h"

// What is said to a proxy, byte by byte. What happens to its connection is in bad_proxy_test.cc.

namespace kubexx::rest {
namespace {

using apimachinery::Reason;
using apimachinery::Result;
using ::testing::HasSubstr;
using namespace std::string_view_literals;

Proxy ProxyWith(ProxyProtocol protocol, std::string user = "", std::string password = "") {
  return {.protocol = protocol, .username = std::move(user), .password = std::move(password)};
}

ServerUrl ServerAt(std::string host, std::string port) {
  return {.host = std::move(host), .port = std::move(port)};
}

// One answer of the proxy, and what the client says to it.
struct Turn {
  std::string_view said{};
  std::string_view answer{};
};

// Plays the turns with answers in pieces of `size` bytes. Returns "open", or the error.
std::string Play(const Proxy& proxy, const ServerUrl& server, const std::vector<Turn>& turns,
                 std::size_t size) {
  auto tunnel = ProxyTunnel::New(proxy, server);
  if (!tunnel) {
    return tunnel.error().message;
  }
  for (const Turn& turn : turns) {
    EXPECT_EQ(tunnel->TakeOutput(), turn.said);
    EXPECT_EQ(tunnel->TakeOutput(), "") << "nothing is said twice";
    EXPECT_FALSE(tunnel->is_open());
    for (std::string_view rest = turn.answer; !rest.empty();) {
      const std::string_view piece = rest.substr(0, size);
      rest.remove_prefix(piece.size());
      if (const Result<void> fed = tunnel->Feed(piece); !fed) {
        EXPECT_EQ(fed.error().reason, Reason::kUnavailable);
        return fed.error().message;
      }
      EXPECT_FALSE(tunnel->is_open() && !rest.empty()) << "open before the end of the answer";
    }
  }
  return tunnel->is_open() ? "open" : "not open";
}

TEST(ProxyTunnelTest, ConnectNamesTheServerAndTheUser) {
  for (const std::size_t size : {1U, 3U, 1000U}) {
    EXPECT_EQ(Play(ProxyWith(ProxyProtocol::kHttp), ServerAt("api.example", "6443"),
                   {{"CONNECT api.example:6443 HTTP/1.1\r\nHost: api.example:6443\r\n\r\n",
                     "HTTP/1.1 200 Fine\r\n\r\n"}},
                   size),
              "open");
    EXPECT_EQ(Play(ProxyWith(ProxyProtocol::kHttps, "me", "pw"), ServerAt("fd00::1", "443"),
                   {{"CONNECT [fd00::1]:443 HTTP/1.1\r\nHost: [fd00::1]:443\r\n"
                     "Proxy-Authorization: Basic bWU6cHc=\r\n\r\n",
                     "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 200 Connection established\r\n"
                     "Content-Length: 7\r\n\r\n"}},
                   size),
              "open");
  }
}

TEST(ProxyTunnelTest, Socks5NamesTheServerAsAddressOrName) {
  struct Case {
    std::string host;
    std::string_view request;
  };
  for (const Case& c : {Case{"10.1.2.3", "\5\1\0\1\x0a\1\2\3\x19\x2b"sv},
                        Case{"fd00::1", "\5\1\0\4\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\x19\x2b"sv},
                        Case{"a.b", "\5\1\0\3\3a.b\x19\x2b"sv}}) {
    for (const std::size_t size : {1U, 2U, 1000U}) {
      EXPECT_EQ(Play(ProxyWith(ProxyProtocol::kSocks5), ServerAt(c.host, "6443"),
                     {{"\5\1\0"sv, "\5\0"sv}, {c.request, "\5\0\0\1\1\2\3\4\5\6"sv}}, size),
                "open")
          << c.host;
    }
  }
}

TEST(ProxyTunnelTest, Socks5OffersTheUserAndLeavesTheChoiceToTheProxy) {
  const Proxy proxy = ProxyWith(ProxyProtocol::kSocks5, "me", "");
  const std::string_view request = "\5\1\0\3\1a\0\x50"sv;
  // The address in the reply is of any kind.
  EXPECT_EQ(Play(proxy, ServerAt("a", "80"),
                 {{"\5\2\0\2"sv, "\5\0"sv}, {request, "\5\0\0\3\2xy\5\6"sv}}, 1),
            "open");
  EXPECT_EQ(Play(proxy, ServerAt("a", "80"),
                 {{"\5\2\0\2"sv, "\5\2"sv},
                  {"\1\2me\0"sv, "\1\0"sv},
                  {request, "\5\0\0\4\0\1\2\3\4\5\6\7\0\1\2\3\4\5\6\7\0\1"sv}},
                 1),
            "open");
  EXPECT_THAT(
      Play(proxy, ServerAt("a", "80"), {{"\5\2\0\2"sv, "\5\2"sv}, {"\1\2me\0"sv, "\1\1"sv}}, 2),
      HasSubstr("refused the user or the password; check"));
}

TEST(ProxyTunnelTest, Socks5RefusalsSayWhy) {
  const Proxy proxy = ProxyWith(ProxyProtocol::kSocks5);
  const auto refused = [&proxy](std::string_view reply) {
    return Play(proxy, ServerAt("a", "80"),
                {{"\5\1\0"sv, "\5\0"sv}, {"\5\1\0\3\1a\0\x50"sv, reply}}, 1000);
  };
  for (const auto& [reply, why] : std::vector<std::pair<std::string_view, std::string>>{
           {"\5\1"sv, "general failure"},
           {"\5\2"sv, "its rules do not allow it"},
           {"\5\3"sv, "it cannot reach the network"},
           {"\5\4"sv, "it cannot reach the host, or not find its name"},
           {"\5\5"sv, "the server refused the connection"},
           {"\5\6"sv, "the server did not answer in time"},
           {"\5\7"sv, "it does not know the command"},
           {"\5\x8"sv, "it does not know this kind of address"},
           {"\5\xfe"sv, "unknown cause"}}) {
    EXPECT_EQ(refused(reply), "the proxy refused a tunnel: " + why);
  }
  EXPECT_EQ(refused("\5\0\0\2\0"sv), "the proxy's answer is not SOCKS5");
  EXPECT_THAT(refused("\4\0"sv), HasSubstr("the proxy's answer is not SOCKS5"));
  EXPECT_EQ(refused("\5\0\0\1\0\0\0\0\0\0."sv),
            "the proxy sent data of its own through the tunnel");
}

TEST(ProxyTunnelTest, MethodsThatWereNotOfferedAreRefused) {
  const auto chosen = [](std::string user, std::string_view method) {
    auto tunnel =
        *ProxyTunnel::New(ProxyWith(ProxyProtocol::kSocks5, std::move(user)), ServerAt("a", "80"));
    const auto fed = tunnel.Feed(method);
    return fed ? "" : fed.error().message;
  };
  EXPECT_THAT(chosen("", "\5\2"sv), HasSubstr("another kind of login"));
  EXPECT_THAT(chosen("me", "\5\1"sv), HasSubstr("another kind of login"));
  EXPECT_THAT(chosen("me", "\5\xff"sv), HasSubstr("another kind of login"));
  EXPECT_THAT(chosen("", "\5\xff"sv), HasSubstr("write its user and password"));
}

TEST(ProxyTunnelTest, WhatHasNoRoomInSocks5IsRefusedBefore) {
  const std::string longest(255, 'x');
  const ServerUrl server = ServerAt("a", "80");
  EXPECT_TRUE(ProxyTunnel::New(ProxyWith(ProxyProtocol::kSocks5, longest, longest),
                               ServerAt(longest, "80")));
  EXPECT_FALSE(ProxyTunnel::New(ProxyWith(ProxyProtocol::kSocks5, longest + "x"), server));
  EXPECT_FALSE(ProxyTunnel::New(ProxyWith(ProxyProtocol::kSocks5, "u", longest + "x"), server));
  const auto name =
      ProxyTunnel::New(ProxyWith(ProxyProtocol::kSocks5), ServerAt(longest + "x", "80"));
  ASSERT_FALSE(name);
  EXPECT_EQ(name.error().reason, Reason::kInvalidConfig);
}

TEST(ProxyTunnelTest, AnEndlessAnswerIsCutOff) {
  auto tunnel = *ProxyTunnel::New(ProxyWith(ProxyProtocol::kHttp), ServerAt("a", "80"));
  ASSERT_TRUE(tunnel.Feed("HTTP/1.1 200 OK\r\n"));
  std::size_t fed = 0;
  Result<void> result;
  while (result && fed < 2 * ProxyTunnel::kMaxAnswer) {
    result = tunnel.Feed("X: y\r\n");
    fed += 6;
  }
  EXPECT_FALSE(result);
  EXPECT_LE(fed, ProxyTunnel::kMaxAnswer);
}

}  // namespace
}  // namespace kubexx::rest
