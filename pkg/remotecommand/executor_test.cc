#include "kubexx/remotecommand/executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <latch>
#include <memory>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/scarce_threads/scarce_threads.h"
#include "kubexx/remotecommand/testing/web_socket_server.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/rest/testing/certificates.h"
#include "kubexx/rest/testing/client.h"

namespace kubexx::remotecommand {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::ServerConnection;
using testing::WebSocketServer;

constexpr const char* kSuccess = R"({"metadata":{},"status":"Success"})";
constexpr const char* kExit3 =
    R"({"metadata":{},"status":"Failure","message":"command terminated with exit code 3",)"
    R"("reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"3"}]}})";

std::string Bytes(std::initializer_list<int> bytes) {
  std::string out;
  for (const int byte : bytes) {
    out += static_cast<char>(byte);
  }
  return out;
}

const Target kTarget{.namespace_ = "ns", .pod = "web-0", .container = "c 1"};

class ExecutorTest : public ::testing::Test {
 protected:
  void Serve(WebSocketServer::Options options) {
    server_ = std::make_unique<WebSocketServer>(std::move(options));
    rest::Config config{.host = server_->Url()};
    config.tls.ca_data = ca_data_;
    config.bearer_token = "secret";
    client_ = rest::testing::ClientFor(config);
  }
  void Serve(WebSocketServer::Script script) { Serve({.script = std::move(script)}); }

  Executor MakeExecutor() const {
    return Executor(client_, {.connect_timeout = std::chrono::seconds(10),
                              .ping_interval = std::chrono::milliseconds(20),
                              .silence_timeout = silence_timeout_,
                              .write_timeout = write_timeout_,
                              .max_message_bytes = 64 << 10});
  }

  Result<Exit> Exec(const Streams& streams, const std::stop_token& stop = {}) const {
    return MakeExecutor().Exec(kTarget, {"sh", "-c", "a&b=c"}, streams, stop);
  }

  std::string ca_data_;
  std::chrono::milliseconds silence_timeout_ = std::chrono::seconds(30);
  std::chrono::milliseconds write_timeout_ = std::chrono::seconds(30);
  std::string out_;
  std::string err_;
  std::unique_ptr<WebSocketServer> server_;
  std::shared_ptr<rest::RESTClient> client_;
};

TEST_F(ExecutorTest, SendsInputAndCollectsOutput) {
  std::vector<std::string> received;
  Serve([&received](ServerConnection& connection) {
    for (const int channel : {0, 1, 2, 3}) {
      connection.Write(Bytes({channel}));  // As real servers begin.
    }
    while (auto message = connection.Read()) {
      received.push_back(*message);
      if (*message == Bytes({255, 0})) {
        break;
      }
    }
    connection.Write("\1out");
    connection.Write("\2err");
    connection.Write("\7what is this?");
    connection.Write("\1put");
    connection.Write(std::string("\3") + kSuccess);
    connection.Close(1000);
  });
  const auto exit =
      Exec({.in = StringSource("some input"), .out = StringSink(out_), .err = StringSink(err_)});
  ASSERT_TRUE(exit) << exit.error().ToString();
  EXPECT_EQ(exit->code, 0);
  EXPECT_EQ(out_, "output");
  EXPECT_EQ(err_, "err");
  server_.reset();
  EXPECT_EQ(received, (std::vector<std::string>{std::string("\0some input", 11), Bytes({255, 0})}));
}

TEST_F(ExecutorTest, AsksForWhatIsSet) {
  Serve([](ServerConnection& connection) {
    connection.Write(std::string("\3") + kSuccess);
    connection.Close(1000);
  });
  EXPECT_TRUE(Exec({.out = StringSink(out_)}));
  EXPECT_EQ(server_->last_target(),
            "/api/v1/namespaces/ns/pods/web-0/exec?container=c%201&stdout=true&command=sh&"
            "command=-c&command=a%26b%3Dc");
  EXPECT_EQ(server_->last_authorization(), "Bearer secret");
  EXPECT_TRUE(
      MakeExecutor().Attach({.namespace_ = "ns", .pod = "p"},
                            {.in = StringSource(""), .out = StringSink(out_), .tty = true}));
  EXPECT_EQ(server_->last_target(),
            "/api/v1/namespaces/ns/pods/p/attach?stdin=true&stdout=true&tty=true");
}

