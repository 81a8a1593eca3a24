#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <semaphore>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"
#include "kubexx/rest/testing/network_threads.h"

// Tests what Config::timeout limits: the whole request, including its body.

namespace kubexx::rest {
namespace {

using apimachinery::Reason;
using apimachinery::Result;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::FakeConnection;
using testing::FakeServer;
using ::testing::HasSubstr;
using testing::kConfigMaps;

constexpr apimachinery::ResourceInfo kTimedPods{"", "v1", "Pod", "pods", true};
constexpr seconds kTimeout(30);

struct TimedCase {
  std::string name;
  std::function<void(Request&)> ask;
};

Request& PodPart(Request& request, std::string_view part) {
  return request.Resource(kTimedPods).Namespace("ns").Name("x").SubResource(part);
}

// A server that sends what the test tells it to send, and a client that reads it on a thread of its
// own.
class ConfigTimeoutTest : public ::testing::TestWithParam<TimedCase> {
 protected:
  ~ConfigTimeoutTest() override {
    gone_ = true;
    next_.release();
  }

  Request NewRequest(const std::function<void(Request&)>& ask) {
    Request request = client_->Get();
    ask(request);
    request.MaxRetries(0);
    return request;
  }
  void Ask(const std::function<void(Request&)>& ask) {
    caller_ = std::jthread([this, ask] {
      result_ = NewRequest(ask).Stream(
          [this](const Request::StreamHead&) -> Result<void> {
            head_ = true;
            return {};
          },
          [this](std::string_view piece) -> Result<void> {
            read_ += static_cast<int>(piece.size());
            return {};
          },
          stop_.get_token());
      over_ = true;
    });
  }
  // Lets the server send its head, or one more byte, and waits until the client has read it.
  void SendHead() {
    next_.release();
    KX_AWAIT(head_ || over_);
  }
  void SendByte() {
    const int before = read_;
    next_.release();
    KX_AWAIT(read_ != before || over_);
  }
  // Waits until the client waits for something with a deadline, and then lets time pass.
  void Pass(seconds time) {
    KX_AWAIT(clock_.Sleepers() != 0 || over_);  // fails when nothing limits the request
    clock_.Advance(time);
  }
  void Serve(FakeConnection& connection) {
    if (!connection.ReadRequest()) {
      return;
    }
    KX_AWAIT(next_.try_acquire());
    connection.RespondChunked(200, "application/json");
    for (;;) {
      KX_AWAIT(next_.try_acquire());
      if (gone_ || !connection.WriteChunk(" ")) {
        return;
      }
    }
  }
  // Lets `limit` pass, if `trickles` with a byte from time to time, and waits for the request's
  // end. Returns how much time has passed until then.
  seconds Expire(seconds limit, bool trickles) {
    const base::TimePoint begin = clock_.Now();
    for (seconds passed(0); passed < limit && !over_; passed += seconds(10)) {
      if (trickles && passed.count() > 0) {
        SendByte();
      }
      Pass(seconds(10));
    }
    KX_AWAIT(over_);
    EXPECT_TRUE(over_) << "its time does not end it";
    stop_.request_stop();
    caller_.join();
    return std::chrono::duration_cast<seconds>(clock_.Now() - begin);
  }

