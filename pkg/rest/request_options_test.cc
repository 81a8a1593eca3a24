#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/api/meta/v1/schema.gen.h"
#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/rest/internal/report/throttle_log.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::rest {
namespace {

using apimachinery::Reason;
using apimachinery::Result;
using base::testing::FakeClock;
using codec::Encoding;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ClientFor;
using ::testing::ElementsAre;
using testing::FakeConnection;
using testing::FakeRequest;
using testing::FakeServer;
using ::testing::HasSubstr;
using testing::kConfigMaps;
using testing::NewClient;

TEST(RequestPathTest, PrefixAndSuffixStandAroundTheResource) {
  const auto client = NewClient("http://127.0.0.1:1/base");
  EXPECT_EQ(client->Get()
                .Prefix("/a b/")
                .Prefix("c")
                .Resource(kConfigMaps)
                .Namespace("n")
                .Name("x")
                .SubResource("proxy")
                .Suffix("metrics/cadvisor")
                .Param("p", "1")
                .ToString(),
            "GET /base/a%20b/c/api/v1/namespaces/n/configmaps/x/proxy/metrics/cadvisor?p=1");
  EXPECT_EQ(client->Get().Prefix("openapi").Suffix("v3").ToString(), "GET /base/openapi/v3");
  EXPECT_EQ(client->Get().AbsPath("/version").Suffix("x").ToString(), "GET /base/version/x");
  for (const std::string bad : {"..", "a/../b", "a//b", "", "/", "a%2e", "."}) {
    EXPECT_EQ(client->Get().Suffix(bad).Do().error().reason, Reason::kBadRequest) << bad;
    EXPECT_EQ(client->Get().Prefix(bad).Do().error().reason, Reason::kBadRequest) << bad;
  }
}

TEST(RequestPathTest, VersionedParamsAreTheSetFields) {
  const auto client = NewClient("http://127.0.0.1:1");
  api::meta::v1::PatchOptions options;
  EXPECT_EQ(client->Get().AbsPath("/x").VersionedParams(options).ToString(), "GET /x");
  options.dry_run = {"All", "b c"};
  options.force = false;
  options.field_manager = "me";
  EXPECT_EQ(client->Get().AbsPath("/x").VersionedParams(options).ToString(),
            "GET /x?dryRun=All&dryRun=b%20c&force=false&fieldManager=me");
  api::meta::v1::DeleteOptions deletion;
  deletion.grace_period_seconds = 0;
  deletion.preconditions.emplace().uid = "u";
  EXPECT_EQ(client->Delete().AbsPath("/x").VersionedParams(deletion).ToString(),
            "DELETE /x?gracePeriodSeconds=0");
}

TEST(ImpersonationTest, SendsEachGroupAndExtraValueAsAHeaderOfItsOwn) {
  FakeRequest seen;
  FakeServer server([&seen](FakeConnection& connection) {
    while (const auto request = connection.ReadRequest()) {
      seen = *request;
      connection.Respond(200, "application/json", "{}");
    }
  });
  const auto client = ClientFor({.host = server.Url(),
                                 .impersonate = {.user = "jane",
                                                 .uid = "7",
                                                 .groups = {"dev, ops", "system:masters"},
                                                 .extra = {{"a.io/Sco pe%", {"x", "", "z"}}}}});
  ASSERT_TRUE(client->Get().AbsPath("/x").Do());
  EXPECT_EQ(seen.headers["impersonate-user"], "jane");
  EXPECT_EQ(seen.headers["impersonate-uid"], "7");
  EXPECT_EQ(seen.headers["impersonate-group"], "dev, ops\nsystem:masters");
  EXPECT_EQ(seen.headers["impersonate-extra-a.io%2fsco%20pe%25"], "x\n\nz");
  ASSERT_TRUE(client->Get().AbsPath("/x").Header("Impersonate-User", "other").Do());
  EXPECT_EQ(seen.headers["impersonate-user"], "other");
  EXPECT_FALSE(seen.headers.contains("impersonate-group")) << "the request says it all";
}

TEST(ImpersonationTest, RefusesWhatCannotBeSent) {
  for (const ImpersonationConfig& bad :
       {ImpersonationConfig{.groups = {"g"}}, ImpersonationConfig{.user = "a\r\nX: y"},
        ImpersonationConfig{.user = "a", .groups = {"b\n"}}}) {
    const auto client = RESTClient::New({.host = "http://a", .impersonate = bad});
    ASSERT_FALSE(client);
    EXPECT_EQ(client.error().reason, Reason::kInvalidConfig);
  }
}

TEST(NegotiationTest, JsonIsUsedForAResourceOnceProtobufWasRefused) {
  std::vector<std::string> types;
  FakeServer server([&types](FakeConnection& connection) {
    while (const auto request = connection.ReadRequest()) {
      types.push_back(request->headers.at("content-type") + " " + request->body);
      const bool json = request->headers.at("content-type") == "application/json";
      connection.Respond(json ? 201 : 415, "application/json", "{}");
    }
  });
  const auto client = NewClient(server.Url());
  const auto encode = [](Encoding encoding) -> Result<std::string> {
    return std::string(encoding == Encoding::kJson ? "J" : "P");
  };
  const auto post = [&](const apimachinery::ResourceInfo& resource) {
    return client->Post().Resource(resource).Namespace("n").Body(encode).Do();
  };
  ASSERT_TRUE(post(kConfigMaps));
  ASSERT_TRUE(post(kConfigMaps));
  ASSERT_TRUE(post(testing::kDeployments));
  EXPECT_THAT(types, ElementsAre("application/vnd.kubernetes.protobuf P", "application/json J",
                                 "application/json J", "application/vnd.kubernetes.protobuf P",
                                 "application/json J"));
}

TEST(NegotiationTest, AcceptFallsBackToJsonAfter406) {
  std::vector<std::string> accepts;
  FakeServer server([&accepts](FakeConnection& connection) {
    while (const auto request = connection.ReadRequest()) {
      accepts.push_back(request->headers.at("accept"));
      const bool json = accepts.back() == "application/json";
      connection.Respond(json ? 200 : 406, "application/json", "{}");
    }
  });
  const auto client = NewClient(server.Url());
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(client->Get().Resource(kConfigMaps).Accept({Encoding::kProtobuf}).Do());
  }
  EXPECT_THAT(accepts, ElementsAre("application/vnd.kubernetes.protobuf", "application/json",
                                   "application/json"));
}