TEST_F(ExecutorTest, ExitCodesAreNoErrors) {
  Serve([](ServerConnection& connection) {
    const std::string status = kExit3;
    connection.Write("\3" + status.substr(0, 20));
    connection.Write("\3" + status.substr(20));
    connection.Close(1000);
  });
  const auto exit = Exec({.out = StringSink(out_)});
  ASSERT_TRUE(exit) << exit.error().ToString();
  EXPECT_EQ(exit->code, 3);
  EXPECT_EQ(exit->message, "command terminated with exit code 3");
}

TEST_F(ExecutorTest, OtherFailuresAreTheServersStatus) {
  Serve([](ServerConnection& connection) {
    connection.Write(
        "\3{\"status\":\"Failure\",\"message\":\"no such container\",\"reason\":\"NotFound\","
        "\"code\":404}");
    connection.Close(1000);
  });
  const auto exit = Exec({.out = StringSink(out_)});
  ASSERT_FALSE(exit);
  EXPECT_EQ(exit.error().reason, Reason::kNotFound);
  EXPECT_EQ(exit.error().message, "no such container");
}

TEST_F(ExecutorTest, RefusedUpgradeGivesTheServersStatus) {
  Serve({.refuse = {.code = 403,
                    .content_type = "application/json",
                    .body = R"({"kind":"Status","apiVersion":"v1","status":"Failure",)"
                            R"("message":"pods \"web-0\" is forbidden","reason":"Forbidden",)"
                            R"("code":403})"}});
  const auto exit = Exec({.out = StringSink(out_)});
  ASSERT_FALSE(exit);
  EXPECT_EQ(exit.error().reason, Reason::kForbidden);
  EXPECT_EQ(exit.error().code, 403);
  EXPECT_EQ(exit.error().message, "pods \"web-0\" is forbidden");
}

TEST_F(ExecutorTest, OldProtocolsAreRefused) {
  Serve({.protocol = "v4.channel.k8s.io"});
  const auto exit = Exec({.out = StringSink(out_)});
  ASSERT_FALSE(exit);
  EXPECT_THAT(exit.error().message, AllOf(HasSubstr("does not speak v5.channel.k8s.io"),
                                          HasSubstr("\"v4.channel.k8s.io\"")));
}

TEST_F(ExecutorTest, EndWithoutAStatusIsAnError) {
  Serve([](ServerConnection& connection) {
    connection.Write("\1out");
    connection.Close(1000);
  });
  const auto exit = Exec({.out = StringSink(out_)});
  ASSERT_FALSE(exit);
  EXPECT_EQ(exit.error().reason, Reason::kUnavailable);
  EXPECT_THAT(exit.error().message, HasSubstr("before the command's exit status"));
  EXPECT_EQ(out_, "out");
}

TEST_F(ExecutorTest, CloseCodesAreReported) {
  Serve([](ServerConnection& connection) { connection.Close(1011, "internal trouble"); });
  const auto exit = Exec({.out = StringSink(out_)});
  ASSERT_FALSE(exit);
  EXPECT_THAT(exit.error().message, HasSubstr("closed with code 1011: internal trouble"));
}