  base::testing::FakeClock clock_;
  std::stop_source stop_;
  std::counting_semaphore<> next_{0};
  std::atomic<bool> gone_ = false;
  std::atomic<bool> head_ = false;
  std::atomic<int> read_ = 0;
  std::atomic<bool> over_ = false;
  Result<void> result_;
  FakeServer server_{[this](FakeConnection& connection) { Serve(connection); }};
  std::shared_ptr<RESTClient> client_ =
      testing::ClientFor({.host = server_.Url(), .timeout = kTimeout, .qps = -1},
                         {.clock = clock_, .connect_timeout = seconds(0)});
  std::jthread caller_;
};

class LimitedByConfigTest : public ConfigTimeoutTest {};

TEST_P(LimitedByConfigTest, ABodyThatStalls) {
  Ask(GetParam().ask);
  SendHead();
  EXPECT_EQ(Expire(kTimeout, false), kTimeout);
  ASSERT_FALSE(result_);
  EXPECT_EQ(result_.error().reason, Reason::kTimeout) << result_.error().ToString();
  EXPECT_THAT(result_.error().message, HasSubstr("did not end within 30 s"));
}

TEST_P(LimitedByConfigTest, ABodyThatTrickles) {
  Ask(GetParam().ask);
  SendHead();
  EXPECT_EQ(Expire(kTimeout, true), kTimeout);
  EXPECT_EQ(read_, 2);
  ASSERT_FALSE(result_);
  EXPECT_EQ(result_.error().reason, Reason::kTimeout) << result_.error().ToString();
}

TEST_P(LimitedByConfigTest, ABodyWhoseHeadTookLong) {
  Ask(GetParam().ask);
  Pass(seconds(20));
  SendHead();
  EXPECT_EQ(Expire(kTimeout - seconds(20), false), kTimeout - seconds(20));
  EXPECT_FALSE(result_);
}

TEST_P(LimitedByConfigTest, OneResponseInAPiece) {
  caller_ = std::jthread([this] {
    if (const auto response = NewRequest(GetParam().ask).Do(stop_.get_token()); !response) {
      result_ = apimachinery::Fail(response.error());
    }
    over_ = true;
  });
  next_.release();
  EXPECT_EQ(Expire(kTimeout, false), kTimeout);
  ASSERT_FALSE(result_);
  EXPECT_EQ(result_.error().reason, Reason::kTimeout) << result_.error().ToString();
}

INSTANTIATE_TEST_SUITE_P(
    Requests, LimitedByConfigTest,
    ::testing::Values(
        TimedCase{"List", [](Request& request) { request.Resource(kConfigMaps); }},
        TimedCase{"Table",
                  [](Request& request) {
                    request.Resource(kConfigMaps).AcceptParameters("as=Table;g=meta.k8s.io;v=v1");
                  }},
        TimedCase{"Raw", [](Request& request) { request.AbsPath("/metrics"); }},
        TimedCase{"Log",
                  [](Request& request) { PodPart(request, "log").Param("follow", "false"); }},
        TimedCase{"Proxy", [](Request& request) { PodPart(request, "proxy"); }}),
    [](const auto& asked) { return asked.param.name; });

class NotLimitedByConfigTest : public ConfigTimeoutTest {};

TEST_P(NotLimitedByConfigTest, LivesOn) {
  Ask(GetParam().ask);
  // A followed log has no head before it has a line, and a watch has a limit of its own.
  clock_.Advance(minutes(1));
  SendHead();
  for (int i = 1; i <= 5; ++i) {
    clock_.Advance(minutes(1));
    SendByte();
    ASSERT_FALSE(over_) << result_.error().ToString();
    EXPECT_EQ(read_, i);
  }
  gone_ = true;
  next_.release();
  caller_.join();
}

INSTANTIATE_TEST_SUITE_P(
    Requests, NotLimitedByConfigTest,
    ::testing::Values(
        TimedCase{"Watch", [](Request& request) { request.Resource(kConfigMaps).Watch(); }},
        TimedCase{"FollowedLog",
                  [](Request& request) { PodPart(request, "log").Param("follow", "true"); }},
        TimedCase{"BodyWithATimeOfItsOwn",
                  [](Request& request) {
                    request.Resource(kConfigMaps).Timeout(minutes(2)).BodyTimeout(minutes(6));
                  }}),
    [](const auto& asked) { return asked.param.name; });

TEST_F(ConfigTimeoutTest, WhatTheReaderTakesDoesNotCount) {
  FakeServer server([](FakeConnection& connection) {
    connection.ReadRequest();
    connection.RespondChunked(200, "application/json");
    for (int i = 0; i < 3; ++i) {
      connection.WriteChunk(" ");
    }
    connection.EndChunks();
  });
  const auto client = testing::ClientFor({.host = server.Url(), .timeout = kTimeout, .qps = -1},
                                         {.clock = clock_, .connect_timeout = seconds(0)});
  Request list = client->Get();
  list.Resource(kConfigMaps);
  const auto slow = [this]() -> Result<void> {
    clock_.Advance(minutes(1));
    return {};
  };
  const Result<void> result = list.Stream([&slow](const auto&) { return slow(); },
                                          [&slow](std::string_view) { return slow(); }, {});
  EXPECT_TRUE(result) << result.error().ToString();
}

// Reads the warning of a response's head while the request has not begun to read its body.
class LateWarning final : public WarningHandler {
 public:
  explicit LateWarning(base::testing::FakeClock& clock) : clock_(clock) {}
  void Handle(const Warning&) override { clock_.Advance(kTimeout); }

 private:
  base::testing::FakeClock& clock_;
};

TEST(LateBodyTest, BytesThatAreAlwaysThereDoNotOutliveTheTimeout) {
  base::testing::FakeClock clock;
  std::counting_semaphore<> next(0);
  std::counting_semaphore<> sent(0);
  FakeServer server([&](FakeConnection& connection) {
    connection.ReadRequest();
    connection.Write(
        "HTTP/1.1 200 OK\r\nWarning: 299 - \"late\"\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 5; ++i) {
      KX_AWAIT(next.try_acquire());
      connection.WriteChunk("x");
      sent.release();
    }
    connection.EndChunks();
    connection.AwaitPeer();
  });
  RESTClient::Options options = testing::WithoutDeadlines(clock);
  options.warnings = std::make_shared<LateWarning>(clock);
  const auto client = testing::ClientFor({.host = server.Url(), .timeout = kTimeout}, options);
  const auto more = [&] {
    next.release();
    KX_AWAIT(sent.try_acquire());
    testing::DrainNetworkThreads();
  };
  const auto result = client->Get().AbsPath("/x").Stream(
      [&more](const Request::StreamHead&) -> Result<void> {
        more();
        return {};
      },
      [&more](std::string_view) -> Result<void> {
        more();
        return {};
      },
      {});
  next.release(5);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().reason, Reason::kTimeout) << result.error().ToString();
}

}  // namespace
}  // namespace kubexx::rest
