#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <latch>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::rest {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using testing::FakeConnection;
using testing::FakeServer;
using ::testing::HasSubstr;
using testing::NewClient;
using testing::WithoutDeadlines;

constexpr auto kIgnoreHead = [](const Request::StreamHead&) -> Result<void> { return {}; };
constexpr auto kIgnoreChunk = [](std::string_view) -> Result<void> { return {}; };

// Collects everything that a stream brings.
struct Outcome {
  Result<void> result{};
  std::optional<Request::StreamHead> head{};
  std::string body{};
};

Outcome Collect(RESTClient& client, std::stop_token stop = {}) {
  Outcome out;
  out.result = client.Get().AbsPath("/stream").MaxRetries(0).Stream(
      [&out](const Request::StreamHead& head) -> Result<void> {
        out.head = head;
        return {};
      },
      [&out](std::string_view chunk) -> Result<void> {
        out.body += chunk;
        return {};
      },
      std::move(stop));
  return out;
}

std::size_t Entries(const char* directory) {
  const auto entries = std::filesystem::directory_iterator(directory);
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

// The number of bytes that the kernel may hold for a connection, which is the sum of the largest
// buffers of its two sockets. In newer kernels the receiver's buffer alone may grow to 32 MiB.
std::size_t KernelBuffers() {
  std::size_t sum = 0;
  for (const char* name : {"/proc/sys/net/ipv4/tcp_rmem", "/proc/sys/net/ipv4/tcp_wmem"}) {
    std::ifstream file(name);
    std::size_t least = 0;
    std::size_t usual = 0;
    std::size_t most = 0;
    file >> least >> usual >> most;
    sum += most;
  }
  return std::max<std::size_t>(sum, 20U << 20);
}

TEST(StreamTest, DeliversChunksInOrderAndAtOnce) {
  // Each chunk is sent only when the one before it has been delivered, so no chunk may wait for a
  // later one.
  std::atomic<int> delivered = 0;
  FakeServer server([&delivered](FakeConnection& connection) {
    connection.ReadRequest();
    connection.RespondChunked(200, "application/vnd.kubernetes.protobuf;stream=watch");
    for (int i = 0; i < 20; ++i) {
      connection.WriteChunk("event" + std::to_string(i) + ";");
      KX_AWAIT_GT(delivered, i);
    }
    connection.EndChunks();
    connection.AwaitPeer();
  });
  const auto client = NewClient(server.Url());
  std::vector<std::string> chunks;
  std::optional<Request::StreamHead> head;
  const auto result = client->Get().AbsPath("/x").Stream(
      [&head](const Request::StreamHead& h) -> Result<void> {
        head = h;
        return {};
      },
      [&](std::string_view chunk) -> Result<void> {
        chunks.emplace_back(chunk);
        ++delivered;
        delivered.notify_all();
        return {};
      },
      {});
  ASSERT_TRUE(result) << result.error().ToString();
  ASSERT_TRUE(head.has_value());
  EXPECT_EQ(head->code, 200);
  EXPECT_EQ(head->encoding, codec::Encoding::kProtobuf);
  ASSERT_EQ(chunks.size(), 20U);
  EXPECT_EQ(chunks.front(), "event0;");
  EXPECT_EQ(chunks.back(), "event19;");
}

TEST(StreamTest, TheHeadTellsWhetherTheBodyHasSecrets) {
  for (const auto& [path, secret] :
       {std::pair("/api/v1/secrets", true), std::pair("/api/v1/namespaces/a/secrets", true),
        std::pair("/api/v1/pods", false)}) {
    FakeServer server([](FakeConnection& connection) {
      connection.ReadRequest();
      connection.RespondChunked(200, "application/json");
      connection.EndChunks();
      connection.AwaitPeer();
    });
    std::optional<Request::StreamHead> head;
    const auto result = NewClient(server.Url())
                            ->Get()
                            .AbsPath(path)
                            .Stream(
                                [&head](const Request::StreamHead& h) -> Result<void> {
                                  head = h;
                                  return {};
                                },
                                [](std::string_view) -> Result<void> { return {}; }, {});
    ASSERT_TRUE(result) << result.error().ToString();
    EXPECT_EQ(head->secret, secret) << path;
  }
}

TEST(StreamTest, LongBodiesArriveWhole) {
  // There are blocks below, around and far above the size of the buffer between the network and the
  // caller.
  std::string expected;
  std::vector<std::string> blocks;
  for (const std::size_t size : {1UL, 1000UL, 65535UL, 131072UL, 131073UL, 262143UL, 262144UL,
                                 262145UL, 3000000UL, 7UL, 262144UL, 1UL, 600000UL}) {
    std::string block(size, '\0');
    for (std::size_t i = 0; i < size; ++i) {
      block[i] = static_cast<char>('a' + (i * 7 + size) % 26);
    }
    expected += block;
    blocks.push_back(std::move(block));
  }
  FakeServer server([&](FakeConnection& connection) {
    while (auto request = connection.ReadRequest()) {
      if (request->target == "/stream") {
        connection.RespondChunked(200, "application/json");
        std::ranges::for_each(blocks,
                              [&](const std::string& block) { connection.WriteChunk(block); });
        connection.EndChunks();
      } else {
        connection.Respond(200, "application/json", expected);
      }
    }
  });
  const auto client = NewClient(server.Url());
  const Outcome chunked = Collect(*client);
  ASSERT_TRUE(chunked.result) << chunked.result.error().ToString();
  EXPECT_TRUE(chunked.body == expected);
  const auto counted = client->Get().AbsPath("/counted").Do();
  ASSERT_TRUE(counted) << counted.error().ToString();
  EXPECT_TRUE(counted->body == expected);
}

TEST(StreamTest, SlowSinkHoldsTheServerBack) {
  // The body is endless. The server may be ahead of the caller by the buffers between them, but no
  // further.
  std::atomic<std::size_t> sent = 0;
  std::latch gone(1);
  FakeServer server([&](FakeConnection& connection) {
    connection.ReadRequest();
    connection.RespondChunked(200, "application/json");
    const std::string block(64 * 1024, 'x');
    while (connection.WriteChunk(block)) {
      sent += block.size();
    }
    gone.count_down();
  });
  const auto client = NewClient(server.Url());
  std::size_t received = 0;
  std::size_t ahead = 0;
  const auto result = client->Get().AbsPath("/x").Stream(
      kIgnoreHead,
      [&](std::string_view chunk) -> Result<void> {
        received += chunk.size();
        const std::size_t now = sent.load();
        ahead = std::max(ahead, now > received ? now - received : 0);
        return received < (64U << 20) ? Result<void>() : Fail(Reason::kConflict, "enough");
      },
      {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().reason, Reason::kConflict);
  EXPECT_EQ(result.error().message, "enough") << "an error of the sink is returned as it is";
  EXPECT_LT(ahead, KernelBuffers() + (4U << 20)) << "kernel socket buffers and ours";
  KX_AWAIT(gone.try_wait());
}

TEST(StreamTest, HeadSinkErrorEndsIt) {
  FakeServer server([](FakeConnection& connection) {
    connection.ReadRequest();
    connection.RespondChunked(200, "application/json");
    connection.AwaitPeer();
  });
  const auto result = NewClient(server.Url())
                          ->Get()
                          .AbsPath("/x")
                          .Stream(
                              [](const Request::StreamHead&) -> Result<void> {
                                return Fail(Reason::kConflict, "no");
                              },
                              kIgnoreChunk, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "no");
}

struct BrokenCase {
  std::string name;
  std::function<void(FakeConnection&)> answer;
  std::string message;
  std::string body{};
};

class BrokenResponseTest : public ::testing::TestWithParam<BrokenCase> {};

TEST_P(BrokenResponseTest, IsUnavailable) {
  FakeServer server([](FakeConnection& connection) {
    connection.ReadRequest();
    GetParam().answer(connection);
  });
  const auto client = NewClient(server.Url());
  const Outcome outcome = Collect(*client);
  ASSERT_FALSE(outcome.result);
  EXPECT_EQ(outcome.result.error().reason, Reason::kUnavailable);
  EXPECT_THAT(outcome.result.error().message, HasSubstr(GetParam().message));
  EXPECT_THAT(outcome.result.error().message, HasSubstr("GET /stream: "));
  EXPECT_EQ(outcome.body, GetParam().body);
  const auto whole = client->Get().AbsPath("/stream").MaxRetries(0).Do();
  ASSERT_FALSE(whole);
  EXPECT_EQ(whole.error().reason, Reason::kUnavailable);
}

constexpr const char* kChunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

INSTANTIATE_TEST_SUITE_P(
    Table, BrokenResponseTest,
    ::testing::Values(
        BrokenCase{"ClosedBeforeResponse", [](FakeConnection&) {}, "closed before a response"},
        BrokenCase{"ResetBeforeResponse", [](FakeConnection& c) { c.Reset(); },
                   "closed before a response"},
        BrokenCase{"ClosedInHead",
                   [](FakeConnection& c) { c.Write("HTTP/1.1 200 OK\r\nContent-"); },
                   "closed before a response"},
        BrokenCase{"NotHttp", [](FakeConnection& c) { c.Write("SSH-2.0-OpenSSH_9.2\r\n\r\n"); },
                   "not HTTP"},
        BrokenCase{"BadStatusCode", [](FakeConnection& c) { c.Write("HTTP/1.1 abc OK\r\n\r\n"); },
                   "not HTTP"},
        BrokenCase{"ClosedBeforeFirstChunk", [](FakeConnection& c) { c.Write(kChunked); },
                   "in the middle"},
        BrokenCase{"ClosedBetweenChunks",
                   [](FakeConnection& c) { c.Write(std::string(kChunked) + "5\r\nhello\r\n"); },
                   "in the middle", "hello"},
        BrokenCase{"ClosedInChunk",
                   [](FakeConnection& c) { c.Write(std::string(kChunked) + "a\r\nhello"); },
                   "in the middle", "hello"},
        BrokenCase{"BadChunkSize",
                   [](FakeConnection& c) { c.Write(std::string(kChunked) + "xyz\r\nhello\r\n"); },
                   "malformed chunk"},
        BrokenCase{
            "HugeChunkSize",
            [](FakeConnection& c) { c.Write(std::string(kChunked) + "fffffffff\r\nhello\r\n"); },
            "malformed chunk"},
        BrokenCase{"NegativeChunkSize",
                   [](FakeConnection& c) { c.Write(std::string(kChunked) + "-1\r\nX"); },
                   "malformed chunk"},
        BrokenCase{
            "NegativeChunkSizeAfterAChunk",
            [](FakeConnection& c) { c.Write(std::string(kChunked) + "5\r\nhello\r\n-1\r\nX"); },
            "malformed chunk", "hello"},
        BrokenCase{"NegativeSizeOfAnEmptyChunk",
                   [](FakeConnection& c) { c.Write(std::string(kChunked) + "-2\r\n"); },
                   "malformed chunk"},
        BrokenCase{"NegativeChunkSizeThatAsksForMore",
                   [](FakeConnection& c) { c.Write(std::string(kChunked) + "-80000000\r\nhello"); },
                   "malformed chunk"},
        BrokenCase{"ShortBody",
                   [](FakeConnection& c) {
                     c.Write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello");
                   },
                   "in the middle", "hello"}),
    [](const auto& param) { return param.param.name; });

TEST(StreamTest, HugeHeadersAreRead) {
  FakeServer server([](FakeConnection& connection) {
    while (connection.ReadRequest()) {
      connection.Respond(200, "application/json", "{}", {{"X-Big", std::string(512 * 1024, 'h')}});
    }
  });
  const auto result = NewClient(server.Url())->Get().AbsPath("/x").Do();
  ASSERT_TRUE(result) << result.error().ToString();
  EXPECT_EQ(result->body, "{}");
}

TEST(StreamTest, EmptyResponsesEnd) {
  FakeServer server([](FakeConnection& connection) {
    while (auto request = connection.ReadRequest()) {
      connection.Write(request->target == "/204"
                           ? "HTTP/1.1 204 No Content\r\n\r\n"
                           : "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
    }
  });
  const auto client = NewClient(server.Url());
  for (const char* path : {"/204", "/chunked"}) {
    const auto result = client->Get().AbsPath(path).Do();
    ASSERT_TRUE(result) << result.error().ToString();
    EXPECT_EQ(result->body, "");
  }
}

TEST(StreamTest, StopWhileWaitingForTheHead) {
  std::latch waiting(1);
  FakeServer server([&waiting](FakeConnection& connection) {
    connection.ReadRequest();
    waiting.count_down();
    connection.AwaitPeer();
  });
  const auto client = NewClient(server.Url());
  Outcome outcome;
  std::jthread caller([&](std::stop_token stop) { outcome = Collect(*client, std::move(stop)); });
  KX_AWAIT(waiting.try_wait());
  caller.request_stop();
  caller.join();
  ASSERT_FALSE(outcome.result);
  EXPECT_EQ(outcome.result.error().reason, Reason::kCancelled);
}

TEST(StreamTest, StopWhileTheStreamIsQuiet) {
  std::latch closed(1);
  FakeServer server([&closed](FakeConnection& connection) {
    connection.ReadRequest();
    connection.RespondChunked(200, "application/json");
    connection.WriteChunk("one");
    connection.AwaitPeer();
    closed.count_down();
  });
  const auto client = NewClient(server.Url());
  std::stop_source stop;
  const auto result = client->Get().AbsPath("/x").Stream(
      kIgnoreHead,
      [&stop](std::string_view) -> Result<void> {
        stop.request_stop();
        return {};
      },
      stop.get_token());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().reason, Reason::kCancelled);
  // The server notices it at once, and not only when the client is destroyed.
  KX_AWAIT(closed.try_wait());
}

TEST(StreamTest, StopBeforeTheRequestSendsNothing) {
  FakeServer server([](FakeConnection& connection) { connection.AwaitPeer(); });
  std::stop_source stop;
  stop.request_stop();
  const Outcome outcome = Collect(*NewClient(server.Url()), stop.get_token());
  ASSERT_FALSE(outcome.result);
  EXPECT_EQ(outcome.result.error().reason, Reason::kCancelled);
  EXPECT_EQ(server.connections(), 0);
}

// A TLS server that accepts connections and sends nothing, so that the client stays in its
// handshake.
class SilentHandshakeTest : public ::testing::Test {
 protected:
  SilentHandshakeTest()
      : server_([this](FakeConnection& connection) {
          connection.AwaitPeer();  // waits for the client's hello
          handshaking_.count_down();
          connection.AwaitPeer();
        }) {}

  std::shared_ptr<RESTClient> Client(RESTClient::Options options = {}) {
    return NewClient("https://127.0.0.1:" + std::to_string(server_.port()), options);
  }

  std::latch handshaking_{1};
  FakeServer server_;
};

TEST_F(SilentHandshakeTest, StopEndsIt) {
  const auto client = Client();
  Outcome outcome;
  std::jthread caller([&](std::stop_token stop) { outcome = Collect(*client, std::move(stop)); });
  KX_AWAIT(handshaking_.try_wait());
  caller.request_stop();
  caller.join();
  ASSERT_FALSE(outcome.result);
  EXPECT_EQ(outcome.result.error().reason, Reason::kCancelled);
}

TEST_F(SilentHandshakeTest, ConnectTimeoutEndsIt) {
  base::testing::FakeClock clock;
  const auto client = Client({.clock = clock});
  Outcome outcome;
  std::jthread caller([&] { outcome = Collect(*client); });
  KX_AWAIT(handshaking_.try_wait());
  clock.AdvanceToSleeper(std::chrono::seconds(30));
  caller.join();
  ASSERT_FALSE(outcome.result);
  EXPECT_EQ(outcome.result.error().reason, Reason::kUnavailable);
  EXPECT_THAT(outcome.result.error().message, HasSubstr("connect timeout"));
}

TEST(StreamTest, RefusedConnectionIsUnavailable) {
  const auto client = NewClient("http://127.0.0.1:" + std::to_string(testing::UnusedPort()));
  const auto result = client->Get().AbsPath("/x").Do();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().reason, Reason::kUnavailable);
  EXPECT_EQ(result.error().code, 0);
  EXPECT_THAT(result.error().message, HasSubstr("cannot connect: connection refused"));
}

TEST(StreamTest, IdleTimeoutEndsAQuietStreamOnly) {
  base::testing::FakeClock clock;
  FakeServer server([](FakeConnection& connection) {
    connection.ReadRequest();
    connection.RespondChunked(200, "application/json");
    connection.WriteChunk("one");
    connection.AwaitPeer();
  });
  const auto client = NewClient(server.Url(), WithoutDeadlines(clock));
  std::latch first(1);
  Result<void> result;
  std::jthread caller([&](const std::stop_token& stop) {
    result = client->Get().AbsPath("/x").Stream(
        kIgnoreHead,
        [&first](std::string_view) -> Result<void> {
          first.count_down();
          return {};
        },
        stop, std::chrono::seconds(60));
  });
  KX_AWAIT(first.try_wait());
  clock.AdvanceToSleeper(std::chrono::seconds(60));
  caller.join();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().reason, Reason::kUnavailable);
  EXPECT_THAT(result.error().message, HasSubstr("idle timeout"));
}

