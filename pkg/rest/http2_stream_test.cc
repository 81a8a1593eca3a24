#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/rest/response_stream.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"
#include "kubexx/rest/testing/http2_frames.h"
#include "kubexx/rest/testing/http2_server.h"
#include "kubexx/rest/testing/usual_server.h"

// Streams that share connections over HTTP/2: when they do, and what a bad server or network does
// to them.

namespace kubexx::rest {
namespace {

using apimachinery::Reason;
using apimachinery::Result;
using testing::ClientFor;
using testing::FakeConnection;
using testing::FakeServer;
using ::testing::HasSubstr;
using testing::Http2Server;
using testing::UsualAuthority;
using testing::UsualTls;
using testing::UsualTlsForHttp2;
using testing::WithoutDeadlines;
using Asked = Http2Server::Request;

constexpr std::uint32_t kInternalError = 2;
constexpr std::uint32_t kRefused = 7;
constexpr std::uint32_t kHttp11Required = 13;

std::shared_ptr<RESTClient> Http2Client(const std::string& url,
                                        Http2Use use = Http2Use::kAllStreams,
                                        RESTClient::Options options = {}) {
  return ClientFor({.host = url, .tls = {.ca_data = UsualAuthority().certificate()}, .http2 = use},
                   options);
}

/// A stream that is read as its owner is told. Opens on a thread of its own, since the test
/// answers.
class Watch {
 public:
  explicit Watch(RESTClient& client, const std::string& path = "/watch", int retries = 0)
      : opening_([this, &client, path, retries](const std::stop_token& stop) {
          auto opened = client.Get().AbsPath(path).MaxRetries(retries).OpenStream(stop);
          if (opened) {
            stream_ = *std::move(opened);
            stream_->Notify([this] { told_ = true; });
          } else {
            end_ = apimachinery::Fail(opened.error());
          }
          opened_ = true;
        }) {}

  const std::atomic<bool>& is_open() const { return opened_; }
  void AwaitHead(base::testing::Where where = base::testing::Where::current()) {
    base::testing::Patience patience("the head of an answer", where);
    while (!opened_) {
      patience.Pause();
    }
  }
  /// Reads what is there, and asks to be told of more. True when the stream has ended.
  bool ReadAll() {
    while (stream_ && !over_) {
      auto found = stream_->TryRead([this](std::string_view piece) -> Result<void> {
        body_ += piece;
        return {};
      });
      if (!found || *found == StreamRead::kEnd) {
        over_ = true;
        end_ = found ? Result<void>() : apimachinery::Fail(found.error());
      } else if (*found == StreamRead::kNothing) {
        told_ = false;
        look_at_ = stream_->Arm();
        break;
      }
    }
    return over_ || !stream_;
  }
  void AwaitBody(std::string_view body) {
    ReadAll();
    KX_UNTIL(body_ == body) {
      if (told_) {
        ReadAll();
      }
    }
  }
  /// Reads until the stream ends, and returns how.
  Result<void> AwaitEnd() {
    AwaitHead();
    bool is_over = ReadAll();
    KX_UNTIL(is_over) {
      is_over = told_ && ReadAll();
    }
    return end_;
  }

  int code() const { return stream_ ? stream_->head().code : 0; }
  const std::string& body() const { return body_; }
  base::TimePoint look_at() const { return look_at_; }
  const std::atomic<bool>& told() const { return told_; }
  const Result<void>& end() const { return end_; }