class CollectWarnings final : public WarningHandler {
 public:
  void Handle(const Warning& warning) override { texts.push_back(warning.text); }
  std::vector<std::string> texts;
};

TEST(WarningHandlerTest, GetsThoseOfResponsesErrorsAndWatches) {
  FakeServer server([](FakeConnection& connection) {
    while (const auto request = connection.ReadRequest()) {
      connection.Respond(request->target == "/gone" ? 404 : 200, "application/json", "{}",
                         {{"Warning", "299 - \"" + request->target + "\""}});
    }
  });
  const auto warnings = std::make_shared<CollectWarnings>();
  const auto client = NewClient(server.Url(), {.warnings = warnings});
  EXPECT_TRUE(client->Get().AbsPath("/a").Do());
  EXPECT_FALSE(client->Get().AbsPath("/gone").Do());
  EXPECT_TRUE(client->Get().AbsPath("/w").Watch().Stream(
      [](const auto&) -> Result<void> { return {}; },
      [](std::string_view) -> Result<void> { return {}; }, {}));
  EXPECT_TRUE(client->Get().AbsPath("/quiet").Warnings(NoWarnings()).Do());
  EXPECT_TRUE(client->Get().AbsPath("/none").Warnings(nullptr).Do());
  EXPECT_THAT(warnings->texts, ElementsAre("/a", "/gone", "/w?watch=true"));
}