TEST(StreamTest, TimeoutLimitsTheHeadOfAStreamAndTheWholeOfARequest) {
  base::testing::FakeClock clock;
  std::latch asked(2);
  FakeServer server([&asked](FakeConnection& connection) {
    if (const auto request = connection.ReadRequest(); request && request->target == "/half") {
      connection.RespondChunked(200, "application/json");
      connection.WriteChunk("one");
    }
    asked.count_down();
    connection.AwaitPeer();
  });
  const auto client = NewClient(server.Url(), WithoutDeadlines(clock));
  for (const char* path : {"/silent", "/half"}) {
    Result<Response> result;
    std::jthread caller([&](const std::stop_token& stop) {
      result = client->Get().AbsPath(path).Timeout(std::chrono::seconds(20)).Do(stop);
    });
    clock.AdvanceToSleeper(std::chrono::seconds(20));
    caller.join();
    ASSERT_FALSE(result) << path;
    EXPECT_EQ(result.error().reason, Reason::kTimeout) << result.error().ToString();
    EXPECT_THAT(result.error().message, HasSubstr("timeout"));
  }
}

TEST(StreamTest, ManyStreamsShareFewThreads) {
  constexpr int kStreams = 100;
  constexpr int kEvents = 20;
  std::latch open(kStreams);
  FakeServer server([&open](FakeConnection& connection) {
    connection.ReadRequest();
    connection.RespondChunked(200, "application/json");
    open.count_down();
    KX_AWAIT(open.try_wait());  // no stream continues before all of them are there
    for (int i = 0; i < kEvents; ++i) {
      connection.WriteChunk("event;");
    }
    connection.EndChunks();
    connection.AwaitPeer();
  });
  const auto client = NewClient(server.Url());
  std::atomic<int> whole = 0;
  const std::size_t before = Entries("/proc/self/task");
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < kStreams; ++i) {
      callers.emplace_back([&] {
        const Outcome outcome = Collect(*client);
        whole += outcome.result.has_value() && outcome.body.size() == 6 * kEvents ? 1 : 0;
      });
    }
    KX_AWAIT(open.try_wait());
    // The callers and the server have one thread for each stream. The rest are the network's
    // threads, four by default, and a resolver.
    EXPECT_LE(Entries("/proc/self/task"), before + 2 * kStreams + 6);
  }
  EXPECT_EQ(whole, kStreams);
}

