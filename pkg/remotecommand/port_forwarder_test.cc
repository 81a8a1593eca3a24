#include "kubexx/remotecommand/port_forwarder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/types.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <latch>
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
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/few_descriptors.h"
#include "kubexx/base/testing/scarce_memory/scarce_memory.h"
#include "kubexx/base/testing/scarce_threads/scarce_threads.h"
#include "kubexx/logging/testing/capture.h"
#include "kubexx/remotecommand/internal/tcp_listener.h"
#include "kubexx/remotecommand/testing/at_rest.h"
#include "kubexx/remotecommand/testing/local_client.h"
#include "kubexx/remotecommand/testing/web_socket_server.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/rest/testing/client.h"

namespace kubexx::remotecommand {
namespace {

using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;
using base::testing::FewDescriptors;
using std::chrono::milliseconds;
using ::testing::AllOf;
using testing::AllOthersSleep;
using ::testing::HasSubstr;
using testing::LocalClient;
using testing::ServerConnection;
using testing::WebSocketServer;

const Target kPod{.namespace_ = "ns", .pod = "web-0"};

std::string Port(std::uint16_t port) {
  return {static_cast<char>(port & 0xff), static_cast<char>(port >> 8)};
}

std::uint16_t RemotePort(const ServerConnection& connection) {
  const std::string& target = connection.target();
  std::uint16_t port = 0;
  const std::size_t at = target.rfind('=') + 1;
  std::from_chars(target.data() + at, target.data() + target.size(), port);
  return port;
}

/// What a kubelet sends first.
std::uint16_t Begin(ServerConnection& connection) {
  const std::uint16_t port = RemotePort(connection);
  connection.Write('\0' + Port(port));
  connection.Write('\1' + Port(port));
  return port;
}

/// The data of a message of a client.
std::string Data(const std::string& message) { return message.substr(1); }

void Write(ServerConnection& connection, std::string_view data) {
  connection.Write('\0' + std::string(data));
}

/// A pod that says which port was reached, and then everything that it hears.
void Echo(ServerConnection& connection) {
  Write(connection, std::to_string(Begin(connection)) + ":");
  while (auto message = connection.Read()) {
    Write(connection, Data(*message));
  }
}

class PortForwarderTest : public ::testing::Test {
 protected:
  ~PortForwarderTest() override { Stop(); }

  void Serve(WebSocketServer::Options options) {
    options.protocol = "v4.channel.k8s.io";
    server_ = std::make_unique<WebSocketServer>(std::move(options));
    client_ = rest::testing::NewClient(server_->Url());
  }
  void Serve(WebSocketServer::Script script) {
    Serve({.script = std::move(script), .at_once = true});
  }

  /// Starts a forwarder to `remotes`, from any local ports.
  void Forward(const std::vector<std::uint16_t>& remotes, PortForwarder::Options options = {}) {
    std::vector<ForwardedPort> ports;
    for (const std::uint16_t remote : remotes) {
      ports.push_back({.local = 0, .remote = remote});
    }
    if (!options.on_error) {
      options.on_error = [this](const ForwardedPort& port, const Status& error) {
        base::MutexLock lock(mu_);
        errors_.push_back(std::to_string(port.remote) + ": " + error.ToString());
      };
    }
    auto forwarder = PortForwarder::New(Executor(client_), kPod, ports, std::move(options));
    ASSERT_TRUE(forwarder) << forwarder.error().ToString();
    forwarder_ = *std::move(forwarder);
    runner_ =
        std::jthread([this](const std::stop_token& stop) { result_ = forwarder_->Run(stop); });
  }

  LocalClient Connect(std::size_t index = 0, int receive_buffer = 0) const {
    return LocalClient(forwarder_->ports()[index].local, receive_buffer);
  }

  /// Ends the forwarder, then the server, which uses what the tests declare.
  void Stop() {
    runner_ = {};
    EXPECT_TRUE(result_) << result_.error().ToString();
    forwarder_.reset();
    server_.reset();
  }

