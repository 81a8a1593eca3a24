// Clients that send what no good one does, and as many of them as there can be.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/few_descriptors.h"
#include "kubexx/http/server.h"
#include "kubexx/http/testing/raw_connection.h"

namespace kubexx::http {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::RawConnection;
using ::testing::StartsWith;

std::size_t OpenDescriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// A stream that has nothing to say and does not end.
class SilentStream final : public BodyStream {
 public:
  void Start(std::function<void()> /*wake*/) override {}
  bool Take(std::vector<Chunk>& /*chunks*/) override { return true; }
  void Closed() override {}
};

constexpr std::string_view kGood = "Authorization: good\r\n";

class HostileClientTest : public ::testing::Test {
 protected:
  static Server::Options Local() {
    Server::Options options{.address = "127.0.0.1:0"};
    options.max_header_bytes = 1 << 20;
    return options;
  }
  static Server::Options Guarded() {
    Server::Options options = Local();
    options.admit = [](const Request& request) {
      return request.Header("Authorization") == "good" ? std::optional<std::string>("good")
                                                       : std::nullopt;
    };
    return options;
  }
  void Start(Server::Options options = Local()) {
    server_ = std::make_unique<Server>(std::move(options));
    server_->HandleOthers([](const Request& request) {
      if (request.path == "/stream") {
        return Response{.stream = std::make_shared<SilentStream>()};
      }
      std::string names;
      for (const auto& [name, value] : request.headers) {
        names += name + "=" + std::to_string(value.size()) + ";";
      }
      return Response{.body = request.path + " " + names + " " +
                              (request.is_body_dropped ? "(dropped)" : request.body)};
    });
    ASSERT_TRUE(server_->Start());
  }
  RawConnection Connect() const { return RawConnection(server_->port()); }
  std::string Exchange(const std::string& request) const {
    return Connect().Send(request).ReadAll();
  }