 private:
  std::atomic<bool> opened_ = false;
  std::atomic<bool> told_ = false;
  bool over_ = false;
  std::string body_;
  Result<void> end_{};
  base::TimePoint look_at_{};
  std::unique_ptr<ResponseStream> stream_;
  std::jthread opening_;
};

/// Waits for the request number `n`, counting from 0, in the order in which they came.
Asked AwaitRequest(const Http2Server& server, std::size_t n) {
  KX_AWAIT(server.requests().size() > n);
  return server.requests()[n];
}

/// The same, and answers it with 200.
Asked Answer(Http2Server& server, std::size_t n) {
  Asked request = AwaitRequest(server, n);
  server.Respond(request, 200, {{"content-type", "application/json"}});
  return request;
}

TEST(Http2StreamTest, ManyStreamsShareOneConnection) {
  Http2Server server;
  const auto client = Http2Client(server.Url());
  std::vector<std::unique_ptr<Watch>> watches;
  for (int i = 0; i < 20; ++i) {
    watches.push_back(std::make_unique<Watch>(*client, "/watch" + std::to_string(i)));
  }
  std::vector<Asked> requests;
  for (std::size_t i = 0; i < watches.size(); ++i) {
    requests.push_back(Answer(server, i));
  }
  for (const Asked& request : requests) {
    server.Send(request, "of " + request.path);
  }
  for (std::size_t i = 0; i < watches.size(); ++i) {
    watches[i]->AwaitHead();
    EXPECT_EQ(watches[i]->code(), 200);
    watches[i]->AwaitBody("of /watch" + std::to_string(i));
  }
  EXPECT_EQ(server.connections(), 1);
  for (const Asked& request : requests) {
    server.End(request);
  }
  for (const auto& watch : watches) {
    EXPECT_TRUE(watch->AwaitEnd());
  }
  KX_AWAIT(server.open_connections() == 0);
}

TEST(Http2StreamTest, TheFirstStreamsHaveConnectionsOfTheirOwn) {
  Http2Server server;
  const auto client = Http2Client(server.Url(), Http2Use::kManyStreams);
  std::vector<std::unique_ptr<Watch>> watches;
  const auto watch = [&](const std::string& path) {
    watches.push_back(std::make_unique<Watch>(*client, path));
    const Asked request = AwaitRequest(server, watches.size() - 1);
    if (request.stream != 0) {
      server.Respond(request, 200);
    }
    watches.back()->AwaitHead();
    EXPECT_EQ(watches.back()->code(), 200);
    return request.stream != 0;
  };
  for (int i = 0; i < 8; ++i) {
    EXPECT_FALSE(watch("/own"));
  }
  for (int i = 0; i < 8; ++i) {
    EXPECT_TRUE(watch("/shared"));
  }
  EXPECT_EQ(server.connections(), 9);
  watches[3].reset();
  watches[3] = std::make_unique<Watch>(*client, "/again");
  EXPECT_EQ(AwaitRequest(server, 16).stream, 0);
}

TEST(Http2StreamTest, SingleRequestsDoNotShare) {
  FakeServer server(
      [](FakeConnection& connection) {
        EXPECT_FALSE(connection.SpeaksHttp2());
        while (connection.ReadRequest()) {
          connection.Respond(200, "application/json", "{}");
        }
      },
      UsualTlsForHttp2());
  const auto client = Http2Client(server.Url());
  EXPECT_TRUE(client->Get().AbsPath("/x").Do());
}

TEST(Http2StreamTest, NoneSharesWhereThatIsForbidden) {
  FakeServer server(
      [](FakeConnection& connection) {
        EXPECT_FALSE(connection.SpeaksHttp2());
        while (connection.ReadRequest()) {
          connection.Respond(200, "application/json", "{}");
        }
      },
      UsualTlsForHttp2());
  const auto by_config = Http2Client(server.Url(), Http2Use::kNever);
  ::setenv("DISABLE_HTTP2", "1", 1);  // NOLINT(concurrency-mt-unsafe): no other thread reads it
  const auto by_environment = Http2Client(server.Url());
  ::unsetenv("DISABLE_HTTP2");  // NOLINT(concurrency-mt-unsafe): as above
  for (const auto& client : {by_config, by_environment}) {
    Watch watch(*client);
    EXPECT_TRUE(watch.AwaitEnd());
    EXPECT_EQ(watch.body(), "{}");
  }
}

TEST(Http2StreamTest, AServerWithoutItIsServedOverHttp1) {
  FakeServer server(
      [](FakeConnection& connection) {
        while (connection.ReadRequest()) {
          connection.Respond(200, "application/json", "{}");
        }
      },
      UsualTls());
  const auto client = Http2Client(server.Url());
  for (int i = 0; i < 3; ++i) {
    Watch watch(*client);
    EXPECT_TRUE(watch.AwaitEnd());
    EXPECT_EQ(watch.body(), "{}");
  }
  EXPECT_EQ(server.connections(), 1) << "the connection that found it out is used, and used again";
}

TEST(Http2StreamTest, AnotherConnectionTakesWhatOneDoesNot) {
  Http2Server server({.max_streams = 2});
  const auto client = Http2Client(server.Url());
  std::vector<std::unique_ptr<Watch>> watches;
  std::multiset<int> connections;
  for (std::size_t i = 0; i < 5; ++i) {
    watches.push_back(std::make_unique<Watch>(*client));
    connections.insert(Answer(server, i).connection);
    watches.back()->AwaitHead();
  }
  EXPECT_EQ(connections, (std::multiset<int>{0, 0, 1, 1, 2}));
}

TEST(Http2StreamTest, AServerThatAllowsNoStreamIsServedOverHttp1) {
  Http2Server server({.max_streams = 0});
  const auto client = Http2Client(server.Url());
  Watch watch(*client);
  EXPECT_EQ(AwaitRequest(server, 0).stream, 0);
  watch.AwaitHead();
  EXPECT_EQ(watch.code(), 200);
}

TEST(Http2StreamTest, ASlowReaderHoldsUpNoOtherOneAndIsHeldBack) {
  Http2Server server;
  const auto client = Http2Client(server.Url());
  Watch slow(*client, "/slow");
  const Asked to_slow = Answer(server, 0);
  slow.AwaitHead();
  Watch other(*client, "/other");
  const Asked to_other = Answer(server, 1);
  other.AwaitHead();
  const std::string large(6 << 20, 'x');  // more than the connection's window
  server.Send(to_slow, large);
  KX_AWAIT(server.held_back(to_slow) > 0 && server.held_back(to_slow) < large.size());
  server.Send(to_other, large);
  other.AwaitBody(large);
  EXPECT_GE(server.held_back(to_slow), large.size() - (128 << 10));
  slow.AwaitBody(large);
}

TEST(Http2StreamTest, AThreadThatWaitsIsWokenToo) {
  Http2Server server;
  const auto client = Http2Client(server.Url());
  std::atomic<std::size_t> got = 0;
  std::jthread reader([&](const std::stop_token& stop) {
    const auto read = client->Get().AbsPath("/x").Stream(
        [](const Request::StreamHead&) -> Result<void> { return {}; },
        [&](std::string_view piece) -> Result<void> {
          got += piece.size();
          return {};
        },
        stop);
    EXPECT_EQ(read.error().reason, Reason::kCancelled);
  });
  const auto request = Answer(server, 0);
  server.Send(request, "abc");
  KX_AWAIT(got == 3);
  server.Send(request, "def");
  KX_AWAIT(got == 6);
  reader.request_stop();
  reader.join();
  KX_AWAIT(server.open_connections() == 0);
}

TEST(Http2StreamTest, AfterAFarewellOldStreamsGoOnAndNewOnesConnectAnew) {
  Http2Server server;
  const auto client = Http2Client(server.Url());
  Watch old(*client);
  const Asked to_old = Answer(server, 0);
  old.AwaitHead();
  server.GoAway(0, to_old.stream);
  server.Send(to_old, "1");
  old.AwaitBody("1");
  Watch next(*client);
  const Asked to_next = Answer(server, 1);
  next.AwaitHead();
  EXPECT_EQ(to_next.connection, 1);
  server.Send(to_old, "2");
  server.End(to_old);
  EXPECT_TRUE(old.AwaitEnd());
  EXPECT_EQ(old.body(), "12");
  KX_AWAIT(server.open_connections() == 1);
}

TEST(Http2StreamTest, ARefusedStreamIsSentAgainAtOnce) {
  Http2Server server;
  const auto client = Http2Client(server.Url());
  Watch watch(*client);
  server.Reset(AwaitRequest(server, 0), kRefused);
  Answer(server, 1);
  watch.AwaitHead();
  EXPECT_EQ(watch.code(), 200);
}

TEST(Http2StreamTest, AServerThatAlwaysRefusesIsAnError) {
  Http2Server server;
  const auto client = Http2Client(server.Url());
  Watch watch(*client);
  for (std::size_t i = 0; i < 3; ++i) {
    server.Reset(AwaitRequest(server, i), kRefused);
  }
  const Result<void> end = watch.AwaitEnd();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().reason, Reason::kUnavailable);
  EXPECT_THAT(end.error().message, HasSubstr("the server refused the stream"));
  EXPECT_EQ(server.requests().size(), 3U);
}

TEST(Http2StreamTest, AServerThatAsksForHttp1GetsIt) {
  Http2Server server;
  const auto client = Http2Client(server.Url());
  Watch watch(*client);
  server.Reset(AwaitRequest(server, 0), kHttp11Required);
  EXPECT_EQ(AwaitRequest(server, 1).stream, 0);
  watch.AwaitHead();
  EXPECT_EQ(watch.code(), 200);
}

TEST(Http2StreamTest, AStreamThatTheServerResetsFailsAlone) {
  Http2Server server;
  const auto client = Http2Client(server.Url());
  Watch broken(*client);
  const Asked to_broken = Answer(server, 0);
  broken.AwaitHead();
  Watch other(*client);
  const Asked to_other = Answer(server, 1);
  other.AwaitHead();
  server.Reset(to_broken, kInternalError);
  const Result<void> end = broken.AwaitEnd();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().reason, Reason::kUnavailable);
  EXPECT_THAT(end.error().message,
              HasSubstr("the server ended the stream in the middle of the response"));
  server.Send(to_other, "abc");
  other.AwaitBody("abc");
  EXPECT_EQ(server.connections(), 1);
}

