#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"

// Tests servers that hold up a client that sets no timeout. None of them holds it up for ever.

namespace kubexx::rest {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;
using base::testing::FakeClock;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AnyOf;
using testing::FakeConnection;
using testing::FakeServer;
using ::testing::HasSubstr;
using testing::kConfigMaps;
using testing::NewClient;

constexpr seconds kWatchLifetime(300);

// One way to send a request. `on_bytes` is called for each piece of a stream.
struct AskCase {
  std::string name;
  std::function<Result<void>(RESTClient&, const std::function<void()>& on_bytes)> ask;
  bool stream;
  seconds idle;   // the longest silence within a body
  seconds whole;  // the longest time for a body
};

Result<void> AskOnce(Request request) {
  auto response = request.MaxRetries(0).Do();
  return response ? Result<void>() : Result<void>(Fail(std::move(response).error()));
}

Result<void> AskForStream(Request request, const std::function<void()>& on_bytes) {
  return request.MaxRetries(0).Stream([](const Request::StreamHead&) -> Result<void> { return {}; },
                                      [&on_bytes](std::string_view) -> Result<void> {
                                        on_bytes();
                                        return {};
                                      },
                                      {});
}

Request Named(Request request) {
  request.Resource(kConfigMaps).Namespace("ns").Name("x");
  return request;
}

std::vector<AskCase> AskCases() {
  return {
      {"Get", [](RESTClient& client, const auto&) { return AskOnce(Named(client.Get())); }, false,
       minutes(2), minutes(10)},
      {"Patch",
       [](RESTClient& client, const auto&) {
         Request patch = Named(client.Patch(PatchType::kMerge));
         patch.Body(codec::Encoding::kJson, "{}");
         return AskOnce(std::move(patch));
       },
       false, minutes(2), minutes(10)},
      {"List",
       [](RESTClient& client, const auto& on_bytes) {
         Request list = client.Get();
         list.Resource(kConfigMaps);
         return AskForStream(std::move(list), on_bytes);
       },
       true, minutes(2), minutes(10)},
      {"Watch",
       [](RESTClient& client, const auto& on_bytes) {
         Request watch = client.Get();
         watch.Resource(kConfigMaps).Watch().Options({.timeout = kWatchLifetime});
         return AskForStream(std::move(watch), on_bytes);
       },
       true, kWatchLifetime + seconds(30), kWatchLifetime + seconds(30)},
      {"WatchWithoutLifetime",
       [](RESTClient& client, const auto& on_bytes) {
         Request watch = client.Get();
         watch.Resource(kConfigMaps).Watch();
         return AskForStream(std::move(watch), on_bytes);
       },
       true, minutes(60) + seconds(30), minutes(60) + seconds(30)},
  };
}

class DeadlineTest : public ::testing::TestWithParam<AskCase> {
 protected:
  // Returns the error of a request whose time passes whenever it waits. The request must not be
  // given up before `limit`.
  Status AskAndExpire(const std::string& url, seconds limit, RESTClient::Options options) {
    const auto client = NewClient(url, options);
    Result<void> result;
    std::atomic<bool> over = false;
    const base::TimePoint begin = clock_.Now();
    std::jthread caller([&] {
      result = GetParam().ask(*client, [] {});
      over = true;
    });
    KX_UNTIL(over) {
      if (clock_.Sleepers() > 0) {
        clock_.Advance(seconds(10));
      }
    }
    caller.join();
    EXPECT_GE(clock_.Now() - begin, limit);
    return result ? Status() : result.error();
  }
  // There is no limit on connecting, so that time passes only after the request was sent.
  RESTClient::Options Connected() {
    return {.clock = clock_, .connect_timeout = std::chrono::seconds(0)};
  }