  std::vector<std::string> errors() const {
    base::MutexLock lock(mu_);
    return errors_;
  }

  std::unique_ptr<WebSocketServer> server_;
  std::shared_ptr<rest::RESTClient> client_;
  std::unique_ptr<PortForwarder> forwarder_;
  Result<void> result_;
  mutable base::Mutex mu_;
  std::vector<std::string> errors_ KX_GUARDED_BY(mu_);
  std::jthread runner_;
};

TEST_F(PortForwarderTest, CarriesAConnectionToThePort) {
  Serve(Echo);
  Forward({80});
  LocalClient client = Connect();
  client.Send("hello");
  EXPECT_EQ(client.Read(8), "80:hello");
  EXPECT_EQ(server_->last_target(), "/api/v1/namespaces/ns/pods/web-0/portforward?ports=80");
  EXPECT_EQ(errors(), std::vector<std::string>());
}

TEST_F(PortForwarderTest, CarriesSeveralConnectionsAtATimeToSeveralPorts) {
  std::latch all(3);
  Serve([&all](ServerConnection& connection) {
    all.count_down();
    KX_AWAIT(all.try_wait());  // Nobody gets on before all are here.
    Echo(connection);
  });
  Forward({80, 443});
  LocalClient first = Connect(0);
  LocalClient second = Connect(1);
  LocalClient third = Connect(0);
  first.Send("a");
  second.Send("b");
  third.Send("c");
  EXPECT_EQ(third.Read(4), "80:c");
  EXPECT_EQ(second.Read(5), "443:b");
  EXPECT_EQ(first.Read(4), "80:a");
}

TEST_F(PortForwarderTest, CarriesALotBothWays) {
  Serve(Echo);
  Forward({80});
  LocalClient client = Connect();
  std::string text;
  for (int i = 0; i < 200'000; ++i) {
    text += std::to_string(i) + "\n";
  }
  std::jthread sender([&client, rest = std::string_view(text)]() mutable {
    base::testing::Patience patience("all to be sent");
    while (!rest.empty()) {
      const ssize_t sent = client.Offer(rest);
      if (sent > 0) {
        rest.remove_prefix(static_cast<std::size_t>(sent));
      } else {
        patience.Pause(rest.size());
      }
    }
  });
  EXPECT_TRUE(client.Read(text.size() + 3) == "80:" + text);
}

TEST_F(PortForwarderTest, AConnectionThatFailsIsResetAndDoesNotEndTheOthers) {
  Serve([](ServerConnection& connection) {
    if (RemotePort(connection) == 80) {
      return Echo(connection);
    }
    const std::uint16_t port = Begin(connection);
    Write(connection, "part of an answer");
    connection.Write('\1' + std::string("connection refused"));
    EXPECT_EQ(port, 81);
    connection.AwaitPeer();
  });
  Forward({80, 81});
  LocalClient fine = Connect(0);
  LocalClient refused = Connect(1);
  EXPECT_EQ(refused.ReadAll(), "part of an answer");
  EXPECT_EQ(refused.ended, "reset");
  KX_AWAIT_EQ(errors().size(), 1U);
  EXPECT_EQ(errors().front(), "81: Unavailable: forward to port 81: connection refused");
  fine.Send("still here");
  EXPECT_EQ(fine.Read(13), "80:still here");
}

TEST_F(PortForwarderTest, TheServersRefusalIsTold) {
  Serve({.refuse = {.code = 404,
                    .content_type = "application/json",
                    .body = R"({"kind":"Status","apiVersion":"v1","status":"Failure",)"
                            R"("message":"pods \"web-0\" not found","reason":"NotFound",)"
                            R"("code":404})"}});
  Forward({80});
  LocalClient client = Connect();
  EXPECT_EQ(client.ReadAll(), "");
  EXPECT_EQ(client.ended, "reset");
  KX_AWAIT_EQ(errors().size(), 1U);
  EXPECT_EQ(errors().front(), "80: NotFound: pods \"web-0\" not found");
}

TEST_F(PortForwarderTest, AConnectionToTheServerThatBreaksIsTold) {
  Serve([](ServerConnection& connection) {
    Begin(connection);
    Write(connection, "part");
    connection.WriteRaw("");
  });
  Forward({80});
  LocalClient client = Connect();
  EXPECT_EQ(client.ReadAll(), "part");
  EXPECT_EQ(client.ended, "reset");
  KX_AWAIT_EQ(errors().size(), 1U);
  EXPECT_THAT(errors().front(), HasSubstr("connection broke"));
}

TEST_F(PortForwarderTest, WithoutOnErrorTheLogTellsAndWhatItThrowsIsLogged) {
  const logging::testing::Capture log;
  Serve({.refuse = {.code = 403, .content_type = "text/plain", .body = "no"}});
  auto quiet = PortForwarder::New(Executor(client_), kPod, {{.local = 0, .remote = 80}});
  ASSERT_TRUE(quiet) << quiet.error().ToString();
  std::jthread runner([&](const std::stop_token& stop) { EXPECT_TRUE((*quiet)->Run(stop)); });
  (void)LocalClient((*quiet)->ports().front().local).ReadAll();
  KX_AWAIT_EQ(log.Count("A forwarded connection failed\" namespace=ns pod=web-0"), 1U);
  Forward({80}, {.on_error = [](const ForwardedPort&, const Status&) {
            throw std::runtime_error("cannot draw");
          }});
  for (const std::size_t count : {1U, 2U}) {
    (void)Connect().ReadAll();
    KX_AWAIT_EQ(log.Count("cannot draw"), count);
  }
}

TEST_F(PortForwarderTest, TheEndOfThePodIsTheEndOfTheConnection) {
  Serve([](ServerConnection& connection) {
    Begin(connection);
    Write(connection, "good bye");
    connection.Close(1000);
  });
  Forward({80});
  LocalClient client = Connect();
  EXPECT_EQ(client.ReadAll(), "good bye");
  EXPECT_EQ(client.ended, "in order");
  EXPECT_EQ(errors(), std::vector<std::string>());
}

TEST_F(PortForwarderTest, AnAnswerIsWholeThoughTheClientHasNotSentAll) {
  const std::string answer(1 << 20, 'x');
  Serve([&answer](ServerConnection& connection) {
    Begin(connection);
    EXPECT_TRUE(connection.Read());
    for (std::size_t at = 0; at < answer.size(); at += 32 << 10) {
      Write(connection, std::string_view(answer).substr(at, 32 << 10));
    }
    connection.Close(1000);
  });
  Forward({80});
  // It has room for a part of the answer, and reads when it has sent what nobody wants.
  LocalClient client = Connect(0, 4096);
  client.Send("begin");
  EXPECT_EQ(client.Read(10), answer.substr(0, 10));
  const std::string more(64 << 10, 'y');
  for (int i = 0; i < 1000 && client.Offer(more) > 0; ++i) {
  }
  EXPECT_EQ(client.ReadAll().size(), answer.size() - 10);
  EXPECT_EQ(client.ended, "in order");
}

TEST_F(PortForwarderTest, AClientThatHasEndedItsSideGetsTheAnswer) {
  std::latch ended(1);
  Serve([&ended](ServerConnection& connection) {
    Begin(connection);
    const auto question = connection.Read();
    KX_AWAIT(ended.try_wait());
    Write(connection, "answer to " + Data(question.value_or(" ")));
    connection.Close(1000);
  });
  Forward({80});
  LocalClient client = Connect();
  client.Send("question");
  client.EndSending();
  ended.count_down();
  EXPECT_EQ(client.ReadAll(), "answer to question");
  EXPECT_EQ(client.ended, "in order");
}

TEST_F(PortForwarderTest, AClientThatHasEndedItsSideIsGivenUpWhenThePodIsSilent) {
  std::latch gone(1);
  Serve([&gone](ServerConnection& connection) {
    Begin(connection);
    connection.AwaitPeer();
    gone.count_down();
  });
  const logging::testing::Capture log;
  Forward({80}, {.half_closed_timeout = milliseconds(50)});
  LocalClient client = Connect();
  client.EndSending();
  EXPECT_EQ(client.ReadAll(), "");
  EXPECT_EQ(client.ended, "reset");
  KX_AWAIT(gone.try_wait());
  KX_AWAIT_EQ(log.Count("A forwarded connection was given up\" namespace=ns pod=web-0"), 1U);
  EXPECT_EQ(errors(), std::vector<std::string>()) << "it was the client's own doing";
}

TEST_F(PortForwarderTest, AClientThatIsGoneEndsItsConnectionWithTheNextNews) {
  std::latch gone(1);
  std::latch over(1);
  Serve([&](ServerConnection& connection) {
    Begin(connection);
    KX_AWAIT(gone.try_wait());
    // The first is answered with a reset, and the second fails.
    Write(connection, "news");
    Write(connection, "more news");
    connection.AwaitPeer();
    over.count_down();
  });
  Forward({80});
  {
    const LocalClient client = Connect();
  }
  gone.count_down();
  KX_AWAIT(over.try_wait());
  EXPECT_EQ(errors(), std::vector<std::string>());
}

TEST_F(PortForwarderTest, NoMoreThanTheBoundAreCarriedAndTheOthersWait) {
  const logging::testing::Capture log;
  Serve(Echo);
  Forward({80, 81}, {.max_connections = 2, .half_closed_timeout = milliseconds(1)});
  auto first = std::make_unique<LocalClient>(forwarder_->ports()[0].local);
  LocalClient second = Connect(1);
  EXPECT_EQ(first->Read(3), "80:");
  EXPECT_EQ(second.Read(3), "81:");
  KX_AWAIT_EQ(log.Count("have to wait"), 1U);
  EXPECT_EQ(log.Count("reason=\"max_connections is reached\" max_connections=2"), 1U);
  LocalClient third = Connect(0);
  third.Send("c");
  second.Send("b");
  EXPECT_EQ(second.Read(1), "b");
  KX_AWAIT(AllOthersSleep());
  EXPECT_EQ(server_->requests(), 2);
  first.reset();
  EXPECT_EQ(third.Read(4), "80:c");
  EXPECT_EQ(server_->requests(), 3);
}

TEST_F(PortForwarderTest, AStopEndsWhateverAConnectionWaitsFor) {
  std::latch over(1);
  std::atomic<bool> holds = false;
  std::atomic<bool> being_made = false;
  Serve({.script =
             [&over](ServerConnection& connection) {
               Begin(connection);
               if (RemotePort(connection) == 80) {
                 const std::string much(32 << 10, 'x');
                 for (int i = 0; i < 1000 && !over.try_wait(); ++i) {
                   Write(connection, much);
                 }
               }
               KX_AWAIT(over.try_wait());  // a peer that has stalled
             },
         .at_once = true,
         .accepts =
             [&](const std::string&) {
               if (holds) {
                 being_made = true;
                 KX_AWAIT(over.try_wait());
               }
               return true;
             }});
  Forward({80, 81, 82, 83});
  LocalClient reads_nothing = Connect(0, 4096);
  LocalClient says_nothing = Connect(1);
  LocalClient has_ended = Connect(2);
  has_ended.EndSending();
  EXPECT_EQ(reads_nothing.Read(1), "x");
  KX_AWAIT_EQ(server_->requests(), 3);
  // One waits to write, one for its client, one for its pod, and one to be made.
  holds = true;
  LocalClient is_being_made = Connect(3);
  KX_AWAIT(being_made.load());
  KX_AWAIT(AllOthersSleep());
  runner_ = {};
  EXPECT_TRUE(result_);
  over.count_down();
  (void)reads_nothing.ReadAll();
  (void)says_nothing.ReadAll();
  (void)has_ended.ReadAll();
  (void)is_being_made.ReadAll();
  EXPECT_EQ(reads_nothing.ended, "reset");
  EXPECT_EQ(says_nothing.ended, "reset");
  EXPECT_EQ(has_ended.ended, "reset");
  EXPECT_EQ(is_being_made.ended, "reset");
  EXPECT_EQ(errors(), std::vector<std::string>()) << "a stop is no error";
  Stop();
}

TEST_F(PortForwarderTest, ConnectionsWaitForRunWhichMayBeCalledAgain) {
  Serve(Echo);
  Forward({80});
  EXPECT_EQ(Connect().Read(3), "80:");
  runner_ = {};
  LocalClient early = Connect();
  early.Send("early");
  runner_ = std::jthread([this](const std::stop_token& stop) { result_ = forwarder_->Run(stop); });
  EXPECT_EQ(early.Read(8), "80:early");
}

TEST_F(PortForwarderTest, WithoutThreadsAConnectionFailsAndTheNextIsCarried) {
  if constexpr (!base::testing::ScarceThreads::kWorks) {
    GTEST_SKIP();
  }
  Serve({.script = Echo});
  Forward({80});
  for (const int left : {0, 1, 2}) {
    const base::testing::ScarceThreads scarce(left);
    LocalClient client = Connect();
    (void)client.ReadAll();
    EXPECT_EQ(client.ended, "reset");
    KX_AWAIT_EQ(errors().size(), static_cast<std::size_t>(left) + 1);
    EXPECT_THAT(errors().back(), HasSubstr("Resource temporarily unavailable"));
  }
  LocalClient client = Connect();
  EXPECT_EQ(client.Read(3), "80:");
}

TEST_F(PortForwarderTest, AConnectionForWhichThereIsNoDescriptorWaits) {
  const logging::testing::Capture log;
  Serve(Echo);
  Forward({80});
  EXPECT_EQ(Connect().Read(3), "80:");  // What is opened once is open.
  KX_AWAIT(AllOthersSleep());
  std::optional<LocalClient> client;
  {
    const FewDescriptors one(1);
    client.emplace(forwarder_->ports().front().local);
    KX_AWAIT_EQ(log.Count("have to wait"), 1U);
    EXPECT_EQ(log.Count("reason=\"Too many open files\""), 1U);
    client->Send("a");
  }
  EXPECT_EQ(client->Read(4), "80:a");
  EXPECT_EQ(log.Count("have to wait"), 1U) << "it was told again at each try";
  EXPECT_EQ(errors(), std::vector<std::string>()) << "nothing has failed";
}

TEST_F(PortForwarderTest, WithoutMemoryAConnectionFailsAndTheOthersGoOn) {
  if constexpr (!base::testing::ScarceMemory::kWorks) {
    GTEST_SKIP();
  }
  Serve(Echo);
  Forward({80});
  LocalClient other = Connect();
  EXPECT_EQ(other.Read(3), "80:");
  {
    const base::testing::ScarceMemory scarce(runner_.get_id());
    LocalClient client = Connect();
    EXPECT_EQ(client.ReadAll(), "");
    EXPECT_EQ(client.ended, "reset");
    EXPECT_GT(scarce.failures(), 0);
  }
  other.Send("on");
  EXPECT_EQ(other.Read(2), "on");
  LocalClient next = Connect();
  EXPECT_EQ(next.Read(3), "80:");
}

TEST_F(PortForwarderTest, ListensOnTheAddressThatIsGiven) {
  Serve(Echo);
  Forward({80}, {.addresses = {"127.0.0.2"}});
  const int port = forwarder_->ports().front().local;
  const auto taken = PortForwarder::New(Executor(client_), kPod,
                                        {{.local = static_cast<std::uint16_t>(port), .remote = 80}},
                                        {.addresses = {"127.0.0.2"}});
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().reason, Reason::kUnavailable);
  EXPECT_EQ(taken.error().message, "forward ports: listen on port " + std::to_string(port) +
                                       " of 127.0.0.2: Address already in use");
  const auto name = PortForwarder::New(Executor(client_), kPod, {{.local = 0, .remote = 80}},
                                       {.addresses = {"web.test"}});
  ASSERT_FALSE(name);
  EXPECT_EQ(name.error().reason, Reason::kBadRequest);
  EXPECT_THAT(name.error().message, AllOf(HasSubstr("\"web.test\""), HasSubstr("127.0.0.1")));
}