TEST(Http2StreamTest, AStreamThatIsGivenUpIsCancelled) {
  Http2Server server;
  const auto client = Http2Client(server.Url());
  Watch other(*client);
  Answer(server, 0);
  other.AwaitHead();
  {
    Watch given_up(*client);
    Answer(server, 1);
    given_up.AwaitHead();
  }
  KX_AWAIT(server.resets() == 1);
  EXPECT_EQ(server.open_connections(), 1);
}

TEST(Http2StreamTest, ALostConnectionFailsItsStreamsAndLosesNothingThatCameBefore) {
  Http2Server server;
  const auto client = Http2Client(server.Url());
  Watch first(*client);
  const Asked to_first = Answer(server, 0);
  first.AwaitHead();
  Watch second(*client);
  Answer(server, 1);
  second.AwaitHead();
  server.Send(to_first, "abc");
  KX_AWAIT(server.held_back(to_first) == 0);
  first.AwaitBody("abc");
  server.Drop(0);
  for (Watch* const watch : {&first, &second}) {
    const Result<void> end = watch->AwaitEnd();
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().reason, Reason::kUnavailable);
    EXPECT_THAT(end.error().message, HasSubstr("closed in the middle of the response"));
  }
  Watch next(*client);
  EXPECT_EQ(Answer(server, 2).connection, 1);
  next.AwaitHead();
  EXPECT_EQ(next.code(), 200);
}

