#include "kubexx/http/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/http/internal/address.h"
#include "kubexx/http/testing/server_fixture.h"
#include "kubexx/logging/testing/capture.h"

namespace kubexx::http {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using testing::Exchange;
using testing::Get;
using ::testing::HasSubstr;
using testing::Local;
using ::testing::Not;
using testing::RawConnection;
using ::testing::StartsWith;

class ServerTest : public testing::ServerFixture {};

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
  EXPECT_EQ(started.error().message, "no");
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
  RawConnection client(server_->port());
  for (const std::string query : {"1", "2", "3"}) {
    client.Send("GET /ok?" + query + " HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_THAT(client.ReadUntil("q=" + query), StartsWith("HTTP/1.1 200 "));
  }
}

TEST_F(ServerTest, PipelinedRequestsAreAnsweredInOrder) {
  Start();
  RawConnection client(server_->port());
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

TEST_F(ServerTest, APathMayHaveALimitOfItsOwn) {
  Start();
  server_->HandlePost(
      "/short",
      [](const Request& request) {
        return Response{.body = request.is_body_dropped ? "dropped" : "got " + request.body};
      },
      4);
  const std::string post = "POST /short HTTP/1.1\r\nHost: x\r\nConnection: close\r\n";
  EXPECT_THAT(Exchange(*server_, post + "Content-Length: 4\r\n\r\nbody"), EndsWith("got body"));
  EXPECT_THAT(Exchange(*server_, post + "Content-Length: 5\r\n\r\n"), EndsWith("dropped"));
  const std::string chunked = post + "Transfer-Encoding: chunked\r\n\r\n";
  EXPECT_THAT(Exchange(*server_, chunked + "4\r\nbody\r\n0\r\n\r\n"), EndsWith("got body"));
  EXPECT_THAT(Exchange(*server_, chunked + "3\r\nbod\r\n2\r\n"), EndsWith("dropped"));
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

TEST_F(ServerTest, WhoIsLetInMaySendAnOversizeBodyToItsEnd) {
  Server::Options options = Local();
  options.admit = [](const Request& header) -> std::optional<std::string> {
    return std::string(header.Header("Who"));
  };
  Start(options);
  const std::string most(8 << 20, 'x');
  for (const std::string& body :
       {"Content-Length: 8388608\r\n\r\n" + most,
        "Transfer-Encoding: chunked\r\n\r\n800000\r\n" + most + "\r\n0\r\n\r\n"}) {
    EXPECT_THAT(Exchange(*server_, "POST /ok HTTP/1.1\r\nHost: x\r\nWho: me\r\n" + body),
                StartsWith("HTTP/1.1 413 "));
  }
}

TEST_F(ServerTest, WhoeverServesSaysHowARequestIsRefused) {
  Server::Options options = Local();
  options.refusal = [](int status, const std::string& text) {
    return Response{.status = status, .content_type = "a/b", .body = "<" + text + ">"};
  };
  Start(options);
  EXPECT_THAT(Exchange(*server_, "GET /ok HTTP/1.1\r\nHost: x\r\nContent-Length: 99999\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 413 "), HasSubstr("a/b"),
                    EndsWith("<Request entity too large: limit is 16384>")));
  EXPECT_THAT(Exchange(*server_, "GET\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 400 "), EndsWith("<The request is not valid HTTP/1.>")));
}

TEST_F(ServerTest, SlowHeaderIsCutOffThoughBytesKeepComing) {
  Server::Options options = Local();
  options.read_timeout = std::chrono::milliseconds(200);
  Start(options);
  const auto begin = std::chrono::steady_clock::now();  // The server's time begins later.
  RawConnection client(server_->port());
  client.Send("GET /ok HTTP/1.1\r\nHost: x\r\nX: ");
  EXPECT_EQ(client.ReadAll(), "") << "closed without an answer";
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(150));
}

TEST_F(ServerTest, NewConnectionsReplaceTheOldestIdleOne) {
  Server::Options options = Local();
  options.max_connections = 4;
  Start(options);
  std::vector<RawConnection> slow;
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
    RawConnection client(server_->port());
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
  RawConnection idle(server_->port());
  RawConnection half(server_->port());
  half.Send("GET /ok HT");
  RawConnection kept(server_->port());
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
  EXPECT_EQ(started.error().reason, apimachinery::Reason::kUnavailable);
  EXPECT_EQ(started.error().message, "listen on \"" + address + "\": Address already in use");
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
  EXPECT_EQ(started.error().reason, apimachinery::Reason::kInvalidConfig);
  EXPECT_THAT(started.error().message, HasSubstr("\"nonsense\""));
}

TEST_F(ServerTest, TheLastAnswerIsNotLostToWhatNobodyReads) {
  Start();
  const std::string large(1 << 20, 'x');
  server_->Handle("/large", [&large](const Request&) { return Response{.body = large}; });
  RawConnection client(server_->port());
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

}  // namespace
}  // namespace kubexx::http