TEST(StreamTest, StalledSinksDoNotStallOtherStreams) {
  // There are more stalled streams than threads that serve them, and more bytes wait for each than
  // fit into its buffer.
  constexpr int kStalled = 12;
  FakeServer server([](FakeConnection& connection) {
    const auto request = connection.ReadRequest();
    connection.RespondChunked(200, "application/json");
    const std::string block(request && request->target == "/big" ? 1 << 20 : 10, 'x');
    for (int i = 0; i < 8 && connection.WriteChunk(block); ++i) {
    }
    connection.EndChunks();
    connection.AwaitPeer();
  });
  const auto client = NewClient(server.Url());
  std::latch stalled(kStalled);
  std::latch go(1);
  std::atomic<std::size_t> bytes = 0;
  std::vector<std::jthread> callers;
  for (int i = 0; i < kStalled; ++i) {
    callers.emplace_back([&] {
      bool first = true;
      (void)client->Get().AbsPath("/big").Stream(kIgnoreHead,
                                                 [&](std::string_view chunk) -> Result<void> {
                                                   if (std::exchange(first, false)) {
                                                     stalled.count_down();
                                                     KX_AWAIT(go.try_wait());
                                                   }
                                                   bytes += chunk.size();
                                                   return {};
                                                 },
                                                 {});
    });
  }
  KX_AWAIT(stalled.try_wait());
  const Outcome other = Collect(*client);
  EXPECT_TRUE(other.result) << other.result.error().ToString();
  EXPECT_EQ(other.body.size(), 80U);
  go.count_down();
  callers.clear();
  EXPECT_EQ(bytes, std::size_t{kStalled} * 8 << 20);
}

