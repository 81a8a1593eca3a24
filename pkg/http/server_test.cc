#include "kubexx/http/server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <latch>
#include <list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/http/internal/address.h"
#include "kubexx/logging/testing/capture.h"

namespace kubexx::http {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// A client that sends any bytes. Waits at most a minute for anything.
class Client {
 public:
  explicit Client(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
      ADD_FAILURE() << "connect";
    }
  }
  Client(Client&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Client& operator=(Client&&) = delete;
  ~Client() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }

  void Send(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t sent = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) {
        return;  // The server has closed; what it said can still be read.
      }
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  /// Says that nothing more will be sent.
  void EndSending() const { ::shutdown(fd_, SHUT_WR); }

  /// Everything until the server closes or resets.
  std::string ReadAll() {
    std::string text;
    while (ReadSome(text)) {
    }
    return text;
  }

  /// Reads until `text` was received; returns what was read.
  std::string ReadUntil(std::string_view end) {
    std::string text;
    while (text.find(end) == std::string::npos && ReadSome(text)) {
    }
    return text;
  }

 private:
  bool ReadSome(std::string& text) {
    pollfd wait{fd_, POLLIN, 0};
    if (::poll(&wait, 1, 60'000) != 1) {
      ADD_FAILURE() << "the server neither answered nor closed";
      return false;
    }
    std::array<char, 4096> buffer{};
    const ssize_t size = ::recv(fd_, buffer.data(), buffer.size(), 0);
    if (size <= 0) {
      return false;
    }
    text.append(buffer.data(), static_cast<std::size_t>(size));
    return true;
  }

  int fd_;
};

Server::Options Local() { return {.address = "127.0.0.1:0"}; }

std::string Exchange(const Server& server, std::string_view request) {
  Client client(server.port());
  client.Send(request);
  return client.ReadAll();
}

std::string Get(const Server& server, const std::string& target) {
  return Exchange(server, "GET " + target + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
}

class ServerTest : public ::testing::Test {
 protected:
  void Start(Server::Options options = Local()) {
    server_ = std::make_unique<Server>(std::move(options));
    server_->Handle("/ok",
                    [](const Request& request) { return Response{.body = "q=" + request.query}; });
    const auto started = server_->Start();
    ASSERT_TRUE(started) << started.status().ToString();
    ASSERT_NE(server_->port(), 0);
  }

  std::unique_ptr<Server> server_;
};

TEST_F(ServerTest, PathIsSplitFromQuery) {
  Start();
  EXPECT_THAT(Get(*server_, "/ok?a=b?c"), EndsWith("\r\n\r\nq=a=b?c"));
  EXPECT_THAT(Get(*server_, "/ok"), EndsWith("\r\n\r\nq="));
}

TEST_F(ServerTest, WhatRunsBeforeTheFirstAnswerMayRefuse) {
  Server::Options options = Local();
  std::uint16_t port = 0;
  options.on_listening = [&]() -> apimachinery::Result<void> {
    port = server_->port();
    return {};
  };
  Start(options);
  EXPECT_EQ(port, server_->port());
  options.on_listening = []() -> apimachinery::Result<void> {
    return apimachinery::Fail(apimachinery::Reason::kInvalidConfig, "no");
  };
  Server refused(options);
  const auto started = refused.Start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.status().message, "no");
}

TEST_F(ServerTest, UnknownPathIs404) {
  Start();
  EXPECT_THAT(Get(*server_, "/ok/"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Get(*server_, "*"), StartsWith("HTTP/1.1 404 "));
}

TEST_F(ServerTest, OtherMethodsAre405) {
  Start();
  for (const std::string method : {"POST", "PUT", "DELETE", "OPTIONS", "BREW"}) {
    EXPECT_THAT(Exchange(*server_, method + " /ok HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                                            "Content-Length: 2\r\n\r\n{}"),
                AllOf(StartsWith("HTTP/1.1 405 "), HasSubstr("Allow: GET, HEAD\r\n")));
  }
}

TEST_F(ServerTest, HeadHasLengthButNoBody) {
  Start();
  EXPECT_THAT(
      Exchange(*server_, "HEAD /ok?12 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
      AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("Content-Length: 4\r\n"), EndsWith("\r\n\r\n")));
}

TEST_F(ServerTest, ConnectionIsKeptForTheNextRequest) {
  Start();
  Client client(server_->port());
  for (const std::string query : {"1", "2", "3"}) {
    client.Send("GET /ok?" + query + " HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_THAT(client.ReadUntil("q=" + query), StartsWith("HTTP/1.1 200 "));
  }
}

TEST_F(ServerTest, PipelinedRequestsAreAnsweredInOrder) {
  Start();
  Client client(server_->port());
  client.Send(
      "GET /ok?1 HTTP/1.1\r\nHost: x\r\n\r\nGET /ok?2 HTTP/1.1\r\nHost: x\r\nConnection: "
      "close\r\n\r\n");
  const std::string text = client.ReadAll();
  EXPECT_LT(text.find("q=1"), text.find("q=2"));
  EXPECT_NE(text.find("q=2"), std::string::npos);
}

TEST_F(ServerTest, Http10ClosesAfterTheAnswer) {
  Start();
  EXPECT_THAT(Exchange(*server_, "GET /ok HTTP/1.0\r\n\r\n"), EndsWith("q="));
}

TEST_F(ServerTest, GarbageIs400) {
  Start();
  for (const std::string& garbage :
       {std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 tls hello\r\n\r\n", 25),
        std::string("GET\r\n\r\n"), std::string("GET /ok HTTP/9.9\r\n\r\n"),
        std::string("GET /ok HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n"),
        std::string("GET /ok HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n"),
        std::string(4096, '\0')}) {
    EXPECT_THAT(Exchange(*server_, garbage), StartsWith("HTTP/1.1 400 "));
  }
  EXPECT_THAT(Get(*server_, "/ok"), StartsWith("HTTP/1.1 200 ")) << "it still serves others";
}

TEST_F(ServerTest, OversizeHeaderIs431) {
  Start();
  EXPECT_THAT(Exchange(*server_, "GET /ok HTTP/1.1\r\nHost: x\r\nX: " + std::string(100000, 'x') +
                                     "\r\n\r\n"),
              StartsWith("HTTP/1.1 431 "));
}

TEST_F(ServerTest, OversizeBodyIs413) {
  Start();
  EXPECT_THAT(
      Exchange(*server_, "GET /ok HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n" +
                             std::string(100000, 'x')),
      StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(Exchange(*server_,
                       "GET /ok HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                       "20000\r\n" +
                           std::string(0x20000, 'x') + "\r\n0\r\n\r\n"),
              StartsWith("HTTP/1.1 413 "));
}

TEST_F(ServerTest, SlowHeaderIsCutOffThoughBytesKeepComing) {
  Server::Options options = Local();
  options.read_timeout = std::chrono::milliseconds(200);
  Start(options);
  const auto begin = std::chrono::steady_clock::now();  // The server's time begins later.
  Client client(server_->port());
  client.Send("GET /ok HTTP/1.1\r\nHost: x\r\nX: ");
  EXPECT_EQ(client.ReadAll(), "") << "closed without an answer";
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(150));
}

TEST_F(ServerTest, NewConnectionsReplaceTheOldestIdleOne) {
  Server::Options options = Local();
  options.max_connections = 4;
  Start(options);
  std::vector<Client> slow;
  for (int i = 0; i < 20; ++i) {
    slow.emplace_back(server_->port());
    slow.back().Send("GET /ok HTTP/1.1\r\nHost: x\r\n");
  }
  EXPECT_THAT(Get(*server_, "/ok"), StartsWith("HTTP/1.1 200 "));
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(slow[static_cast<std::size_t>(i)].ReadAll(), "") << i;
  }
  slow.back().Send("Connection: close\r\n\r\n");
  EXPECT_THAT(slow.back().ReadAll(), StartsWith("HTTP/1.1 200 ")) << "the newest was kept";
}

TEST_F(ServerTest, ClientsThatLeaveDoNoHarm) {
  Start();
  for (int i = 0; i < 200; ++i) {
    Client client(server_->port());
    client.Send(i % 2 == 0 ? "GET /ok HTTP/1.1\r\nHost: x\r\n\r\n" : "GET");
  }
  EXPECT_THAT(Get(*server_, "/ok"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(ServerTest, ThrowingHandlerIs500AndLogged) {
  logging::testing::Capture capture;
  Start();
  server_->Handle("/bad",
                  [](const Request&) -> Response { throw std::runtime_error("secret detail"); });
  EXPECT_THAT(Get(*server_, "/bad"),
              AllOf(StartsWith("HTTP/1.1 500 "), Not(HasSubstr("secret detail"))));
  EXPECT_EQ(capture.Count("secret detail"), 1U);
}

TEST_F(ServerTest, StopIsQuickWithOpenConnections) {
  Server::Options options = Local();
  options.read_timeout = options.write_timeout = std::chrono::hours(1);
  Start(options);
  Client idle(server_->port());
  Client half(server_->port());
  half.Send("GET /ok HT");
  Client kept(server_->port());
  kept.Send("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n");
  kept.ReadUntil("q=");
  const auto begin = std::chrono::steady_clock::now();
  server_->Stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::minutes(1));
  EXPECT_EQ(idle.ReadAll() + half.ReadAll() + kept.ReadAll(), "");
  server_->Stop();
}

TEST_F(ServerTest, TakenPortIsAClearError) {
  Start();
  const std::string address = "127.0.0.1:" + std::to_string(server_->port());
  Server second({.address = address});
  const auto started = second.Start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.status().reason, apimachinery::Reason::kUnavailable);
  EXPECT_EQ(started.status().message, "listen on \"" + address + "\": Address already in use");
}

TEST_F(ServerTest, EmptyHostListensOnEveryAddress) {
  Start({.address = ":0"});
  EXPECT_THAT(Get(*server_, "/ok"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(ServerTest, PortCanBeTakenAgainAfterStop) {
  Start();
  EXPECT_THAT(Get(*server_, "/ok"), StartsWith("HTTP/1.1 200 "));
  const std::string address = "127.0.0.1:" + std::to_string(server_->port());
  server_.reset();
  Start({.address = address});
  EXPECT_THAT(Get(*server_, "/ok"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(ServerTest, PostHandlersGetTheBodyAndNothingElse) {
  Start();
  server_->HandlePost("/post", [](const Request& request) {
    return Response{
        .status = 201,
        .body = request.method + " " + request.body + " " + std::string(request.Header("x-thing")),
        .headers = {{"X-More", "yes"}}};
  });
  EXPECT_THAT(Exchange(*server_,
                       "POST /post HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Thing: t\r\n"
                       "Content-Length: 2\r\n\r\n{}"),
              AllOf(StartsWith("HTTP/1.1 201 "), HasSubstr("X-More: yes\r\n"),
                    EndsWith("\r\n\r\nPOST {} t")));
  EXPECT_THAT(Get(*server_, "/post"),
              AllOf(StartsWith("HTTP/1.1 405 "), HasSubstr("Allow: POST\r\n")));
}

TEST_F(ServerTest, FilterAnswersInstead) {
  Start();
  const Filter only_a = [](const Request& request) -> std::optional<Response> {
    if (request.Header("Authorization") == "a") {
      return std::nullopt;
    }
    return Response{.status = 401};
  };
  server_->Handle("/guarded",
                  Filtered(only_a, [](const Request&) { return Response{.body = "in"}; }));
  EXPECT_THAT(Get(*server_, "/guarded"), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(
      Exchange(*server_,
               "GET /guarded HTTP/1.1\r\nHost: x\r\nConnection: close\r\nauthorization: a\r\n\r\n"),
      AllOf(StartsWith("HTTP/1.1 200 "), EndsWith("in")));
}

TEST_F(ServerTest, HandlersOnThreadsOfTheirOwnRunAtTheSameTime) {
  Server::Options options = Local();
  options.handler_threads = 2;
  Start(options);
  std::latch both(2);
  server_->Handle("/meet", [&both](const Request&) {
    both.arrive_and_wait();
    return Response{.body = "met"};
  });
  Client first(server_->port());
  Client second(server_->port());
  first.Send("GET /meet HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  second.Send("GET /meet HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(first.ReadAll(), EndsWith("met"));
  EXPECT_THAT(second.ReadAll(), EndsWith("met"));
}

// What is long is read and written in pieces, in turns with others that are.
TEST_F(ServerTest, LongBodiesThatCrossArriveWhole) {
  constexpr std::size_t kClients = 12;
  constexpr std::size_t kBody = 3'000'000;
  Server::Options options = Local();
  options.handler_threads = 2;
  options.max_body_bytes = kBody;
  Start(options);
  server_->HandlePost("/echo",
                      [](const Request& request) { return Response{.body = request.body}; });
  std::array<std::string, kClients> answers;
  {
    std::vector<std::jthread> clients;
    for (std::size_t i = 0; i < kClients; ++i) {
      clients.emplace_back([this, i, &answers] {
        Client client(server_->port());
        client.Send("POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " +
                    std::to_string(kBody) + "\r\n\r\n");
        client.Send(std::string(kBody, static_cast<char>('a' + static_cast<char>(i))));
        answers[i] = client.ReadAll();
      });
    }
  }
  for (std::size_t i = 0; i < kClients; ++i) {
    EXPECT_THAT(answers[i].substr(0, 12), StartsWith("HTTP/1.1 200"));
    EXPECT_TRUE(answers[i].ends_with(
        "\r\n\r\n" + std::string(kBody, static_cast<char>('a' + static_cast<char>(i)))));
  }
}

TEST_F(ServerTest, StopsWhileLongBodiesWaitForTheirTurn) {
  Server::Options options = Local();
  options.handler_threads = 1;
  options.max_body_bytes = 64 << 20;
  Start(options);
  server_->HandlePost("/take", [](const Request&) { return Response{}; });
  std::latch sent(8);
  std::vector<std::jthread> clients;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([this, &sent] {
      const Client client(server_->port());
      client.Send("POST /take HTTP/1.1\r\nHost: x\r\nContent-Length: 60000000\r\n\r\n");
      client.Send(std::string(1 << 20, 'x'));
      sent.count_down();
      client.Send(std::string(50 << 20, 'x'));
    });
  }
  sent.wait();
  server_->Stop();
}

TEST_F(ServerTest, HandlersThatWaitForOthersLeaveThemTheirThreads) {
  Server::Options options = Local();
  options.handler_threads = 1;
  Start(options);
  std::latch helped(1);
  server_->Handle("/ask", [&helped](const Request& request) {
    const Waiting waiting(request);
    helped.wait();
    return Response{.body = "was helped"};
  });
  server_->Handle("/help", [&helped](const Request&) {
    helped.count_down();
    return Response{.body = "helped"};
  });
  std::list<Client> asking;
  for (int i = 0; i < 5; ++i) {
    asking.emplace_back(server_->port())
        .Send("GET /ask HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  }
  Client helper(server_->port());
  helper.Send("GET /help HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(helper.ReadAll(), EndsWith("helped"));
  for (Client& client : asking) {
    EXPECT_THAT(client.ReadAll(), EndsWith("was helped"));
  }
}

/// Those that wait are so many that no thread would be left.
TEST_F(ServerTest, NotMoreHandlersWaitForOthersThanMay) {
  Server::Options options = Local();
  options.handler_threads = 1;
  options.max_waiting_handlers = 4;  // half of them of one client
  Start(options);
  std::latch waiting_now(2);
  std::latch helped(1);
  server_->Handle("/ask", [&](const Request& request) {
    const Waiting waiting(request);
    if (const auto granted = waiting.Check(); !granted) {
      return Response{.status = granted.error().code, .body = granted.error().message};
    }
    const Waiting within(request);
    EXPECT_TRUE(within.Check());
    waiting_now.count_down();
    helped.wait();
    return Response{.body = "was helped"};
  });
  std::list<Client> asking;
  for (int i = 0; i < 2; ++i) {
    asking.emplace_back(server_->port())
        .Send("GET /ask HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  }
  waiting_now.wait();
  for (int i = 0; i < 5; ++i) {
    EXPECT_THAT(Get(*server_, "/ask"), AllOf(StartsWith("HTTP/1.1 429 "), HasSubstr("too many")));
  }
  EXPECT_THAT(Get(*server_, "/ok"), StartsWith("HTTP/1.1 200 "));
  helped.count_down();
  for (Client& client : asking) {
    EXPECT_THAT(client.ReadAll(), EndsWith("was helped"));
  }
}

/// Waits until nobody wants its answer any more.
Response AwaitStop(const Request& request) {
  std::latch stopped(1);
  const std::stop_callback callback(request.stop, [&stopped] { stopped.count_down(); });
  stopped.wait();
  return {.body = "too late"};
}

TEST_F(ServerTest, HandlerThatTakesTooLongIsStoppedAndAnsweredFor) {
  Server::Options options = Local();
  options.handler_threads = 1;
  options.handler_timeout = std::chrono::milliseconds(50);
  Start(options);
  server_->Handle("/slow", AwaitStop);
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(Get(*server_, "/slow"),
                AllOf(StartsWith("HTTP/1.1 503 "), HasSubstr("took too long")));
  }
}

TEST_F(ServerTest, WhatIsSaidOfAHandlerThatTakesTooLongIsTheServersUsers) {
  Server::Options options = Local();
  options.handler_threads = 1;
  options.handler_timeout = std::chrono::milliseconds(50);
  options.timeout_response = [] { return Response{.status = 504, .body = "own words"}; };
  Start(options);
  server_->Handle("/slow", AwaitStop);
  EXPECT_THAT(Get(*server_, "/slow"), AllOf(StartsWith("HTTP/1.1 504 "), EndsWith("own words")));
}

TEST_F(ServerTest, StopEndsHandlersOnThreadsOfTheirOwn) {
  Server::Options options = Local();
  options.handler_threads = 1;
  Start(options);
  std::latch entered(1);
  server_->Handle("/slow", [&entered](const Request& request) {
    entered.count_down();
    return AwaitStop(request);
  });
  Client running(server_->port());
  running.Send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  entered.wait();
  Client queued(server_->port());
  queued.Send("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n");
  server_->Stop();
  EXPECT_EQ(running.ReadAll() + queued.ReadAll(), "");
}

TEST(ServerStopTest, ServerThatWasNeverStartedStops) {
  Server server({.address = ":0"});
  server.Stop();
  EXPECT_EQ(server.port(), 0);
}

TEST(ParseHostPortTest, SplitsTheFormsOfAddresses) {
  const auto parse = [](std::string_view text) {
    const auto parsed = internal::ParseHostPort(text);
    return parsed ? parsed->host + "|" + std::to_string(parsed->port) : "error";
  };
  EXPECT_EQ(parse(":9090"), "|9090");
  EXPECT_EQ(parse("0.0.0.0:0"), "0.0.0.0|0");
  EXPECT_EQ(parse("[::1]:80"), "::1|80");
  EXPECT_EQ(parse("localhost:65535"), "localhost|65535");
  for (const std::string_view bad : {"", "9090", "localhost", ":", ":x", ":65536", ":-1", "::1:80",
                                     "[::1:80", "::1]:80", ":80 "}) {
    EXPECT_EQ(parse(bad), "error") << bad;
  }
}

TEST(ParseHostPortTest, ServerReportsABadAddress) {
  Server server({.address = "nonsense"});
  const auto started = server.Start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.status().reason, apimachinery::Reason::kInvalidConfig);
  EXPECT_THAT(started.status().message, HasSubstr("\"nonsense\""));
}

TEST_F(ServerTest, AClientThatLeavesStopsItsHandler) {
  Server::Options options = Local();
  options.handler_threads = 1;
  options.handler_timeout = std::chrono::hours(1);
  Start(options);
  // What a client has sent ahead does not hide that it has gone.
  for (const char* const ahead : {"", "GET /ok HTTP/1.1\r\n"}) {
    std::latch entered(1);
    std::latch left(1);
    server_->Handle("/slow", [&](const Request& request) {
      entered.count_down();
      Response response = AwaitStop(request);
      left.count_down();
      return response;
    });
    {
      Client client(server_->port());
      client.Send(std::string("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n") + ahead);
      entered.wait();
    }
    left.wait();
  }
  EXPECT_THAT(Get(*server_, "/ok"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(ServerTest, AClientThatHasEndedItsSideGetsTheAnswer) {
  Server::Options options = Local();
  options.handler_threads = 1;
  options.handler_timeout = std::chrono::hours(1);
  Start(options);
  std::latch entered(1);
  server_->Handle("/slow", [&entered](const Request& request) {
    entered.count_down();
    return AwaitStop(request);
  });
  Client client(server_->port());
  client.Send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  entered.wait();
  Client queued(server_->port());
  queued.Send("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n");
  queued.EndSending();
  client.EndSending();
  EXPECT_THAT(client.ReadAll(), AllOf(StartsWith("HTTP/1.1 200 "), EndsWith("too late")));
  // Whether its handler has still begun is a matter of chance, but not that it is answered truly.
  EXPECT_THAT(queued.ReadAll(), AnyOf(HasSubstr(" 200 OK"), HasSubstr("was cancelled")));
}

TEST_F(ServerTest, RequestsThatComeWhileOneIsAnsweredAreNext) {
  Server::Options options = Local();
  options.handler_threads = 1;
  Start(options);
  std::latch sent(1);
  server_->Handle("/first", [&sent](const Request&) {
    sent.wait();
    return Response{.body = "one"};
  });
  Client client(server_->port());
  client.Send("GET /first HTTP/1.1\r\nHost: x\r\n\r\n");
  client.Send("GET /ok?two HTTP/1.1\r\nHost: x\r\n\r\nGET /ok?three HTTP/1.1\r\nHo");
  sent.count_down();
  EXPECT_THAT(client.ReadUntil("q=two"), HasSubstr("one"));
  client.Send("st: x\r\n\r\n");
  EXPECT_THAT(client.ReadUntil("q=three"), HasSubstr("200 OK"));
}

TEST_F(ServerTest, TheLastAnswerIsNotLostToWhatNobodyReads) {
  Start();
  const std::string large(1 << 20, 'x');
  server_->Handle("/large", [&large](const Request&) { return Response{.body = large}; });
  Client client(server_->port());
  // It goes on sending after a request that was its last.
  client.Send("GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" +
              std::string(200'000, 'y'));
  EXPECT_THAT(client.ReadAll(), EndsWith(large));
}

TEST_F(ServerTest, ARequestOfHttp11HasOneHost) {
  Start();
  for (const char* const hosts : {"", "Host: a\r\nHost: a\r\n", "host: a\r\nHOST: b\r\n"}) {
    EXPECT_THAT(Exchange(*server_, std::string("GET /ok HTTP/1.1\r\n") + hosts + "\r\n"),
                StartsWith("HTTP/1.1 400 "))
        << hosts;
  }
  EXPECT_THAT(Exchange(*server_, "GET /ok HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n"),
              StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Exchange(*server_, "GET /ok HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Exchange(*server_, "GET /ok HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n"),
              StartsWith("HTTP/1.1 400 "));
}

TEST_F(ServerTest, ATargetInAbsoluteFormIsItsPath) {
  Start();
  server_->HandleOthers([](const Request& request) {
    return Response{.body = request.path + "|" + request.query + "|" +
                            std::string(request.Header("Host"))};
  });
  for (const auto& [target, answer] :
       {std::pair("https://host.example:1/api/x?q=1", "/api/x|q=1|host.example:1"),
        std::pair("HTTP://user@host", "/||host"), std::pair("http://host?q", "/|q|host"),
        std::pair("/http://host/a", "/http://host/a||x"), std::pair("*", "*||x")}) {
    EXPECT_THAT(Get(*server_, target), EndsWith(answer)) << target;
  }
  for (const char* const bad : {"ftp://host/a", "host/a", "host:443"}) {
    EXPECT_THAT(Get(*server_, bad), StartsWith("HTTP/1.1 400 ")) << bad;
  }
}

/// A body that a test feeds.
class FedStream final : public BodyStream {
 public:
  void Feed(std::string text) {
    base::MutexLock lock(mu_);
    waiting_.push_back(std::make_shared<const std::string>(std::move(text)));
    if (wake_) {
      wake_();
    }
  }
  void End() {
    base::MutexLock lock(mu_);
    ended_ = true;
    if (wake_) {
      wake_();
    }
  }
  void AwaitClosed() { closed_.wait(); }

  void Start(std::function<void()> wake) override {
    base::MutexLock lock(mu_);
    wake_ = std::move(wake);
  }
  bool Take(std::vector<Chunk>& chunks) override {
    base::MutexLock lock(mu_);
    chunks.insert(chunks.end(), waiting_.begin(), waiting_.end());
    waiting_.clear();
    return !ended_;
  }
  void Closed() override {
    base::MutexLock lock(mu_);
    wake_ = nullptr;
    closed_.count_down();
  }

 private:
  base::Mutex mu_;
  std::vector<Chunk> waiting_ KX_GUARDED_BY(mu_);
  std::function<void()> wake_ KX_GUARDED_BY(mu_);
  bool ended_ KX_GUARDED_BY(mu_) = false;
  std::latch closed_{1};
};

class StreamTest : public ::testing::Test {
 protected:
  StreamTest() : stream_(std::make_shared<FedStream>()), server_(Local()) {
    server_.HandleOthers([this](const Request& request) {
      Response response{.body = request.method + " " + request.path};
      if (request.path == "/stream") {
        response.stream = stream_;
      }
      return response;
    });
    EXPECT_TRUE(server_.Start());
  }

  std::shared_ptr<FedStream> stream_;
  Server server_;
};

TEST_F(StreamTest, ChunksArriveAsTheyAreMade) {
  stream_->Feed("early");
  Client client(server_.port());
  client.Send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.ReadUntil("early"),
              AllOf(HasSubstr("Transfer-Encoding: chunked"), HasSubstr("\r\n\r\n5\r\nearly")));
  stream_->Feed("0123456789abcdef");
  EXPECT_THAT(client.ReadUntil("f\r\n"), EndsWith("10\r\n0123456789abcdef\r\n"));
  stream_->Feed("");
  stream_->End();
  EXPECT_EQ(client.ReadAll(), "0\r\n\r\n");
  stream_->AwaitClosed();
}

/// Says how often one of its kind was asked for what it has.
class CountingStream final : public BodyStream {
 public:
  struct Shared {
    std::vector<std::function<void()>> wakes{};
    int taken = 0;
  };
  explicit CountingStream(Shared& shared) : shared_(shared) {}
  void Start(std::function<void()> wake) override { shared_.wakes.push_back(std::move(wake)); }
  bool Take(std::vector<Chunk>& /*chunks*/) override { return ++shared_.taken > 0; }
  void Closed() override {}

 private:
  Shared& shared_;
};

TEST(StreamTurnsTest, ARequestDoesNotWaitForAllStreamsThatHaveSomethingToSend) {
  constexpr int kStreams = 200;
  CountingStream::Shared shared;  // Of the network thread.
  std::latch begun(kStreams);
  Server::Options options = Local();
  options.max_connections = kStreams + 10;
  Server server(options);
  server.Handle("/stream", [&](const Request&) {
    begun.count_down();
    return Response{.stream = std::make_shared<CountingStream>(shared)};
  });
  server.Handle("/wake", [&](const Request&) {
    shared.taken = 0;
    for (const auto& wake : shared.wakes) {
      wake();
    }
    return Response();
  });
  server.Handle("/taken",
                [&](const Request&) { return Response{.body = std::to_string(shared.taken)}; });
  ASSERT_TRUE(server.Start());
  std::vector<Client> clients;
  for (int i = 0; i < kStreams; ++i) {
    clients.emplace_back(server.port()).Send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  }
  begun.wait();
  // The second request is there when the first has been answered.
  const std::string answers =
      Exchange(server,
               "GET /wake HTTP/1.1\r\nHost: x\r\n\r\n"
               "GET /taken HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const int taken = std::atoi(answers.substr(answers.rfind('\n') + 1).c_str());
  EXPECT_GT(taken, 0);
  EXPECT_LT(taken, kStreams);
  while (!Get(server, "/taken").ends_with("\n" + std::to_string(kStreams))) {  // None is left out.
  }
}

TEST_F(StreamTest, AWebSocketGetsMessages) {
  Client client(server_.port());
  client.Send(
      "GET /stream HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
  EXPECT_THAT(client.ReadUntil("\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 101 "), HasSubstr("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")));
  stream_->Feed("event");
  EXPECT_EQ(client.ReadUntil("event"),
            "\x82\x05"
            "event");
  client.Send(std::string("\x89\x81\x00\x00\x00\x00p", 7));  // A ping.
  EXPECT_EQ(client.ReadUntil("p"), "\x8a\x01p");
  client.Send(std::string("\x88\x80\x00\x00\x00\x00", 6));  // The end.
  stream_->AwaitClosed();
}

TEST_F(StreamTest, AWebSocketHearsWhatCameWithItsRequest) {
  Client client(server_.port());
  client.Send(
      "GET /stream HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n" +
      std::string("\x89\x81\x00\x00\x00\x00p", 7));
  EXPECT_THAT(client.ReadUntil("\x8a\x01p"), StartsWith("HTTP/1.1 101 "));
}

TEST_F(StreamTest, TheEndOfAStreamIsNotLostToWhatNobodyReads) {
  stream_->Feed(std::string(1 << 20, 'x'));
  stream_->End();
  Client client(server_.port());
  client.Send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n" + std::string(200'000, 'y'));
  EXPECT_THAT(client.ReadAll(), EndsWith("\r\n0\r\n\r\n"));
  stream_->AwaitClosed();
}

TEST_F(StreamTest, AClientThatGoesAwayIsNoticed) {
  {
    Client client(server_.port());
    client.Send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
    client.ReadUntil("chunked");
  }
  stream_->AwaitClosed();
}

TEST_F(StreamTest, StoppingEndsTheStream) {
  Client client(server_.port());
  client.Send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  client.ReadUntil("chunked");
  server_.Stop();
  stream_->AwaitClosed();
  stream_->Feed("late");
}

TEST_F(StreamTest, ClientsOfHttp10GetNoChunks) {
  EXPECT_THAT(Exchange(server_, "GET /stream HTTP/1.0\r\n\r\n"), HasSubstr(" 505 "));
}

TEST_F(StreamTest, OtherMethodsAndPathsAreForTheOthersHandler) {
  server_.Handle("/known", [](const Request&) { return Response{.body = "known"}; });
  EXPECT_THAT(Get(server_, "/known"), EndsWith("known"));
  EXPECT_THAT(Exchange(server_, "PATCH /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
              EndsWith("PATCH /x"));
}

}  // namespace
}  // namespace kubexx::http
