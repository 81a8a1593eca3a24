// Handlers on threads of their own: how many run, who waits for whom, and who is stopped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <latch>
#include <list>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/http/server.h"
#include "kubexx/http/testing/server_fixture.h"

namespace kubexx::http {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::EndsWith;
using testing::Get;
using ::testing::HasSubstr;
using testing::Local;
using testing::RawConnection;
using ::testing::StartsWith;

class HandlerTest : public testing::ServerFixture {};

TEST_F(HandlerTest, HandlersOnThreadsOfTheirOwnRunAtTheSameTime) {
  Server::Options options = Local();
  options.handler_threads = 2;
  Start(options);
  std::latch both(2);
  server_->Handle("/meet", [&both](const Request&) {
    both.count_down();
    KX_AWAIT(both.try_wait());
    return Response{.body = "met"};
  });
  RawConnection first(server_->port());
  RawConnection second(server_->port());
  first.Send("GET /meet HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  second.Send("GET /meet HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(first.ReadAll(), EndsWith("met"));
  EXPECT_THAT(second.ReadAll(), EndsWith("met"));
}

// What is long is read and written in pieces, in turns with others that are.
TEST_F(HandlerTest, LongBodiesThatCrossArriveWhole) {
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
        RawConnection client(server_->port());
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

TEST_F(HandlerTest, StopsWhileLongBodiesWaitForTheirTurn) {
  Server::Options options = Local();
  options.handler_threads = 1;
  options.max_body_bytes = 64 << 20;
  Start(options);
  server_->HandlePost("/take", [](const Request&) { return Response{}; });
  std::latch sent(8);
  std::vector<std::jthread> clients;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([this, &sent] {
      const RawConnection client(server_->port());
      client.Send("POST /take HTTP/1.1\r\nHost: x\r\nContent-Length: 60000000\r\n\r\n");
      client.Send(std::string(1 << 20, 'x'));
      sent.count_down();
      client.Send(std::string(50 << 20, 'x'));
    });
  }
  KX_AWAIT(sent.try_wait());
  server_->Stop();
}

TEST_F(HandlerTest, HandlersThatWaitForOthersLeaveThemTheirThreads) {
  Server::Options options = Local();
  options.handler_threads = 1;
  Start(options);
  std::latch helped(1);
  server_->Handle("/ask", [&helped](const Request& request) {
    const Waiting waiting(request);
    KX_AWAIT(helped.try_wait());
    return Response{.body = "was helped"};
  });
  server_->Handle("/help", [&helped](const Request&) {
    helped.count_down();
    return Response{.body = "helped"};
  });
  std::list<RawConnection> asking;
  for (int i = 0; i < 5; ++i) {
    asking.emplace_back(server_->port())
        .Send("GET /ask HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  }
  RawConnection helper(server_->port());
  helper.Send("GET /help HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(helper.ReadAll(), EndsWith("helped"));
  for (RawConnection& client : asking) {
    EXPECT_THAT(client.ReadAll(), EndsWith("was helped"));
  }
}

/// Those that wait are so many that no thread would be left.
TEST_F(HandlerTest, NotMoreHandlersWaitForOthersThanMay) {
  Server::Options options = Local();
  options.handler_threads = 1;
  options.max_waiting_handlers = 2;
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
    KX_AWAIT(helped.try_wait());
    return Response{.body = "was helped"};
  });
  std::list<RawConnection> asking;
  for (int i = 0; i < 2; ++i) {
    asking.emplace_back(server_->port())
        .Send("GET /ask HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  }
  KX_AWAIT(waiting_now.try_wait());
  for (int i = 0; i < 5; ++i) {
    EXPECT_THAT(Get(*server_, "/ask"), AllOf(StartsWith("HTTP/1.1 429 "), HasSubstr("too many")));
  }
  EXPECT_THAT(Get(*server_, "/ok"), StartsWith("HTTP/1.1 200 "));
  helped.count_down();
  for (RawConnection& client : asking) {
    EXPECT_THAT(client.ReadAll(), EndsWith("was helped"));
  }
}

TEST_F(HandlerTest, WhoIsBeingAnsweredGetsTheAnswerOfAServerThatDrains) {
  Server::Options options = Local();
  options.handler_threads = 1;
  Start(options);
  std::latch asked(1);
  std::latch answer(1);
  server_->HandlePost("/slow", [&](const Request&) {
    asked.count_down();
    KX_AWAIT(answer.try_wait());
    return Response{.body = "answered"};
  });
  RawConnection idle(server_->port());
  idle.Send("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(idle.ReadUntil("q="), StartsWith("HTTP/1.1 200 "));
  RawConnection asking(server_->port());
  asking.Send("POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
  KX_AWAIT(asked.try_wait());
  std::jthread ends([this] {
    server_->Drain(std::chrono::minutes(1));
    server_->Stop();
  });
  EXPECT_EQ(idle.ReadAll(), "") << "its connection is closed";
  answer.count_down();
  EXPECT_THAT(asking.ReadAll(), AllOf(HasSubstr("Connection: close"), EndsWith("answered")));
}

TEST_F(HandlerTest, DrainingWaitsForNoHeader) {
  Server::Options options = Local();
  options.read_timeout = std::chrono::hours(1);
  Start(options);
  RawConnection asking(server_->port());
  asking.Send("GET /ok HTTP/1.1\r\nHost: x\r\n\r\nG");
  EXPECT_THAT(asking.ReadUntil("q="), StartsWith("HTTP/1.1 200 "));
  server_->Drain(std::chrono::minutes(1));
  EXPECT_EQ(asking.ReadAll(), "") << "the server has closed it, and is not stopped yet";
}

TEST_F(HandlerTest, DrainingEndsThoughAHandlerDoesNot) {
  Server::Options options = Local();
  options.handler_threads = 1;
  Start(options);
  std::latch asked(1);
  server_->Handle("/slow", [&asked](const Request& request) {
    asked.count_down();
    std::latch stopped(1);
    const std::stop_callback callback(request.stop, [&stopped] { stopped.count_down(); });
    KX_AWAIT(stopped.try_wait());
    return Response{};
  });
  RawConnection asking(server_->port());
  asking.Send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  KX_AWAIT(asked.try_wait());
  server_->Drain(std::chrono::milliseconds(20));
  server_->Stop();
  EXPECT_EQ(asking.ReadAll(), "");
  server_->Drain(std::chrono::minutes(1));  // there is nothing left to wait for
}

/// Waits until nobody wants its answer any more.
Response AwaitStop(const Request& request) {
  std::latch stopped(1);
  const std::stop_callback callback(request.stop, [&stopped] { stopped.count_down(); });
  KX_AWAIT(stopped.try_wait());
  return {.body = "too late"};
}

TEST_F(HandlerTest, HandlerThatTakesTooLongIsStoppedAndAnsweredFor) {
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

TEST_F(HandlerTest, WhatIsSaidOfAHandlerThatTakesTooLongIsTheServersUsers) {
  Server::Options options = Local();
  options.handler_threads = 1;
  options.handler_timeout = std::chrono::milliseconds(50);
  options.timeout_response = [] { return Response{.status = 504, .body = "own words"}; };
  Start(options);
  server_->Handle("/slow", AwaitStop);
  EXPECT_THAT(Get(*server_, "/slow"), AllOf(StartsWith("HTTP/1.1 504 "), EndsWith("own words")));
}

TEST_F(HandlerTest, StopEndsHandlersOnThreadsOfTheirOwn) {
  Server::Options options = Local();
  options.handler_threads = 1;
  Start(options);
  std::latch entered(1);
  server_->Handle("/slow", [&entered](const Request& request) {
    entered.count_down();
    return AwaitStop(request);
  });
  RawConnection running(server_->port());
  running.Send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  KX_AWAIT(entered.try_wait());
  RawConnection queued(server_->port());
  queued.Send("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n");
  server_->Stop();
  EXPECT_EQ(running.ReadAll() + queued.ReadAll(), "");
}

TEST_F(HandlerTest, AClientThatLeavesStopsItsHandler) {
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
      RawConnection client(server_->port());
      client.Send(std::string("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n") + ahead);
      KX_AWAIT(entered.try_wait());
    }
    KX_AWAIT(left.try_wait());
  }
  EXPECT_THAT(Get(*server_, "/ok"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HandlerTest, AClientThatHasEndedItsSideGetsTheAnswer) {
  Server::Options options = Local();
  options.handler_threads = 1;
  options.handler_timeout = std::chrono::hours(1);
  Start(options);
  std::latch entered(1);
  server_->Handle("/slow", [&entered](const Request& request) {
    entered.count_down();
    return AwaitStop(request);
  });
  RawConnection client(server_->port());
  client.Send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  KX_AWAIT(entered.try_wait());
  RawConnection queued(server_->port());
  queued.Send("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n");
  queued.EndSending();
  client.EndSending();
  EXPECT_THAT(client.ReadAll(), AllOf(StartsWith("HTTP/1.1 200 "), EndsWith("too late")));
  // Whether its handler has still begun is a matter of chance, but not that it is answered truly.
  EXPECT_THAT(queued.ReadAll(), AnyOf(HasSubstr(" 200 OK"), HasSubstr("was cancelled")));
}

TEST_F(HandlerTest, RequestsThatComeWhileOneIsAnsweredAreNext) {
  Server::Options options = Local();
  options.handler_threads = 1;
  Start(options);
  std::latch sent(1);
  server_->Handle("/first", [&sent](const Request&) {
    KX_AWAIT(sent.try_wait());
    return Response{.body = "one"};
  });
  RawConnection client(server_->port());
  client.Send("GET /first HTTP/1.1\r\nHost: x\r\n\r\n");
  client.Send("GET /ok?two HTTP/1.1\r\nHost: x\r\n\r\nGET /ok?three HTTP/1.1\r\nHo");
  sent.count_down();
  EXPECT_THAT(client.ReadUntil("q=two"), HasSubstr("one"));
  client.Send("st: x\r\n\r\n");
  EXPECT_THAT(client.ReadUntil("q=three"), HasSubstr("200 OK"));
}

}  // namespace
}  // namespace kubexx::http