TEST_F(ExecutorTest, ACloseWithoutACodeIsAnEndInOrder) {
  Serve({.script =
             [](ServerConnection& connection) {
               connection.Write(Bytes({0, 0x90, 0x1f}) + "all");
               connection.Close(0);
             },
         .protocol = "v4.channel.k8s.io"});
  const auto done = MakeExecutor().Forward(kTarget, 8080, {}, StringSink(out_));
  EXPECT_TRUE(done) << done.error().ToString();
  EXPECT_EQ(out_, "all");
  Serve([](ServerConnection& connection) { connection.Close(0); });
  const auto exit = Exec({.out = StringSink(out_)});
  ASSERT_FALSE(exit);
  EXPECT_THAT(exit.error().message, HasSubstr("before the command's exit status"));
}

TEST_F(ExecutorTest, ACloseIsTheEndThoughTheServerKeepsTheConnection) {
  silence_timeout_ = std::chrono::milliseconds(700);  // less than it has for the connection
  std::latch over(1);
  Serve({.script =
             [&over](ServerConnection& connection) {
               connection.Write(Bytes({0, 0x90, 0x1f}) + "all");
               connection.WriteBytes(Bytes({0x88, 0x02, 0x03, 0xe8}));  // 1000
               KX_AWAIT(over.try_wait());
             },
         .protocol = "v4.channel.k8s.io"});
  const auto done = MakeExecutor().Forward(kTarget, 8080, {}, StringSink(out_));
  over.count_down();
  server_.reset();  // It uses what is declared here.
  EXPECT_TRUE(done) << done.error().ToString();
  EXPECT_EQ(out_, "all");
}

TEST_F(ExecutorTest, BrokenFramesAndConnectionsAreErrors) {
  const std::vector<std::string> cases = {
      Bytes({0xff, 0x00}),              // reserved bits and opcode
      Bytes({0x82, 0x85, 0, 0, 0, 0}),  // a masked frame from a server
      Bytes({0x82, 0x7e, 0x00}),        // cut off
      Bytes({0x80, 0x01, 0x61}),        // a continuation of nothing
      Bytes({0x88, 0x01, 0x03}),        // half a close code
      "",
  };
  for (const std::string& bytes : cases) {
    Serve([bytes](ServerConnection& connection) { connection.WriteRaw(bytes); });
    const auto exit = Exec({.out = StringSink(out_)});
    ASSERT_FALSE(exit);
    EXPECT_EQ(exit.error().reason, Reason::kUnavailable) << exit.error().ToString();
  }
}

TEST_F(ExecutorTest, MessagesThatAreTooLongAreRefused) {
  Serve([](ServerConnection& connection) {
    connection.Write("\1" + std::string(65 << 10, 'x'));
    connection.AwaitPeer();
  });
  const auto exit = Exec({.out = StringSink(out_)});
  ASSERT_FALSE(exit);
  EXPECT_EQ(exit.error().reason, Reason::kUnavailable);
  EXPECT_EQ(out_, "");
}

TEST_F(ExecutorTest, MalformedStatusIsAnError) {
  Serve([](ServerConnection& connection) {
    connection.Write("\3not json");
    connection.Close(1000);
  });
  const auto exit = Exec({.out = StringSink(out_)});
  ASSERT_FALSE(exit);
  EXPECT_EQ(exit.error().reason, Reason::kMalformed);
}

TEST_F(ExecutorTest, SilentServersAreGivenUp) {
  silence_timeout_ = std::chrono::milliseconds(100);
  std::latch over(1);
  Serve([&over](ServerConnection&) {
    KX_AWAIT(over.try_wait());
  });  // Never reads, so pings go unanswered.
  const auto exit = Exec({.out = StringSink(out_)});
  over.count_down();
  server_.reset();  // It uses what is declared here.
  ASSERT_FALSE(exit);
  EXPECT_THAT(exit.error().message, HasSubstr("does not answer pings"));
}