TEST(StreamTest, AbandonedRequestsLeaveNoThreadOrSocket) {
  const auto endless = [](FakeConnection& connection) {
    connection.ReadRequest();
    connection.RespondChunked(200, "application/json");
    while (connection.WriteChunk(std::string(100000, 'x'))) {
    }
  };
  const auto run = [&endless](int requests) {
    FakeServer server(endless);
    const auto client = NewClient(server.Url());
    for (int i = 0; i < requests; ++i) {
      const auto result = client->Get().AbsPath("/x").Stream(
          kIgnoreHead,
          [](std::string_view) -> Result<void> { return Fail(Reason::kConflict, "enough"); }, {});
      EXPECT_FALSE(result);
    }
    // The client is destroyed while the network side may still be closing connections.
  };
  run(1);  // starts the network thread, which stays
  const std::size_t threads = Entries("/proc/self/task");
  const std::size_t sockets = Entries("/proc/self/fd");
  run(60);
  // The network thread closes the sockets a short time later. If a socket leaks, this wait runs
  // into its time limit.
  KX_AWAIT_LE(Entries("/proc/self/fd"), sockets);
  // There may be one more thread for a resolver. A thread stays listed for a moment after it was
  // joined.
  KX_AWAIT_LE(Entries("/proc/self/task"), threads + 1);
}

}  // namespace
}  // namespace kubexx::rest