  FakeClock clock_;
};

TEST_P(DeadlineTest, AServerThatAcceptsAndSaysNothing) {
  FakeServer server([](FakeConnection& connection) {
    connection.ReadRequest();
    connection.AwaitPeer();
  });
  const Status status = AskAndExpire(server.Url(), minutes(2), Connected());
  EXPECT_EQ(status.reason, Reason::kTimeout) << status.ToString();
  EXPECT_THAT(status.message, HasSubstr("no response within 120 s"));
}

TEST_P(DeadlineTest, AServerThatStallsInItsHead) {
  FakeServer server([](FakeConnection& connection) {
    connection.ReadRequest();
    connection.Write("HTTP/1.1 200 OK\r\nContent-");
    connection.AwaitPeer();
  });
  const Status status = AskAndExpire(server.Url(), minutes(2), Connected());
  EXPECT_EQ(status.reason, Reason::kTimeout) << status.ToString();
  EXPECT_THAT(status.message, HasSubstr("no response within 120 s"));
}

TEST_P(DeadlineTest, AServerThatStallsInTheTlsHandshake) {
  FakeServer server([](FakeConnection& connection) {
    connection.AwaitPeer();  // waits for the client's hello
    connection.AwaitPeer();
  });
  const Status status = AskAndExpire("https://127.0.0.1:" + std::to_string(server.port()),
                                     seconds(30), {.clock = clock_});
  EXPECT_EQ(status.reason, Reason::kUnavailable) << status.ToString();
  EXPECT_THAT(status.message, HasSubstr("connect timeout"));
}

TEST_P(DeadlineTest, AServerThatStallsBetweenHeadAndBody) {
  FakeServer server([](FakeConnection& connection) {
    connection.ReadRequest();
    connection.RespondChunked(200, "application/json");
    connection.AwaitPeer();
  });
  // There is no limit on the head either, because it may still be on its way when the time passes.
  RESTClient::Options options = Connected();
  options.response_timeout = std::chrono::seconds(0);
  const Status status = AskAndExpire(server.Url(), GetParam().idle, options);
  EXPECT_THAT(status.reason, AnyOf(Reason::kUnavailable, Reason::kTimeout)) << status.ToString();
  const std::string limit = std::to_string(GetParam().idle.count()) + " s";
  EXPECT_THAT(status.message, AnyOf(HasSubstr("within the idle timeout of " + limit),
                                    HasSubstr("did not end within " + limit)));
}

// A stream that may be quiet is quiet for three minutes, and then continues and ends without an
// error.
TEST(QuietStreamTest, AWatchLives) {
  for (const AskCase& asked : AskCases()) {
    if (asked.idle <= minutes(3)) {
      continue;
    }
    FakeClock clock;
    std::binary_semaphore go_on(0);
    FakeServer server([&go_on](FakeConnection& connection) {
      connection.ReadRequest();
      connection.RespondChunked(200, "application/json");
      connection.WriteChunk(" ");
      KX_AWAIT(go_on.try_acquire());
      connection.WriteChunk(" ");
      connection.EndChunks();
    });
    const auto client =
        NewClient(server.Url(), {.clock = clock, .connect_timeout = std::chrono::seconds(0)});
    std::atomic<int> read = 0;
    Result<void> result;
    std::atomic<bool> over = false;
    std::jthread caller([&] {
      result = asked.ask(*client, [&read] { ++read; });
      over = true;
    });
    KX_AWAIT(read != 0 || over);
    for (seconds silent(0); silent < minutes(3) && !over; silent += seconds(10)) {
      KX_AWAIT(clock.Sleepers() != 0 || over);
      clock.Advance(seconds(10));
    }
    go_on.release();
    caller.join();
    EXPECT_TRUE(result) << asked.name << ": " << result.error().ToString();
    EXPECT_EQ(read, 2) << asked.name;
  }
}

// The server sends a byte each half minute. The limit on the whole request ends it, because no
// silence does.
TEST_P(DeadlineTest, AServerThatTrickles) {
  std::counting_semaphore<> next(0);
  std::atomic<int> written = 0;
  std::atomic<bool> over = false;
  FakeServer server([&](FakeConnection& connection) {
    connection.ReadRequest();
    connection.RespondChunked(200, "application/json");
    while (!over && connection.WriteChunk(" ")) {
      ++written;
      KX_AWAIT(next.try_acquire());
    }
  });
  const auto client = NewClient(server.Url(), Connected());
  Result<void> result;
  std::atomic<int> read = 0;
  std::jthread caller([&] {
    result = GetParam().ask(*client, [&read] { ++read; });
    over = true;
    next.release();
  });
  const base::TimePoint begin = clock_.Now();
  for (int i = 1; !over; ++i) {
    // A single request does not show how far it has come.
    const auto waits = [&] {
      return clock_.Sleepers() > 0 && written >= i && (read >= i || !GetParam().stream);
    };
    KX_AWAIT(over || waits());
    clock_.Advance(seconds(30));
    next.release();
  }
  caller.join();
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("within"));
  if (GetParam().stream) {
    EXPECT_EQ(result.error().reason, Reason::kTimeout);
    EXPECT_GE(clock_.Now() - begin, GetParam().whole);
  }
}

INSTANTIATE_TEST_SUITE_P(Requests, DeadlineTest, ::testing::ValuesIn(AskCases()),
                         [](const auto& asked) { return asked.param.name; });

}  // namespace
}  // namespace kubexx::rest
