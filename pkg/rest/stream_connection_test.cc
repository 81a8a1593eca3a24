#include <gmock/gmock.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status_causes.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"
#include "kubexx/rest/testing/forwarding_proxy.h"
#include "kubexx/rest/testing/usual_server.h"

// Tests the connections of lists and watches: which connections are used again, what a bad server
// or network does to them, and how they go through a proxy.

namespace kubexx::rest {
namespace {

using apimachinery::Reason;
using apimachinery::Result;
using testing::ClientFor;
using testing::FakeConnection;
using testing::FakeServer;
using testing::FakeServerTls;
using testing::ForwardingProxy;
using ::testing::HasSubstr;
using testing::kConfigMaps;
using testing::NewClient;
using testing::UsualAuthority;
using testing::UsualCaIf;
using testing::UsualTls;
using testing::UsualTlsIf;
using testing::WithoutDeadlines;

struct Got {
  Result<void> result{};
  std::string body{};
  int code = 0;
};

Got GetStream(RESTClient& client, const std::string& path = "/x", int retries = 0) {
  Got got;
  got.result = client.Get().AbsPath(path).MaxRetries(retries).Stream(
      [&got](const Request::StreamHead& head) -> Result<void> {
        got.code = head.code;
        return {};
      },
      [&got](std::string_view bytes) -> Result<void> {
        got.body += bytes;
        return {};
      },
      {});
  return got;
}

std::shared_ptr<RESTClient> TlsClient(int port) {
  return ClientFor({.host = "https://127.0.0.1:" + std::to_string(port),
                    .tls = {.ca_data = UsualAuthority().certificate()}});
}

class StreamConnectionTest : public ::testing::TestWithParam<bool> {
 protected:
  std::optional<FakeServerTls> Tls() const { return UsualTlsIf(GetParam()); }
  std::shared_ptr<RESTClient> Client(const FakeServer& server) const {
    return GetParam() ? TlsClient(server.port()) : NewClient(server.Url());
  }
};

INSTANTIATE_TEST_SUITE_P(Wire, StreamConnectionTest, ::testing::Bool(),
                         [](const auto& tls) { return tls.param ? "Tls" : "Plain"; });

TEST_P(StreamConnectionTest, PagesAndTheWatchAfterThemUseOneConnection) {
  FakeServer server(
      [](FakeConnection& connection) {
        while (const auto request = connection.ReadRequest()) {
          connection.RespondChunked(200, "application/json");
          connection.WriteChunk(request->target);
          connection.EndChunks();
        }
      },
      Tls());
  const auto client = Client(server);
  for (const char* path : {"/page1", "/page2", "/watch"}) {
    const Got got = GetStream(*client, path);
    ASSERT_TRUE(got.result) << got.result.error().ToString();
    EXPECT_EQ(got.body, path);
  }
  EXPECT_EQ(server.connections(), 1);
}

TEST_P(StreamConnectionTest, WhatAServerSaysUnaskedIsNotTakenForTheNextAnswer) {
  std::atomic<int> connections = 0;
  FakeServer server(
      [&connections](FakeConnection& connection) {
        const auto answer = [](const std::string& body) {
          return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
                 body;
        };
        const bool first = ++connections == 1;
        while (connection.ReadRequest()) {
          connection.Write(first ? answer("first") + answer("wrong") : answer("second"));
        }
      },
      Tls());
  const auto client = Client(server);
  EXPECT_EQ(GetStream(*client).body, "first");
  EXPECT_EQ(GetStream(*client).body, "second");
}

TEST_P(StreamConnectionTest, AConnectionThatWasClosedMeanwhileIsNotUsed) {
  std::latch closed(1);
  FakeServer server(
      [&closed, first = true](FakeConnection& connection) mutable {
        while (connection.ReadRequest()) {
          connection.Respond(200, "text/plain", "x");
          if (std::exchange(first, false)) {
            connection.Shutdown();
            closed.count_down();
            return;
          }
        }
      },
      Tls());
  const auto client = Client(server);
  EXPECT_EQ(GetStream(*client).body, "x");
  KX_AWAIT(closed.try_wait());
  const Got second = GetStream(*client);
  EXPECT_TRUE(second.result) << second.result.error().ToString();
  EXPECT_EQ(server.connections(), 2);
}

// The server closes the connection when it gets the second request, which may be right after the
// client has checked the connection.
TEST_P(StreamConnectionTest, AnIdleConnectionThatBreaksIsReplacedAtOnce) {
  std::atomic<int> connections = 0;
  FakeServer server(testing::ClosesOnSecondRequest(connections), Tls());
  base::testing::FakeClock clock;  // it stands still, so nothing waits before another attempt
  const auto client = ClientFor({.host = server.Url(), .tls = {.ca_data = UsualCaIf(GetParam())}},
                                WithoutDeadlines(clock));
  EXPECT_EQ(GetStream(*client).body, "{}");
  const Got second = GetStream(*client, "/x", 0);
  EXPECT_TRUE(second.result) << second.result.error().ToString();
  EXPECT_EQ(connections, 2);
}

TEST_P(StreamConnectionTest, BytesThatTrickleOneAtATimeArriveWhole) {
  const std::string response =
      "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5;name=\"value\"\r\nhello\r\n1\r\n \r\n5\r\nworld\r\n0\r\nTrailer: x\r\n\r\n";
  FakeServer server(
      [&response](FakeConnection& connection) {
        while (connection.ReadRequest()) {
          for (const char c : response) {
            connection.Write(std::string_view(&c, 1));
          }
        }
      },
      Tls());
  const auto client = Client(server);
  for (int i = 0; i < 3; ++i) {
    const Got got = GetStream(*client);
    ASSERT_TRUE(got.result) << got.result.error().ToString();
    EXPECT_EQ(got.code, 200);
    EXPECT_EQ(got.body, "hello world");
  }
  EXPECT_EQ(server.connections(), 1);
}

// A body that breaks off is never taken for a complete one, and the bytes before the break are
// handed over.
TEST_P(StreamConnectionTest, ACutAtEachByteIsNoticed) {
  const std::string response =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n";
  std::atomic<std::size_t> size = 0;
  FakeServer server(
      [&](FakeConnection& connection) {
        connection.ReadRequest();
        connection.Write(response.substr(0, size));
        connection.Shutdown();
      },
      Tls());
  const auto client = Client(server);
  const std::size_t head = response.find("\r\n\r\n") + 4;
  for (size = 0; size < response.size(); ++size) {
    const Got got = GetStream(*client);
    ASSERT_FALSE(got.result) << size;
    EXPECT_EQ(got.result.error().reason, Reason::kUnavailable);
    EXPECT_THAT(got.result.error().message,
                HasSubstr(size < head ? "closed before a response" : "in the middle"));
    EXPECT_EQ(std::string("hello world").substr(0, got.body.size()), got.body);
    EXPECT_EQ(got.body.empty(), size <= head + 3) << size;
  }
}

// The refusal of a right and that of an admission rule have the same code, and only the text tells
// them apart.
TEST_P(StreamConnectionTest, ARefusalThatBreaksOffSaysSo) {
  const std::string body =
      R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","code":403})";
  const std::string response = "HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\n" +
                               ("Content-Length: " + std::to_string(body.size())) + "\r\n\r\n" +
                               body;
  std::atomic<std::size_t> size = 0;
  FakeServer server(
      [&](FakeConnection& connection) {
        connection.ReadRequest();
        connection.Write(response.substr(0, size));
        connection.Shutdown();
      },
      Tls());
  const auto client = Client(server);
  for (const std::size_t missing : {std::size_t{0}, std::size_t{1}, body.size()}) {
    SCOPED_TRACE(missing);
    size = response.size() - missing;
    const Got got = GetStream(*client);
    ASSERT_FALSE(got.result);
    EXPECT_EQ(got.result.error().reason, Reason::kForbidden);
    EXPECT_EQ(apimachinery::HasStatusCause(got.result.error(), apimachinery::kBrokenResponseCause),
              missing != 0);
  }
}

TEST_P(StreamConnectionTest, AServerThatOnlyStopsSendingEndsTheStream) {
  FakeServer server(
      [](FakeConnection& connection) {
        connection.ReadRequest();
        connection.RespondChunked(200, "application/json");
        connection.WriteChunk("one");
        ::shutdown(connection.fd(), SHUT_WR);
        connection.AwaitPeer();
      },
      Tls());
  const Got got = GetStream(*Client(server));
  ASSERT_FALSE(got.result);
  EXPECT_THAT(got.result.error().message, HasSubstr("in the middle"));
  EXPECT_EQ(got.body, "one");
}

TEST_P(StreamConnectionTest, AHeadWithoutAnEndIsRefused) {
  std::latch gone(1);
  FakeServer server(
      [&gone](FakeConnection& connection) {
        connection.ReadRequest();
        bool open = connection.Write("HTTP/1.1 200 OK\r\n");
        while (open) {
          open = connection.Write("X-More: " + std::string(10'000, 'x') + "\r\n");
        }
        gone.count_down();
      },
      Tls());
  const Got got = GetStream(*Client(server));
  ASSERT_FALSE(got.result);
  EXPECT_EQ(got.result.error().reason, Reason::kUnavailable);
  EXPECT_THAT(got.result.error().message, HasSubstr("larger than 1024 KiB"));
  KX_AWAIT(gone.try_wait());
}

TEST_P(StreamConnectionTest, EndlessChunkExtensionsAreRefused) {
  FakeServer server(
      [](FakeConnection& connection) {
        connection.ReadRequest();
        connection.RespondChunked(200, "application/json");
        bool open = connection.Write("5\r\nhello\r\n5;");
        while (open) {
          open = connection.Write(std::string(10'000, 'e'));
        }
      },
      Tls());
  const Got got = GetStream(*Client(server));
  ASSERT_FALSE(got.result);
  EXPECT_THAT(got.result.error().message, HasSubstr("malformed chunk"));
  EXPECT_EQ(got.body, "hello");
}

TEST_P(StreamConnectionTest, ABodyMayEndWithTheConnection) {
  FakeServer server(
      [](FakeConnection& connection) {
        connection.ReadRequest();
        connection.Write("HTTP/1.0 200 OK\r\n\r\nall of it");
        connection.EndTls();
      },
      Tls());
  const Got got = GetStream(*Client(server));
  EXPECT_TRUE(got.result) << got.result.error().ToString();
  EXPECT_EQ(got.body, "all of it");
}

TEST(StreamTlsTest, AnEndThatTlsDoesNotTellIsNone) {
  FakeServer server(
      [](FakeConnection& connection) {
        connection.ReadRequest();
        connection.Write("HTTP/1.0 200 OK\r\n\r\nonly a part");
        connection.Shutdown();
      },
      UsualTls());
  const Got got = GetStream(*TlsClient(server.port()));
  ASSERT_FALSE(got.result) << "anybody on the way could cut a body off";
  EXPECT_EQ(got.body, "only a part");
}

// Forwards bytes between a client and `port`, and changes one byte of the server's.
void Spoil(FakeConnection& client, int port, std::size_t at) {
  const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  ASSERT_EQ(::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  std::array<pollfd, 2> ends{pollfd{.fd = client.fd(), .events = POLLIN, .revents = 0},
                             pollfd{.fd = server, .events = POLLIN, .revents = 0}};
  std::array<char, 4096> block{};
  std::size_t passed = 0;
  for (bool open = true; open && ::poll(ends.data(), ends.size(), 60'000) > 0;) {
    for (std::size_t from = 0; from < ends.size() && open; ++from) {
      if (ends[from].revents == 0) {
        continue;
      }
      const ssize_t count = ::recv(ends[from].fd, block.data(), block.size(), 0);
      open = count > 0;
      if (open && from == 1) {
        const auto size = static_cast<std::size_t>(count);
        if (at >= passed && at < passed + size) {
          block[at - passed] = static_cast<char>(block[at - passed] ^ 1);
        }
        passed += size;
      }
      open = open && ::send(ends[1 - from].fd, block.data(), static_cast<std::size_t>(count),
                            MSG_NOSIGNAL) == count;
    }
  }
  ::close(server);
}

TEST(StreamTlsTest, ASpoiltByteEndsTheStreamWithAnError) {
  FakeServer server(
      [](FakeConnection& connection) {
        connection.ReadRequest();
        connection.RespondChunked(200, "application/json");
        for (int i = 0; i < 1000 && connection.WriteChunk(std::string(1000, 'x')); ++i) {
        }
        connection.EndChunks();
        connection.AwaitPeer();
      },
      UsualTls());
  // Changes a byte after the handshake, in the middle of the body.
  for (const std::size_t at : {20'000U, 500'000U}) {
    FakeServer network([&](FakeConnection& client) { Spoil(client, server.port(), at); });
    const Got got = GetStream(*TlsClient(network.port()));
    ASSERT_FALSE(got.result) << at;
    EXPECT_EQ(got.result.error().reason, Reason::kUnavailable);
    EXPECT_THAT(got.result.error().message, HasSubstr("TLS: "));
    EXPECT_LT(got.body.size(), at);
    EXPECT_EQ(got.body.find_first_not_of('x'), std::string::npos);
  }
  // Changes a byte of the handshake.
  FakeServer network([&](FakeConnection& client) { Spoil(client, server.port(), 300); });
  const Got got = GetStream(*TlsClient(network.port()));
  ASSERT_FALSE(got.result);
  EXPECT_THAT(got.result.error().message, HasSubstr("TLS handshake: "));
}

TEST(StreamTlsTest, SecretsComeWhole) {
  const std::string secret(300'000, 's');
  FakeServer server(
      [&secret](FakeConnection& connection) {
        while (const auto request = connection.ReadRequest()) {
          connection.Respond(200, "application/json", secret);
        }
      },
      UsualTls());
  const auto client = TlsClient(server.port());
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(GetStream(*client, "/api/v1/secrets").body == secret);
  }
}

TEST(StreamProxyTest, PlainStreamsGoThroughIt) {
  FakeServer server([](FakeConnection& connection) {
    while (const auto request = connection.ReadRequest()) {
      connection.Respond(200, "text/plain", request->headers.at("host"));
    }
  });
  ForwardingProxy proxy({{"api.example:8080", server.port()}}, "me:pass");
  const auto client = ClientFor({.host = "http://api.example:8080", .proxy_url = proxy.Url()});
  const Got got = GetStream(*client, "/version");
  ASSERT_TRUE(got.result) << got.result.error().ToString();
  EXPECT_EQ(got.body, "api.example:8080");
  EXPECT_THAT(proxy.requests(), ::testing::ElementsAre("GET http://api.example:8080/version"));
}

TEST(StreamProxyTest, WhoSpeaksFirstInATunnelIsNotTheServer) {
  FakeServer proxy([](FakeConnection& connection) {
    connection.ReadRequest();
    connection.Write("HTTP/1.1 200 OK\r\n\r\nhello");
    connection.AwaitPeer();
  });
  const auto client = ClientFor({.host = "https://api.example:6443", .proxy_url = proxy.Url()});
  const Got got = GetStream(*client);
  ASSERT_FALSE(got.result);
  EXPECT_THAT(got.result.error().message, HasSubstr("the proxy sent data of its own"));
}

TEST(StreamDialTest, ANameThatCannotBeFoundIsNamed) {
  const Got got = GetStream(*NewClient("http://no.such.name.invalid:80"));
  ASSERT_FALSE(got.result);
  EXPECT_EQ(got.result.error().reason, Reason::kUnavailable);
  EXPECT_THAT(got.result.error().message, HasSubstr("cannot resolve the host name"));
  EXPECT_THAT(got.result.error().message, HasSubstr("(http://no.such.name.invalid:80/)"));
}

TEST(StreamDialTest, NobodyListens) {
  const Got got =
      GetStream(*NewClient("http://127.0.0.1:" + std::to_string(testing::UnusedPort())));
  ASSERT_FALSE(got.result);
  EXPECT_THAT(got.result.error().message, HasSubstr("cannot connect: connection refused"));
}

}  // namespace
}  // namespace kubexx::rest