TEST_F(ExecutorTest, ServersThatAnswerPingsAreNotSilent) {
  silence_timeout_ = std::chrono::seconds(2);
  int pings = 0;
  Serve([&pings](ServerConnection& connection) {
    EXPECT_TRUE(connection.Read());
    pings = connection.pings();
    connection.Write(std::string("\3") + kSuccess);
    connection.Close(1000);
  });
  // The first input comes when a silent server would have been given up.
  const Source late = [](std::span<char> buffer, const std::stop_token& stop) {
    base::Clock::Real().SleepFor(std::chrono::seconds(3), stop);
    return Result<std::size_t>(buffer.size());
  };
  const auto exit = Exec({.in = late, .out = StringSink(out_)});
  EXPECT_TRUE(exit) << exit.error().ToString();
  server_.reset();
  EXPECT_GT(pings, 1);
}

TEST_F(ExecutorTest, ServersThatTakeNoInputAreGivenUp) {
  write_timeout_ = std::chrono::milliseconds(100);
  std::latch over(1);
  Serve([&over](ServerConnection&) { KX_AWAIT(over.try_wait()); });
  const Source endless = [](std::span<char> buffer, const std::stop_token&) -> Result<std::size_t> {
    return buffer.size();
  };
  const auto exit = Exec({.in = endless, .out = StringSink(out_)});
  over.count_down();
  server_.reset();  // It uses what is declared here.
  ASSERT_FALSE(exit);
  EXPECT_THAT(exit.error().message, HasSubstr("accepts no more input"));
}

TEST_F(ExecutorTest, ASinkThatTakesItsTimeDoesNotHoldUpTheInput) {
  // Somebody who sends all before reading anything, and a command that answers at once.
  std::latch sink_waits(1);
  std::latch input_came(1);
  const std::string input(1 << 20, 'x');
  Serve([&](ServerConnection& connection) {
    connection.Write("\1early answer");
    std::size_t received = 0;
    while (received < input.size()) {
      const auto message = connection.Read();
      ASSERT_TRUE(message);
      received += message->size() - 1;
    }
    input_came.count_down();
    connection.Write(std::string("\3") + kSuccess);
    connection.Close(1000);
  });
  const Source late = [&, all = StringSource(input)](
                          std::span<char> buffer,
                          const std::stop_token& stop) -> Result<std::size_t> {
    KX_AWAIT(sink_waits.try_wait());
    return all(buffer, stop);
  };
  const Sink slow = [&](std::string_view bytes) -> Result<void> {
    out_ += bytes;
    sink_waits.count_down();
    KX_AWAIT(input_came.try_wait());
    return {};
  };
  const auto exit = Exec({.in = late, .out = slow});
  EXPECT_TRUE(exit) << exit.error().ToString();
  EXPECT_EQ(out_, "early answer");
  server_.reset();
}

TEST_F(ExecutorTest, ASinkThatTakesItsTimeIsNoSilenceOfTheServer) {
  silence_timeout_ = std::chrono::seconds(1);
  Serve([](ServerConnection& connection) {
    connection.Write("\1out");
    connection.Write(std::string("\3") + kSuccess);
    connection.Close(1000);
  });
  const Sink slow = [this](std::string_view) -> Result<void> {
    const base::TimePoint long_after = base::Clock::Real().Now() + 2 * silence_timeout_;
    KX_AWAIT(base::Clock::Real().Now() > long_after);
    return {};
  };
  const auto exit = Exec({.out = slow});
  EXPECT_TRUE(exit) << exit.error().ToString();
}

TEST_F(ExecutorTest, WhatASinkThrowsGoesOn) {
  Serve([](ServerConnection& connection) {
    connection.Write("\1out");
    connection.AwaitPeer();
  });
  EXPECT_THROW((void)Exec({.out = [](std::string_view) -> Result<void> {
                 throw std::runtime_error("cannot draw");
               }}),
               std::runtime_error);
}