TEST_F(PortForwarderTest, ListensOnSeveralAddressesAtTheSamePort) {
  Serve(Echo);
  Forward({80, 81}, {.addresses = {"127.0.0.1", "127.0.0.2"}});
  EXPECT_EQ(Connect(0).Read(3), "80:");
  EXPECT_EQ(Connect(1).Read(3), "81:");
  const auto taken = PortForwarder::New(Executor(client_), kPod,
                                        {{.local = forwarder_->ports()[1].local, .remote = 80}},
                                        {.addresses = {"127.0.0.2"}});
  EXPECT_FALSE(taken);
}

TEST_F(PortForwarderTest, LocalhostIsTheOneOfIpv6AsWell) {
  if (!internal::TcpListener::New("::1", 0)) {
    GTEST_SKIP() << "this system has no ::1";
  }
  Serve(Echo);
  Forward({80, 81});
  EXPECT_EQ(LocalClient::OverIpv6(forwarder_->ports()[1].local).Read(3), "81:");
  EXPECT_EQ(Connect(1).Read(3), "81:");
}

TEST_F(PortForwarderTest, BadArgumentsAreRefusedAtOnce) {
  const Executor executor(rest::testing::NewClient("http://127.0.0.1:1"));
  EXPECT_EQ(PortForwarder::New(executor, kPod, {}).error().reason, Reason::kBadRequest);
  for (const Target& nobody :
       {Target{.namespace_ = "ns", .pod = ""}, Target{.namespace_ = "", .pod = "web-0"},
        Target{.namespace_ = "ns", .pod = "../web-0"}}) {
    const auto refused = PortForwarder::New(executor, nobody, {{.local = 0, .remote = 1}});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, Reason::kBadRequest);
    EXPECT_THAT(refused.error().message, HasSubstr("forward ports: "));
  }
  EXPECT_EQ(PortForwarder::New(executor, kPod, {{.local = 0, .remote = 0}}).error().reason,
            Reason::kBadRequest);
  EXPECT_EQ(PortForwarder::New(executor, kPod, {{.local = 0, .remote = 1}}, {.max_connections = 0})
                .error()
                .reason,
            Reason::kBadRequest);
  EXPECT_EQ(PortForwarder::New(executor, kPod, {{.local = 0, .remote = 1}},
                               {.half_closed_timeout = milliseconds(-1)})
                .error()
                .message,
            "forward ports: half_closed_timeout is below zero");
  EXPECT_EQ(PortForwarder::New(executor, kPod, {{.local = 0, .remote = 1}}, {.addresses = {}})
                .error()
                .message,
            "forward ports: no address to listen on is given");
}

TEST(ForwardedPortTest, PortsAreParsedAsKubectlDoes) {
  EXPECT_EQ(ForwardedPort::Parse("8080").value(), (ForwardedPort{.local = 8080, .remote = 8080}));
  EXPECT_EQ(ForwardedPort::Parse("8080:80").value(), (ForwardedPort{.local = 8080, .remote = 80}));
  EXPECT_EQ(ForwardedPort::Parse(":80").value(), (ForwardedPort{.local = 0, .remote = 80}));
  EXPECT_EQ(ForwardedPort::Parse("0:80").value(), (ForwardedPort{.local = 0, .remote = 80}));
  EXPECT_EQ(ForwardedPort::Parse("65535").value().local, 65535);
  for (const char* text : {"", ":", "80:", "0", "80:0", "65536", "-1", "+80", " 80", "80 ", "a",
                           "1:2:3", "80:http", "0x50"}) {
    const auto port = ForwardedPort::Parse(text);
    ASSERT_FALSE(port) << text;
    EXPECT_EQ(port.error().reason, Reason::kBadRequest);
    EXPECT_THAT(port.error().message, HasSubstr("\"" + std::string(text) + "\""));
  }
}

}  // namespace
}  // namespace kubexx::remotecommand