TEST(Http2StreamTest, AnErrorAnswerIsTheSameAsOverHttp1) {
  Http2Server server;
  const auto client = Http2Client(server.Url());
  Watch watch(*client);
  const Asked request = AwaitRequest(server, 0);
  server.Respond(request, 410, {{"content-type", "application/json"}});
  server.Send(request, R"({"kind":"Status","reason":"Expired","code":410,"message":"too old"})");
  server.End(request);
  const Result<void> end = watch.AwaitEnd();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().reason, Reason::kExpired);
  EXPECT_EQ(end.error().message, "too old");
}

TEST(Http2StreamTest, TheHeadersOfTheRequestArrive) {
  Http2Server server;
  const auto client = ClientFor({.host = server.Url(),
                                 .tls = {.ca_data = UsualAuthority().certificate()},
                                 .bearer_token = "token",
                                 .http2 = Http2Use::kAllStreams});
  Watch watch(*client, "/path");
  const Asked request = AwaitRequest(server, 0);
  EXPECT_EQ(request.path, "/path");
  EXPECT_EQ(request.headers.at(":authority"), server.Url().substr(8));
  EXPECT_EQ(request.headers.at("authorization"), "Bearer token");
  server.Respond(request, 200);
}

TEST(Http2StreamTest, AHeadThatDoesNotComeInTimeIsATimeout) {
  base::testing::FakeClock clock;
  Http2Server server;
  auto options = WithoutDeadlines(clock);
  options.response_timeout = std::chrono::seconds(20);
  const auto client = Http2Client(server.Url(), Http2Use::kAllStreams, options);
  Watch watch(*client);
  AwaitRequest(server, 0);
  KX_UNTIL(watch.is_open().load()) {
    clock.Advance(std::chrono::seconds(1));
  }
  ASSERT_FALSE(watch.end());
  EXPECT_EQ(watch.end().error().reason, Reason::kTimeout);
  KX_AWAIT(server.open_connections() == 0);
}

