// Bodies that are made while they are sent, and WebSockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <latch>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/http/server.h"
#include "kubexx/http/testing/server_fixture.h"

namespace kubexx::http {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using testing::Exchange;
using testing::Get;
using ::testing::HasSubstr;
using testing::Local;
using testing::RawConnection;
using ::testing::StartsWith;

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
  void AwaitClosed() { KX_AWAIT(closed_.try_wait()); }

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

/// The timer of an established connection between two ports of 127.0.0.1 as proc(5) has it: "02" is
/// that of keep-alive. "" when there is no such connection.
std::string TimerOf(std::uint16_t own_port, std::uint16_t peer_port) {
  std::ifstream table("/proc/net/tcp");
  std::string line;
  while (std::getline(table, line)) {
    std::istringstream fields(line);
    std::string slot;
    std::string own;
    std::string peer;
    std::string state;
    std::string queues;
    std::string timer;
    fields >> slot >> own >> peer >> state >> queues >> timer;
    const auto port_of = [](const std::string& address) {
      return std::strtoul(address.substr(address.find(':') + 1).c_str(), nullptr, 16);
    };
    if (state == "01" && port_of(own) == own_port && port_of(peer) == peer_port) {
      return timer.substr(0, timer.find(':'));
    }
  }
  return {};
}

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
  RawConnection client(server_.port());
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
  std::vector<RawConnection> clients;
  for (int i = 0; i < kStreams; ++i) {
    clients.emplace_back(server.port()).Send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  }
  KX_AWAIT(begun.try_wait());
  // The second request is there when the first has been answered.
  const std::string answers =
      Exchange(server,
               "GET /wake HTTP/1.1\r\nHost: x\r\n\r\n"
               "GET /taken HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const int taken = std::atoi(answers.substr(answers.rfind('\n') + 1).c_str());
  EXPECT_GT(taken, 0);
  EXPECT_LT(taken, kStreams);
  KX_AWAIT(Get(server, "/taken").ends_with("\n" + std::to_string(kStreams)));  // None is left out.
}

TEST_F(StreamTest, AWebSocketGetsMessages) {
  RawConnection client(server_.port());
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

// The answer to the handshake is a SHA-1. Any client could end the program by asking for one.
TEST_F(StreamTest, WithoutSha1ARequestForAWebSocketIsAnOrdinaryOne) {
  const std::string upgrade =
      "GET /stream HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
  ASSERT_EQ(EVP_default_properties_enable_fips(nullptr, 1), 1);
  std::string header;
  {
    RawConnection client(server_.port());
    client.Send(upgrade);
    header = client.ReadUntil("\r\n\r\n");
  }
  ASSERT_EQ(EVP_default_properties_enable_fips(nullptr, 0), 1);
  EXPECT_THAT(header, AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("chunked")));
  stream_->AwaitClosed();
}

TEST_F(StreamTest, AWebSocketHearsWhatCameWithItsRequest) {
  RawConnection client(server_.port());
  client.Send(
      "GET /stream HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n" +
      std::string("\x89\x81\x00\x00\x00\x00p", 7));
  EXPECT_THAT(client.ReadUntil("\x8a\x01p"), StartsWith("HTTP/1.1 101 "));
}

TEST_F(StreamTest, TheEndOfAStreamIsNotLostToWhatNobodyReads) {
  stream_->Feed(std::string(1 << 20, 'x'));
  stream_->End();
  RawConnection client(server_.port());
  client.Send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n" + std::string(200'000, 'y'));
  EXPECT_THAT(client.ReadAll(), EndsWith("\r\n0\r\n\r\n"));
  stream_->AwaitClosed();
}

TEST_F(StreamTest, AClientThatGoesAwayIsNoticed) {
  {
    RawConnection client(server_.port());
    client.Send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
    client.ReadUntil("chunked");
  }
  stream_->AwaitClosed();
}

TEST_F(StreamTest, StoppingEndsTheStream) {
  RawConnection client(server_.port());
  client.Send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  client.ReadUntil("chunked");
  server_.Stop();
  stream_->AwaitClosed();
  stream_->Feed("late");
}

TEST_F(StreamTest, DrainingEndsTheStreamInOrder) {
  RawConnection client(server_.port());
  client.Send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  client.ReadUntil("chunked");
  std::jthread drains([this] { server_.Drain(std::chrono::minutes(1)); });
  EXPECT_THAT(client.ReadAll(), EndsWith("0\r\n\r\n"));
  stream_->AwaitClosed();
  stream_->Feed("late");
}

/// A client whose machine has lost its network says nothing, and nobody may write to it for long.
TEST_F(StreamTest, TheSystemLooksWhetherClientsAreStillThere) {
  RawConnection client(server_.port());
  client.Send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  client.ReadUntil("chunked");
  KX_AWAIT(TimerOf(server_.port(), client.port()) == "02");
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
