#include "kubexx/rest/response_stream.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <semaphore>
#include <string>
#include <string_view>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::rest {
namespace {

using apimachinery::Reason;
using apimachinery::Result;
using testing::FakeConnection;
using testing::FakeServer;
using ::testing::HasSubstr;
using testing::NewClient;

/// Owns a stream and collects what it brings. It reads whenever it is notified.
class Owner {
 public:
  explicit Owner(std::unique_ptr<ResponseStream> stream) : stream_(std::move(stream)) {
    stream_->Notify([this] { told_ = true; });
  }

  /// Reads the bytes that are there, and then requests a notification. Returns the end of the
  /// stream if it has come.
  Result<bool> ReadAll() {
    for (;;) {
      KX_ASSIGN_OR_RETURN(const StreamRead found,
                          stream_->TryRead([this](std::string_view piece) -> Result<void> {
                            body_ += piece;
                            return {};
                          }));
      if (found == StreamRead::kEnd) {
        return true;
      }
      if (found == StreamRead::kNothing) {
        told_ = false;
        stream_->Arm();
        return false;
      }
    }
  }
  const std::atomic<bool>& told() const { return told_; }
  const std::string& body() const { return body_; }

 private:
  std::atomic<bool> told_ = false;
  std::string body_;
  std::unique_ptr<ResponseStream> stream_;
};

TEST(ResponseStreamTest, TellsOfEachPieceAndOfTheEnd) {
  std::binary_semaphore go(0);
  const FakeServer server([&go](FakeConnection& connection) {
    connection.ReadRequest();
    connection.RespondChunked(200, "application/json");
    for (const std::string_view piece : {"one", "two", "three"}) {
      KX_AWAIT(go.try_acquire());
      connection.WriteChunk(piece);
    }
    KX_AWAIT(go.try_acquire());
    connection.EndChunks();
    connection.AwaitPeer();
  });
  const auto client = NewClient(server.Url());
  ASSERT_TRUE(client->CanOpenStreams());
  auto stream = client->Get().AbsPath("/stream").MaxRetries(0).OpenStream({});
  ASSERT_TRUE(stream.has_value()) << stream.error().ToString();
  EXPECT_EQ((*stream)->head().code, 200);
  Owner owner(*std::move(stream));
  for (const std::string_view so_far : {"one", "onetwo", "onetwothree"}) {
    EXPECT_FALSE(owner.ReadAll().value()) << "nothing has come";
    EXPECT_FALSE(owner.told());
    go.release();
    KX_UNTIL(owner.body() == so_far) {
      KX_AWAIT(owner.told());
      ASSERT_FALSE(owner.ReadAll().value());
    }
  }
  go.release();
  KX_AWAIT(owner.told());
  EXPECT_TRUE(owner.ReadAll().value());
}

TEST(ResponseStreamTest, SaysThatTheConnectionBroke) {
  std::binary_semaphore go(0);
  const FakeServer server([&go](FakeConnection& connection) {
    connection.ReadRequest();
    connection.RespondChunked(200, "application/json");
    KX_AWAIT(go.try_acquire());
    connection.Reset();
  });
  const auto client = NewClient(server.Url());
  auto stream = client->Get().AbsPath("/stream").MaxRetries(0).OpenStream({});
  ASSERT_TRUE(stream.has_value());
  Owner owner(*std::move(stream));
  EXPECT_FALSE(owner.ReadAll().value());
  go.release();
  KX_AWAIT(owner.told());
  const auto read = owner.ReadAll();
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().reason, Reason::kUnavailable);
  EXPECT_THAT(read.error().message, HasSubstr("closed in the middle of the response"));
}

// The time that a full store held a watch back counted as if the server had sent nothing.
TEST(ResponseStreamTest, TheTimeBetweenTheNotificationAndTheReadingIsNotTheServers) {
  std::binary_semaphore go(0);
  const FakeServer server([&go](FakeConnection& connection) {
    connection.ReadRequest();
    connection.RespondChunked(200, "application/json");
    KX_AWAIT(go.try_acquire());
    connection.WriteChunk("one");
    connection.AwaitPeer();
  });
  base::testing::FakeClock clock;
  const auto client =
      testing::ClientFor({.host = server.Url(), .timeout = std::chrono::seconds(30), .qps = -1},
                         {.clock = clock, .connect_timeout = std::chrono::seconds(0)});
  auto stream = client->Get().AbsPath("/stream").MaxRetries(0).OpenStream({});
  ASSERT_TRUE(stream.has_value()) << stream.error().ToString();
  Owner owner(*std::move(stream));
  EXPECT_FALSE(owner.ReadAll().value());
  clock.Advance(std::chrono::seconds(10));
  go.release();
  KX_UNTIL(owner.body() == "one") {
    KX_AWAIT(owner.told());
    clock.Advance(std::chrono::minutes(10));  // the owner has no room for more
    const auto read = owner.ReadAll();
    ASSERT_TRUE(read.has_value()) << read.error().ToString();
  }
  clock.Advance(std::chrono::seconds(19));
  EXPECT_TRUE(owner.ReadAll().has_value());
  clock.Advance(std::chrono::seconds(1));
  const auto read = owner.ReadAll();
  ASSERT_FALSE(read.has_value()) << "30 seconds of waiting are over";
  EXPECT_EQ(read.error().reason, Reason::kTimeout);
}

TEST(ResponseStreamTest, FailsWithTheAnswerOfTheServerAsStreamDoes) {
  const FakeServer server([](FakeConnection& connection) {
    while (connection.ReadRequest()) {
      connection.Respond(403, "application/json",
                         R"({"kind":"Status","reason":"Forbidden","code":403})");
    }
  });
  const auto client = NewClient(server.Url());
  const auto stream = client->Get().AbsPath("/stream").MaxRetries(0).OpenStream({});
  ASSERT_FALSE(stream.has_value());
  EXPECT_EQ(stream.error().reason, Reason::kForbidden);
}

}  // namespace
}  // namespace kubexx::rest