TEST_F(ExecutorTest, StopEndsTheCallWhateverItWaitsFor) {
  std::stop_source stop;
  Serve([&stop](ServerConnection& connection) {
    stop.request_stop();
    connection.AwaitPeer();
  });
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const auto exit =
      Exec({.in = DescriptorSource(ends[0]), .out = StringSink(out_)}, stop.get_token());
  ASSERT_FALSE(exit);
  EXPECT_EQ(exit.error().reason, Reason::kCancelled);
  ::close(ends[0]);
  ::close(ends[1]);
  const auto again = Exec({.out = StringSink(out_)}, stop.get_token());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().reason, Reason::kCancelled);
  server_.reset();
}

TEST_F(ExecutorTest, ErrorsOfSinksAreReturned) {
  Serve([](ServerConnection& connection) {
    connection.Write("\1out");
    connection.AwaitPeer();
  });
  const auto exit = Exec({.out = [](std::string_view) -> Result<void> {
    return Fail(Reason::kInternalError, "disk full");
  }});
  ASSERT_FALSE(exit);
  EXPECT_EQ(exit.error().message, "disk full");
}

TEST_F(ExecutorTest, TerminalSizesAreTold) {
  const auto sizes = std::make_shared<TerminalSizes>();
  std::string first;
  std::string second;
  Serve([&](ServerConnection& connection) {
    first = connection.Read().value_or("");
    sizes->Set({.width = 132, .height = 50});
    second = connection.Read().value_or("");
    connection.Write(std::string("\3") + kSuccess);
    connection.Close(1000);
  });
  sizes->Set({.width = 80, .height = 25});
  const auto exit = Exec({.out = StringSink(out_), .tty = true, .sizes = sizes});
  EXPECT_TRUE(exit) << exit.error().ToString();
  server_.reset();
  EXPECT_EQ(first, "\4{\"Width\":80,\"Height\":25}");
  EXPECT_EQ(second, "\4{\"Width\":132,\"Height\":50}");
}

TEST_F(ExecutorTest, BigStreamsGoBothWays) {
  Serve([](ServerConnection& connection) {
    while (auto message = connection.Read()) {
      if (*message == Bytes({255, 0})) {
        break;
      }
      connection.Write("\1" + message->substr(1));
    }
    connection.Write(std::string("\3") + kSuccess);
    connection.Close(1000);
  });
  std::string text;
  for (int i = 0; i < 300000; ++i) {
    text += std::to_string(i) + "\n";
  }
  const auto exit = Exec({.in = StringSource(text), .out = StringSink(out_)});
  ASSERT_TRUE(exit) << exit.error().ToString();
  EXPECT_TRUE(out_ == text);
}

TEST_F(ExecutorTest, SpeaksTls) {
  const rest::testing::CertificateAuthority authority("ca");
  const auto issued = authority.Issue({.alternative_names = "IP:127.0.0.1"});
  ca_data_ = authority.certificate();
  Serve({.script =
             [](ServerConnection& connection) {
               connection.Write("\1out");
               connection.Write(std::string("\3") + kExit3);
               connection.Close(1000);
             },
         .certificate = issued.certificate,
         .key = issued.key});
  const auto exit = Exec({.out = StringSink(out_)});
  ASSERT_TRUE(exit) << exit.error().ToString();
  EXPECT_EQ(exit->code, 3);
  EXPECT_EQ(out_, "out");
}

TEST_F(ExecutorTest, UntrustedServersGetNothing) {
  const rest::testing::CertificateAuthority authority("ca");
  const rest::testing::CertificateAuthority other("other");
  const auto issued = authority.Issue({.alternative_names = "IP:127.0.0.1"});
  ca_data_ = other.certificate();
  Serve({.certificate = issued.certificate, .key = issued.key});
  const auto exit = Exec({.out = StringSink(out_)});
  ASSERT_FALSE(exit);
  EXPECT_EQ(exit.error().reason, Reason::kUnavailable);
  EXPECT_THAT(exit.error().message, HasSubstr("TLS: "));
  EXPECT_EQ(server_->last_authorization(), "");
}