TEST(BackoffTest, DoublesUntilTheServerRecovers) {
  ExponentialBackoff backoff(seconds(1), seconds(4));
  EXPECT_EQ(backoff.Delay("h"), seconds(0));
  std::vector<base::Duration> delays;
  for (const int code : {500, 429, 503, 599}) {
    backoff.Update("h", code);
    delays.push_back(backoff.Delay("h"));
  }
  EXPECT_THAT(delays, ElementsAre(seconds(1), seconds(2), seconds(4), seconds(4)));
  EXPECT_EQ(backoff.Delay("other"), seconds(0));
  for (const int code : {200, 404, 0}) {
    backoff.Update("h", code);
    EXPECT_EQ(backoff.Delay("h"), seconds(0));
    backoff.Update("h", 500);
  }
}

TEST(BackoffTest, IsReadFromTheEnvironment) {
  EXPECT_EQ(BackoffFromEnvironment(), nullptr);
  ::setenv("KUBE_CLIENT_BACKOFF_BASE", "2", 1);
  EXPECT_EQ(BackoffFromEnvironment(), nullptr);
  ::setenv("KUBE_CLIENT_BACKOFF_DURATION", "3", 1);
  const auto backoff = BackoffFromEnvironment();
  ::setenv("KUBE_CLIENT_BACKOFF_DURATION", "x", 1);
  EXPECT_EQ(BackoffFromEnvironment(), nullptr);
  ::unsetenv("KUBE_CLIENT_BACKOFF_BASE");
  ::unsetenv("KUBE_CLIENT_BACKOFF_DURATION");
  ASSERT_NE(backoff, nullptr);
  backoff->Update("h", 500);
  backoff->Update("h", 500);
  EXPECT_EQ(backoff->Delay("h"), seconds(3));
}

TEST(BackoffTest, ARequestWaitsForItAndRetryAfterIsWaitedForIfLonger) {
  FakeClock clock;
  std::atomic<int> count = 0;
  FakeServer server([&count](FakeConnection& connection) {
    while (connection.ReadRequest()) {
      const int n = ++count;
      connection.Respond(
          n < 3 ? 500 : 200, "application/json", "{}",
          n == 2 ? std::vector<std::pair<std::string, std::string>>{{"Retry-After", "110"}}
                 : std::vector<std::pair<std::string, std::string>>{});
    }
  });
  metrics::Registry registry;
  RESTClient::Options options = testing::WithoutDeadlines(clock);
  options.registry = &registry;
  options.backoff = std::make_shared<ExponentialBackoff>(seconds(40), seconds(80));
  const auto client = NewClient(server.Url(), options);
  EXPECT_EQ(client->Get().AbsPath("/x").Do().error().code, 500);
  Result<Response> result;
  std::jthread caller([&] { result = client->Get().AbsPath("/x").Do(); });
  const base::TimePoint start = clock.Now();
  clock.AdvanceToSleeper(seconds(40));
  clock.AdvanceToSleeper(seconds(110));
  caller.join();
  ASSERT_TRUE(result) << result.error().ToString();
  EXPECT_EQ(clock.Now() - start, seconds(40 + 110));
  EXPECT_THAT(registry.Serialize(),
              HasSubstr("rest_client_request_retries_total{code=\"500\",host=\"127.0.0.1:" +
                        std::to_string(server.port()) + "\",verb=\"GET\"} 1"));
}

class CountingLimiter final : public RateLimiter {
 public:
  base::Duration Reserve() override {
    ++reserved;
    return base::Duration::zero();
  }
  void Cancel() override {}
  std::atomic<int> reserved = 0;
};

TEST(RateLimiterTest, OfClientOrRequestIsAskedAndMayBeShared) {
  FakeServer server([](FakeConnection& connection) {
    while (connection.ReadRequest()) {
      connection.Respond(200, "application/json", "{}");
    }
  });
  metrics::Registry registry;
  const auto shared = std::make_shared<CountingLimiter>();
  const auto own = std::make_shared<CountingLimiter>();
  const auto one = NewClient(server.Url(), {.registry = &registry, .rate_limiter = shared});
  const auto two = NewClient(server.Url(), {.rate_limiter = shared});
  EXPECT_TRUE(one->Get().AbsPath("/x").Do());
  EXPECT_TRUE(two->Get().AbsPath("/x").Do());
  EXPECT_EQ(shared->reserved, 2);
  EXPECT_TRUE(one->Post().AbsPath("/x").Throttle(own).Body(Encoding::kJson, "12345").Do());
  EXPECT_TRUE(one->Get().AbsPath("/x").Throttle(nullptr).Do());
  EXPECT_EQ(own->reserved, 1);
  EXPECT_EQ(shared->reserved, 2);
  const std::string text = registry.Serialize();
  const std::string labels = "{host=\"127.0.0.1:" + std::to_string(server.port()) + "\",verb=";
  EXPECT_THAT(
      text, HasSubstr("rest_client_rate_limiter_duration_seconds_count" + labels + "\"POST\"} 1"));
  EXPECT_THAT(text, HasSubstr("rest_client_request_size_bytes_sum" + labels + "\"POST\"} 5"));
  EXPECT_THAT(text, HasSubstr("rest_client_response_size_bytes_sum" + labels + "\"GET\"} 4"));
}