TEST(Http2StreamTest, AServerThatHasVanishedIsNoticedWithinItsTime) {
  base::testing::FakeClock clock;
  Http2Server server;
  const auto client = Http2Client(server.Url(), Http2Use::kAllStreams, WithoutDeadlines(clock));
  Watch watch(*client);
  Answer(server, 0);
  watch.AwaitHead();
  EXPECT_FALSE(watch.ReadAll());
  // A server that is there answers.
  KX_UNTIL(watch.look_at() == clock.Now() + std::chrono::seconds(30)) {
    watch.ReadAll();
  }
  clock.Advance(std::chrono::seconds(30));
  EXPECT_FALSE(watch.ReadAll());
  KX_UNTIL(watch.look_at() == clock.Now() + std::chrono::seconds(30)) {
    watch.ReadAll();
  }
  server.Freeze(0);
  server.Respond(AwaitRequest(server, 0), 200);  // done after it
  clock.Advance(std::chrono::seconds(30));
  EXPECT_FALSE(watch.ReadAll());
  EXPECT_EQ(watch.look_at(), clock.Now() + std::chrono::seconds(15));
  clock.Advance(std::chrono::seconds(15));
  EXPECT_TRUE(watch.ReadAll());
  ASSERT_FALSE(watch.end());
  EXPECT_THAT(watch.end().error().message, HasSubstr("has not answered a PING"));
}

TEST(Http2StreamTest, WhoeverReadsTheFirstStreamsSeesToTheOthersConnection) {
  base::testing::FakeClock clock;
  Http2Server server;
  const auto client = Http2Client(server.Url(), Http2Use::kAllStreams, WithoutDeadlines(clock));
  std::vector<std::unique_ptr<Watch>> watches;
  for (std::size_t i = 0; i < 4; ++i) {
    watches.push_back(std::make_unique<Watch>(*client));
    Answer(server, i);
    watches.back()->AwaitHead();
    watches.back()->ReadAll();
  }
  EXPECT_NE(watches[0]->look_at(), base::TimePoint::max());
  EXPECT_EQ(watches[3]->look_at(), base::TimePoint::max());
  watches[0].reset();
  watches[1].reset();
  watches[2].reset();
  KX_AWAIT(watches[3]->told().load());
  watches[3]->ReadAll();
  EXPECT_NE(watches[3]->look_at(), base::TimePoint::max());
}

TEST(Http2StreamTest, AFloodEndsTheConnection) {
  Http2Server server;
  const auto client = Http2Client(server.Url());
  Watch watch(*client);
  Answer(server, 0);
  watch.AwaitHead();
  std::string flood;
  for (int i = 0; i < 5000; ++i) {
    flood += testing::MakeFrame(testing::kPingFrame, testing::kAck, 0, std::string(8, 'p'));
  }
  server.SendRaw(0, flood);
  const Result<void> end = watch.AwaitEnd();
  ASSERT_FALSE(end);
  EXPECT_THAT(end.error().message, HasSubstr("too many frames that bring nothing"));
  KX_AWAIT(server.open_connections() == 0);
}

TEST(Http2StreamTest, AServerThatChoosesItAndThenDoesNotSpeakItIsAnError) {
  FakeServer server([](FakeConnection& connection) { connection.ReadSome(); }, UsualTlsForHttp2());
  const auto client = Http2Client(server.Url());
  Watch watch(*client);
  const Result<void> end = watch.AwaitEnd();
  ASSERT_FALSE(end) << "closed without a word of HTTP/2";
  EXPECT_EQ(end.error().reason, Reason::kUnavailable);
  EXPECT_THAT(end.error().message, HasSubstr("closed before a response came"));
}

}  // namespace
}  // namespace kubexx::rest