TEST_F(ExecutorTest, TheTimesMayHaveNoLimit) {
  Serve([](ServerConnection& connection) {
    connection.Write("\1out");
    connection.Write(std::string("\3") + kSuccess);
    connection.Close(1000);
  });
  constexpr auto kNone = std::chrono::milliseconds::max();
  const Executor executor(client_, {.connect_timeout = kNone,
                                    .ping_interval = kNone,
                                    .silence_timeout = kNone,
                                    .write_timeout = kNone});
  const auto exit = executor.Exec(kTarget, {"true"}, {.out = StringSink(out_)});
  EXPECT_TRUE(exit) << exit.error().ToString();
  EXPECT_EQ(out_, "out");
}

TEST_F(ExecutorTest, NobodyListens) {
  Serve([](ServerConnection&) {});
  server_.reset();
  const auto exit = Exec({.out = StringSink(out_)});
  ASSERT_FALSE(exit);
  EXPECT_EQ(exit.error().reason, Reason::kUnavailable);
  EXPECT_THAT(exit.error().message, HasSubstr("connect to 127.0.0.1:"));
}

TEST_F(ExecutorTest, BadArgumentsAreRefusedAtOnce) {
  Serve([](ServerConnection&) {});
  const Executor executor = MakeExecutor();
  EXPECT_EQ(executor.Exec(kTarget, {}, {.out = StringSink(out_)}).error().reason,
            Reason::kBadRequest);
  EXPECT_EQ(executor.Exec(kTarget, {"a"}, {}).error().reason, Reason::kBadRequest);
  EXPECT_EQ(
      executor.Attach({.namespace_ = "n", .pod = "../x"}, {.out = StringSink(out_)}).error().reason,
      Reason::kBadRequest);
}

TEST_F(ExecutorTest, ForwardsAPort) {
  Serve({.script =
             [](ServerConnection& connection) {
               connection.Write(Bytes({0, 0x90, 0x1f}));
               connection.Write(Bytes({1, 0x90}));
               connection.Write(Bytes({1, 0x1f}));
               const auto message = connection.Read();
               connection.Write(Bytes({0}) + "echo " + message.value_or("").substr(1));
               connection.Close(1000);
             },
         .protocol = "v4.channel.k8s.io"});
  const auto done = MakeExecutor().Forward(kTarget, 8080, StringSource("hello"), StringSink(out_));
  EXPECT_TRUE(done) << done.error().ToString();
  EXPECT_EQ(out_, "echo hello");
  EXPECT_EQ(server_->last_target(), "/api/v1/namespaces/ns/pods/web-0/portforward?ports=8080");
}

TEST_F(ExecutorTest, AForwardedPortMayTakeItsTimeWithItsInput) {
  silence_timeout_ = std::chrono::milliseconds(200);
  write_timeout_ = std::chrono::milliseconds(100);
  // With the large one even the client cannot write on; the small one waits in the server's system.
  for (const std::size_t size : {std::size_t{1}, std::size_t{64 << 20}}) {
    Serve({.script =
               [size, this](ServerConnection& connection) {
                 connection.Write(Bytes({0, 0x90, 0x1f}));
                 const base::TimePoint late = base::Clock::Real().Now() + 5 * silence_timeout_;
                 KX_AWAIT(base::Clock::Real().Now() > late);
                 std::size_t received = 0;
                 while (received < size) {
                   const auto message = connection.Read();
                   ASSERT_TRUE(message) << "after " << received << " bytes";
                   received += message->size() - 1;
                 }
                 connection.Write(Bytes({0}) + "thanks");
                 connection.Close(1000);
               },
           .protocol = "v4.channel.k8s.io"});
    out_.clear();
    const auto done = MakeExecutor().Forward(kTarget, 8080, StringSource(std::string(size, 'x')),
                                             StringSink(out_));
    EXPECT_TRUE(done) << done.error().ToString();
    EXPECT_EQ(out_, "thanks");
  }
}