  std::unique_ptr<Server> server_;
};

TEST_F(HostileClientTest, AHeaderMayBeAsLargeAsAllOfThemTogether) {
  Start();
  const std::size_t before = OpenDescriptors();
  const std::string large(70'000, 'x');
  const std::string end = "Connection: close\r\n\r\n";
  EXPECT_THAT(Exchange("GET /a HTTP/1.1\r\nHost: x\r\nX: " + large + "\r\n" + end),
              HasSubstr("X=70000;"));
  EXPECT_THAT(Exchange("GET /a HTTP/1.1\r\nHost: x\r\n" + large + ": x\r\n" + end),
              HasSubstr("=1;"));
  EXPECT_THAT(Exchange("GET /" + large + " HTTP/1.1\r\nHost: x\r\n" + end), HasSubstr("/" + large));
  EXPECT_THAT(
      Exchange("GET /a HTTP/1.1\r\nHost: x\r\nX: " + std::string(2 << 20, 'x') + "\r\n" + end),
      StartsWith("HTTP/1.1 431 "));
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(Exchange("GET /a HTTP/1.1\r\nHost: x\r\nX: " + large + "\r\n" + end),
                StartsWith("HTTP"));
  }
  KX_AWAIT_LE(OpenDescriptors(), before);
  EXPECT_LE(OpenDescriptors(), before) << "connections have been closed within a minute";
}

TEST_F(HostileClientTest, AHeaderHasNotAnyNumberOfFields) {
  Start();
  std::string fields;
  for (int i = 0; i < 2000; ++i) {
    fields += "A:\r\n";
  }
  EXPECT_THAT(Exchange("GET / HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n"),
              StartsWith("HTTP/1.1 431 "));
}

TEST_F(HostileClientTest, AClientThatWaitsForThatIsToldToSendItsBody) {
  Start(Guarded());
  const RawConnection client = Connect();
  const std::string request =
      "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nConnection: close\r\n";
  client.Send(request + std::string(kGood) + "Expect: 100-Continue\r\n\r\n");
  EXPECT_EQ(client.ReadUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_THAT(client.Send("body").ReadAll(), EndsWith(" body"));
  EXPECT_THAT(Exchange(request + std::string(kGood) + "Expect: 100-continue\r\n\r\nbody"),
              AllOf(StartsWith("HTTP/1.1 200 "), EndsWith(" body")))
      << "what has begun needs no word";
  EXPECT_THAT(Exchange(request + "Expect: 100-continue\r\n\r\nbody"), EndsWith(" (dropped)"))
      << "nobody reads the body of a stranger";
  EXPECT_THAT(Exchange(request + std::string(kGood) + "Expect: a miracle\r\n\r\n"),
              StartsWith("HTTP/1.1 417 "));
}

TEST_F(HostileClientTest, AnAnswerWhoseHeaderCannotBeSentIsAnError) {
  Start();
  std::string value;
  server_->Handle("/header",
                  [&value](const Request&) { return Response{.headers = {{"Warning", value}}}; });
  for (const std::string& one : {std::string(70'000, 'x'), std::string("a\r\nSet-Cookie: b")}) {
    value = one;
    const std::string answer =
        Exchange("GET /header HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 500 "));
    EXPECT_THAT(answer, ::testing::Not(HasSubstr("Set-Cookie")));
  }
}

/// More than a connection takes of itself.
const std::string& MuchText() {
  static const std::string kText(64 << 20, 'x');
  return kText;
}

TEST_F(HostileClientTest, WhoWasNotLetInIsAnsweredOnce) {
  Start(Guarded());
  const RawConnection stranger = Connect();
  stranger.Send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::string answer = stranger.ReadAll();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
}

TEST_F(HostileClientTest, WhoWasNotLetInAndTakesNoAnswerMakesRoom) {
  Server::Options options = Guarded();
  options.max_connections = 3;
  options.read_timeout = options.write_timeout = std::chrono::hours(1);
  Start(std::move(options));
  server_->Handle("/much", [](const Request&) { return Response{.body = MuchText()}; });
  std::vector<RawConnection> strangers;
  for (int i = 0; i < 3; ++i) {
    strangers.push_back(Connect());
    // Its answer has begun and does not end.
    EXPECT_THAT(
        strangers.back().Send("GET /much HTTP/1.1\r\nHost: x\r\n\r\n").ReadUntil("HTTP/1.1 200 "),
        StartsWith("HTTP/1.1 200 "));
  }
  std::vector<RawConnection> friends;
  for (int i = 0; i < 3; ++i) {
    friends.push_back(Connect());
    const std::string answer =
        friends.back()
            .Send("GET /a HTTP/1.1\r\nHost: x\r\n" + std::string(kGood) + "\r\n")
            .ReadUntil("\r\n\r\n");
    EXPECT_THAT(answer, HasSubstr("Content-Length"));
    EXPECT_THAT(answer, ::testing::Not(HasSubstr("Connection: close"))) << "it is no spare one";
  }
}

TEST_F(HostileClientTest, WhoWasNotLetInHasLittleTimeToTakeTheAnswer) {
  Server::Options options = Guarded();
  options.read_timeout = std::chrono::seconds(2);
  options.write_timeout = std::chrono::hours(1);
  Start(std::move(options));
  server_->Handle("/much", [](const Request&) { return Response{.body = MuchText()}; });
  const std::size_t before = OpenDescriptors();
  const RawConnection stranger = Connect();
  stranger.Send("GET /much HTTP/1.1\r\nHost: x\r\n\r\n").ReadUntil("HTTP/1.1 200 ");
  KX_AWAIT_LE(OpenDescriptors(), before + 1);
  EXPECT_LE(OpenDescriptors(), before + 1) << "the server has closed within a minute";
}

TEST_F(HostileClientTest, CodingsOfTheBodyOtherThanChunkedAreRefused) {
  Start();
  for (const std::string coding :
       {"Transfer-Encoding: chunked, identity", "Transfer-Encoding: xchunked",
        "Transfer-Encoding: identity", "Transfer-Encoding: gzip, chunked", "Transfer-Encoding:"}) {
    const std::string answer =
        Exchange("POST /a HTTP/1.1\r\nHost: x\r\n" + coding +
                 "\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 501 ")) << coding;
    EXPECT_EQ(answer.find("HTTP/1.1", 1), std::string::npos) << "there was one request: " << coding;
  }
  EXPECT_THAT(Exchange("POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
                       "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
              StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(Exchange("POST /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
              StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(
      Exchange(
          "POST /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\ntransfer-encoding: Chunked\r\n\r\n"
          "3\r\nabc\r\n0\r\n\r\n"),
      EndsWith(" abc"));
}

TEST_F(HostileClientTest, WhatFollowsTheBodyIsNoHeader) {
  Start();
  EXPECT_THAT(
      Exchange(
          "POST /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
          "1\r\na\r\n0\r\nAuthorization: good\r\n\r\n"),
      EndsWith("/a Host=1;Connection=5;Transfer-Encoding=7; a"));
}

TEST_F(HostileClientTest, WhoIsNotLetInIsAnsweredWithoutReadingTheBody) {
  Server::Options options = Guarded();
  options.max_body_bytes = 1 << 20;
  Start(options);
  for (const char* const body : {"Content-Length: 100000\r\n", "Transfer-Encoding: chunked\r\n"}) {
    EXPECT_THAT(Exchange(std::string("POST /a HTTP/1.1\r\nHost: x\r\n") + body + "\r\n"),
                ::testing::AllOf(StartsWith("HTTP/1.1 200 "), EndsWith(" (dropped)")))
        << body;
  }
  EXPECT_THAT(Exchange("POST /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 3\r\n" +
                       std::string(kGood) + "\r\nabc"),
              EndsWith(" abc"));
}

TEST_F(HostileClientTest, ConnectionsThatWereLetInAreTheLastToGo) {
  Server::Options options = Guarded();
  options.max_connections = 4;
  options.read_timeout = std::chrono::minutes(1);
  Start(options);
  const RawConnection good = Connect();
  const std::string request = "GET /a HTTP/1.1\r\nHost: x\r\n" + std::string(kGood) + "\r\n";
  EXPECT_THAT(good.Send(request).ReadUntil("/a "), HasSubstr("200 OK"));
  std::vector<RawConnection> idle;
  for (int i = 0; i < 20; ++i) {
    idle.push_back(Connect());
    idle.back().Send("GET ");
  }
  EXPECT_THAT(Exchange("GET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
              HasSubstr("200 OK"));
  EXPECT_THAT(good.Send(request).ReadUntil("/a "), HasSubstr("200 OK"));
}

TEST_F(HostileClientTest, SomeAreServedWhenAllConnectionsAreTaken) {
  Server::Options options = Local();
  options.max_connections = 2;
  options.handler_threads = 1;
  Start(options);
  server_->HandleAtOnce("/healthz", [](const Request&) { return Response{.body = "fine"}; });
  const RawConnection one = Connect();
  const RawConnection two = Connect();
  EXPECT_THAT(one.Send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n").ReadUntil("\r\n\r\n"),
              HasSubstr("200 OK"));
  EXPECT_THAT(two.Send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n").ReadUntil("\r\n\r\n"),
              HasSubstr("200 OK"));
  EXPECT_THAT(Exchange("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"), EndsWith("fine"));
  EXPECT_THAT(Exchange("GET /a HTTP/1.1\r\nHost: x\r\n\r\n"), StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(Exchange("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n"), StartsWith("HTTP/1.1 503 "));
  std::vector<RawConnection> idle;
  for (int i = 0; i < 100; ++i) {
    idle.push_back(Connect());
  }
  EXPECT_THAT(Exchange("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"), EndsWith("fine"));
  // One that takes the place of another beyond the limit is beyond it, too.
  EXPECT_THAT(Exchange("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n"), StartsWith("HTTP/1.1 503 "));
}

TEST_F(HostileClientTest, SomeHandlersDoNotWaitForOthers) {
  Server::Options options = Local();
  options.handler_threads = 1;
  Start(options);
  std::latch entered(1);
  std::latch release(1);
  server_->Handle("/slow", [&](const Request&) {
    entered.count_down();
    KX_AWAIT(release.try_wait());
    return Response{};
  });
  server_->HandleAtOnce("/healthz", [](const Request&) { return Response{.body = "fine"}; });
  const RawConnection slow = Connect();
  slow.Send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  KX_AWAIT(entered.try_wait());
  EXPECT_THAT(Exchange("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
              EndsWith("fine"));
  release.count_down();
  EXPECT_THAT(slow.ReadUntil("\r\n\r\n"), HasSubstr("200 OK")) << "until then it needs the latch";
}

TEST_F(HostileClientTest, BodiesThatDoNotEndMakeRoomForOthers) {
  Server::Options options = Local();
  options.max_body_bytes = 100'000;
  options.max_unread_body_bytes = 450'000;
  options.read_timeout = std::chrono::minutes(1);
  Start(options);
  const std::string head = "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n";
  const std::string most(99'999, 'x');
  const std::string whole = head + "Connection: close\r\n\r\n" + most + "x";
  RawConnection small = Connect();
  small.Send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2000\r\n\r\n" +
             std::string(1'999, 'x'));
  std::vector<RawConnection> unfinished;
  for (int i = 0; i < 20; ++i) {
    unfinished.push_back(Connect());
    unfinished.back().Send(head + "\r\n" + most);
    // Others come through, whose bodies end.
    EXPECT_THAT(Exchange(whole), HasSubstr("200 OK"));
  }
  EXPECT_EQ(unfinished.front().ReadAll(), "") << "it has been closed";
  EXPECT_THAT(unfinished.back().Send("x").ReadUntil("/a "), HasSubstr("200 OK"));
  EXPECT_THAT(small.Send("x").ReadUntil("/a "), HasSubstr("200 OK"))
      << "closing it would help nobody";
}

/// Waits until the server has closed one of them.
void AwaitClosed(const std::vector<RawConnection>& clients) {
  std::vector<pollfd> waits;
  for (const RawConnection& client : clients) {
    waits.push_back({.fd = client.fd(), .events = POLLIN, .revents = 0});
  }
  EXPECT_GT(::poll(waits.data(), waits.size(), 60'000), 0) << "none was closed within a minute";
}

/// A connection that was kept for long before its body began has not been at that for long.
TEST_F(HostileClientTest, TheBodyThatBeganFirstMakesRoom) {
  Server::Options options = Local();
  options.max_body_bytes = 100'000;
  options.max_unread_body_bytes = 350'000;
  options.read_timeout = std::chrono::minutes(1);
  Start(options);
  const RawConnection kept = Connect();
  EXPECT_THAT(kept.Send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n").ReadUntil("/a "),
              HasSubstr("200 OK"));
  const std::string head = "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n";
  std::vector<RawConnection> unfinished;
  for (int i = 0; i < 40; ++i) {
    unfinished.push_back(Connect());
    unfinished.back().Send(head + std::string(10'000, 'x'));
  }
  AwaitClosed(unfinished);  // So that most of the others have begun.
  kept.Send(head + std::string(100'000, 'x'));
  EXPECT_THAT(kept.ReadUntil("/a "), HasSubstr("200 OK"));
}

TEST_F(HostileClientTest, HeadersThatDoNotEndMakeRoomForOthers) {
  Server::Options options = Guarded();
  options.max_unread_header_bytes = 450'000;
  options.read_timeout = std::chrono::minutes(1);
  Start(options);
  RawConnection small = Connect();
  small.Send("GET /a HTTP/1.1\r\nHost: h\r\nX: " + std::string(2'000, 'x'));
  std::vector<RawConnection> unfinished;
  for (int i = 0; i < 20; ++i) {
    unfinished.push_back(Connect());
    // In lines, which are taken out of what was read, and in one that has not ended.
    std::string lines;
    for (int line = 0; line < 50; ++line) {
      lines += "A: " + std::string(1'000, 'x') + "\r\n";
    }
    unfinished.back().Send("GET /a HTTP/1.1\r\nHost: h\r\n" + lines +
                           "X: " + std::string(50'000, 'x'));
    EXPECT_THAT(Exchange("GET /b HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"),
                HasSubstr("200 OK"));
  }
  EXPECT_EQ(unfinished.front().ReadAll(), "") << "it has been closed";
  EXPECT_THAT(unfinished.back().Send("\r\n\r\n").ReadUntil("/a "), HasSubstr("200 OK"));
  EXPECT_THAT(small.Send("\r\n\r\n").ReadUntil("/a "), HasSubstr("200 OK"))
      << "closing it would help nobody";
}

TEST_F(HostileClientTest, WhatAClosedConnectionHeldIsForgotten) {
  Server::Options options = Local();
  options.max_body_bytes = 100'000;
  options.max_unread_body_bytes = 450'000;
  options.read_timeout = std::chrono::minutes(1);
  Start(options);
  const std::string head = "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: ";
  const std::string most = head + "100000\r\n\r\n" + std::string(99'999, 'x');
  for (int round = 0; round < 10; ++round) {
    // All at once, so that some are closed of which more has been read already.
    std::vector<RawConnection> unfinished;
    for (int i = 0; i < 20; ++i) {
      unfinished.push_back(Connect());
    }
    std::vector<std::jthread> senders;
    for (RawConnection& client : unfinished) {
      senders.emplace_back([&] { client.Send(most); });
    }
  }
  RawConnection client = Connect();
  client.Send(head + "2\r\n\r\nx");
  EXPECT_THAT(Exchange("GET /b HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"),
              HasSubstr("200 OK"));
  EXPECT_THAT(client.Send("x").ReadUntil("/a "), HasSubstr("200 OK"));
}

TEST_F(HostileClientTest, WithoutDescriptorsIdleConnectionsMakeRoom) {
  Start();
  std::vector<RawConnection> idle;
  for (int i = 0; i < 20; ++i) {
    idle.push_back(Connect());
  }
  // The last of them is served, so that all have been accepted.
  EXPECT_THAT(idle.back().Send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n").ReadUntil("/a"),
              HasSubstr("200 OK"));
  std::optional<base::testing::FewDescriptors> limit(std::in_place,
                                                     1);  // That of the client to come.
  const RawConnection client = Connect();
  EXPECT_THAT(client.Send("GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").ReadAll(),
              HasSubstr("200 OK"));
  limit.reset();
}

TEST_F(HostileClientTest, AnswersDoNotWaitForAcknowledgements) {
  Start();
  const RawConnection client = Connect();
  EXPECT_THAT(client.Send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n").ReadUntil("/a"),
              HasSubstr("200 OK"));
  int found = 0;
  for (int fd = 0; fd < 1024; ++fd) {
    if (RawConnection::PortOf(fd, ::getsockname) == server_->port() &&
        RawConnection::PortOf(fd, ::getpeername) == client.port()) {
      int no_delay = 0;
      socklen_t size = sizeof(no_delay);
      ASSERT_EQ(::getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &no_delay, &size), 0);
      EXPECT_NE(no_delay, 0);
      ++found;
    }
  }
  EXPECT_EQ(found, 1);
}

}  // namespace
}  // namespace kubexx::http