// Returns a wait of an hour at its `nth` call. The request that waits then is stopped.
class SlowFrom final : public RateLimiter, public BackoffManager {
 public:
  SlowFrom(int nth, std::stop_source stop) : left_(nth), stop_(std::move(stop)) {}
  base::Duration Reserve() override { return Next(); }
  void Cancel() override { ++cancelled; }
  base::Duration Delay(const std::string&) override { return Next(); }
  void Update(const std::string&, int) override {}
  int cancelled = 0;

 private:
  base::Duration Next() {
    if (--left_ > 0) {
      return base::Duration::zero();
    }
    stop_.request_stop();
    return std::chrono::hours(1);
  }

  int left_;
  std::stop_source stop_;
};

class TimeoutOfRetriesTest : public ::testing::Test {
 protected:
  Result<Response> Ask(Request& request) {
    return request.AbsPath("/x").Timeout(seconds(60)).Do(stop_.get_token());
  }

  FakeServer server_{[](FakeConnection& connection) {
    while (connection.ReadRequest()) {
      connection.Respond(429, "text/plain", "busy", {{"Retry-After", "0"}});
    }
  }};
  std::stop_source stop_;
};

TEST_F(TimeoutOfRetriesTest, NoneWaitsForARateLimitThatIsLonger) {
  const auto limiter = std::make_shared<SlowFrom>(2, stop_);
  const auto client = NewClient(server_.Url(), {.rate_limiter = limiter});
  Request request = client->Get();
  const auto result = Ask(request);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().reason, Reason::kTooManyRequests) << result.error().ToString();
  EXPECT_EQ(limiter->cancelled, 1);
}

TEST_F(TimeoutOfRetriesTest, NoneWaitsForABackoffThatIsLonger) {
  for (const auto& [nth, expected] :
       {std::pair(1, Reason::kTimeout), std::pair(2, Reason::kTooManyRequests)}) {
    stop_ = std::stop_source();
    const auto client =
        NewClient(server_.Url(), {.backoff = std::make_shared<SlowFrom>(nth, stop_)});
    Request request = client->Get();
    const auto result = Ask(request);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().reason, expected) << result.error().ToString();
  }
}

TEST(ThrottleLogTest, SaysLongWaitsLoudlyButNotOften) {
  using logging::Level;
  internal::ThrottleLog log;
  const base::TimePoint t0;
  EXPECT_EQ(log.LevelOf(milliseconds(50), t0), std::nullopt);
  EXPECT_EQ(log.LevelOf(milliseconds(51), t0), Level::kTrace);
  EXPECT_EQ(log.LevelOf(milliseconds(1000), t0), Level::kTrace);
  EXPECT_EQ(log.LevelOf(milliseconds(1001), t0), Level::kInfo);
  EXPECT_EQ(log.LevelOf(milliseconds(1001), t0 + milliseconds(999)), Level::kTrace);
  EXPECT_EQ(log.LevelOf(milliseconds(1001), t0 + seconds(1)), Level::kDebug);
  EXPECT_EQ(log.LevelOf(milliseconds(1001), t0 + seconds(9)), Level::kDebug);
  EXPECT_EQ(log.LevelOf(milliseconds(1001), t0 + seconds(10)), Level::kInfo);
}

}  // namespace
}  // namespace kubexx::rest