TEST_F(ExecutorTest, AForwardedPortThatOwesNothingAndIsSilentIsGivenUp) {
  silence_timeout_ = std::chrono::milliseconds(100);
  std::latch over(1);
  Serve({.script =
             [&over](ServerConnection& connection) {
               connection.Write(Bytes({0, 0x90, 0x1f}));
               KX_AWAIT(over.try_wait());
             },
         .protocol = "v4.channel.k8s.io"});
  const auto done = MakeExecutor().Forward(kTarget, 8080, {}, StringSink(out_));
  over.count_down();
  server_.reset();  // It uses what is declared here.
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("does not answer pings"));
}

TEST_F(ExecutorTest, ForwardingFailsWithThePodsError) {
  Serve({.script =
             [](ServerConnection& connection) {
               connection.Write(Bytes({0, 0x90, 0x1f}));
               connection.Write(Bytes({1, 0x90, 0x1f}) + "connection refused");
               connection.AwaitPeer();
             },
         .protocol = "v4.channel.k8s.io"});
  const auto done = MakeExecutor().Forward(kTarget, 8080, {}, StringSink(out_));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "forward to port 8080: connection refused");
}

TEST_F(ExecutorTest, ALongErrorOfThePodIsCut) {
  Serve({.script =
             [](ServerConnection& connection) {
               connection.Write(Bytes({1, 0x90, 0x1f}) + std::string(32 << 10, 'x') + "end");
               connection.AwaitPeer();
             },
         .protocol = "v4.channel.k8s.io"});
  const auto done = MakeExecutor().Forward(kTarget, 8080, {}, StringSink(out_));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "forward to port 8080: " + std::string(4 << 10, 'x') + "...");
}

TEST_F(ExecutorTest, ForwardingEndsWhenItsLocalSideBreaks) {
  Serve({.script =
             [](ServerConnection& connection) {
               connection.Write(Bytes({0, 0x90, 0x1f}));
               connection.Write(Bytes({1, 0x90, 0x1f}));
               connection.AwaitPeer();  // a database, which keeps its side open
             },
         .protocol = "v4.channel.k8s.io"});
  const Source reset = [](std::span<char>, const std::stop_token&) -> Result<std::size_t> {
    return Fail(Reason::kUnavailable, "connection reset by peer");
  };
  const auto done = MakeExecutor().Forward(kTarget, 8080, reset, StringSink(out_));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "input: connection reset by peer");
}

TEST_F(ExecutorTest, WithoutThreadsACallIsAnError) {
  if constexpr (!base::testing::ScarceThreads::kWorks) {
    GTEST_SKIP();
  }
  Serve([](ServerConnection& /*server*/) {});
  const Sink ignore = [](std::string_view /*bytes*/) { return Result<void>(); };
  const Streams streams{.in = StringSource("a"),
                        .out = ignore,
                        .tty = true,
                        .sizes = std::make_shared<TerminalSizes>()};
  // For the input, the sizes and the network.
  for (const int left : {0, 1, 2}) {
    const base::testing::ScarceThreads scarce(left);
    const auto exit = Exec(streams);
    ASSERT_FALSE(exit);
    EXPECT_EQ(exit.error().reason, Reason::kUnavailable);
    EXPECT_THAT(exit.error().message, HasSubstr("no thread is left")) << left;
  }
  Serve({.script = [](ServerConnection& /*server*/) {}, .protocol = "v4.channel.k8s.io"});
  const base::testing::ScarceThreads scarce(0);
  const auto forwarded = MakeExecutor().Forward(kTarget, 80, StringSource("a"), ignore);
  ASSERT_FALSE(forwarded);
  EXPECT_THAT(forwarded.error().message, HasSubstr("no thread is left"));
}

}  // namespace
}  // namespace kubexx::remotecommand
