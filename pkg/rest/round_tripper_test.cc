#include "kubexx/rest/round_tripper.h"

#include <gmock/gmock.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"
#include "kubexx/rest/testing/recorder.h"

namespace kubexx::rest {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using testing::ClientFor;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::kConfigMaps;
using ::testing::Pair;

/// What the server does with one request.
struct ScriptedAnswer {
  HttpHead head{};  ///< code 0: the connection is lost
  std::vector<std::string> pieces{};
};

/// Answers by its script, inside the client's process.
class ScriptedTrip final : public RoundTrip {
 public:
  explicit ScriptedTrip(ScriptedAnswer answer) : answer_(std::move(answer)) {}

  Result<HttpHead> AwaitHead(const std::stop_token&, const Limits&) override {
    if (answer_.head.code == 0) {
      return Fail(Reason::kUnavailable, "lost");
    }
    return answer_.head;
  }
  Result<bool> Read(Sink sink, const std::stop_token&, base::TimePoint) override {
    if (next_ == answer_.pieces.size()) {
      return false;
    }
    KX_RETURN_IF_ERROR(sink(answer_.pieces[next_++]));
    return true;
  }
  bool lost_connection() const override { return answer_.head.code == 0; }
  bool failed() const override { return answer_.head.code == 0; }

 private:
  const ScriptedAnswer answer_;
  std::size_t next_ = 0;
};

/// Keeps the requests that it gets.
class ScriptedTripper final : public RoundTripper {
 public:
  explicit ScriptedTripper(std::vector<ScriptedAnswer> answers) : answers_(std::move(answers)) {}

  std::unique_ptr<RoundTrip> Start(const HttpRequest& request) override {
    seen_.push_back(request.method + " " + request.target + " " + std::string(request.body));
    headers_ = request.headers;
    return std::make_unique<ScriptedTrip>(answers_[seen_.size() - 1]);
  }
  const std::vector<std::string>& seen() const { return seen_; }
  const std::vector<std::pair<std::string, std::string>>& headers() const { return headers_; }

 private:
  const std::vector<ScriptedAnswer> answers_;
  std::vector<std::string> seen_;
  std::vector<std::pair<std::string, std::string>> headers_;
};

Config ConfigWith(const std::shared_ptr<ScriptedTripper>& tripper) {
  return {.host = "https://nowhere.invalid", .bearer_token = "me", .round_tripper = tripper};
}

TEST(RoundTripperTest, StandsInForTheNetwork) {
  const auto tripper = std::make_shared<ScriptedTripper>(std::vector<ScriptedAnswer>{
      {.head = {.code = 200, .content_type = "application/json"}, .pieces = {"{\"a\"", ":1}"}}});
  const auto client = ClientFor(ConfigWith(tripper));
  const auto response = client->Post()
                            .Resource(kConfigMaps)
                            .Namespace("ns")
                            .Body(codec::Encoding::kJson, "text")
                            .Do();
  ASSERT_TRUE(response) << response.error().ToString();
  EXPECT_EQ(response->body, "{\"a\":1}");
  EXPECT_THAT(tripper->seen(), ElementsAre("POST /api/v1/namespaces/ns/configmaps text"));
  EXPECT_THAT(tripper->headers(), Contains(Pair("Authorization", "Bearer me")));
}

TEST(RoundTripperTest, WhatItLosesIsTriedAgainAsOnTheNetwork) {
  const auto tripper = std::make_shared<ScriptedTripper>(std::vector<ScriptedAnswer>{
      {}, {.head = {.code = 503, .retry_after = "1"}}, {.head = {.code = 200}}});
  base::testing::FakeClock clock;
  const auto client = ClientFor(ConfigWith(tripper), testing::WithoutDeadlines(clock));
  Result<Response> response;
  {
    const std::jthread asks([&] { response = client->Get().Resource(kConfigMaps).Do(); });
    for (int tries = 1; tries <= 2; ++tries) {
      clock.AwaitSleepers(1);
      clock.Advance(std::chrono::seconds(1));
    }
  }
  EXPECT_TRUE(response) << response.error().ToString();
  EXPECT_EQ(tripper->seen().size(), 3U);
}

/// Sees every request, and answers itself when the server would not know the path.
class Middleware final : public RoundTripper {
 public:
  explicit Middleware(std::shared_ptr<RoundTripper> inner) : inner_(std::move(inner)) {}

  std::unique_ptr<RoundTrip> Start(const HttpRequest& request) override {
    const base::MutexLock lock(mu_);
    seen_.push_back(request.method + " " + request.target);
    if (request.target.find("unknown") != std::string::npos) {
      return std::make_unique<ScriptedTrip>(ScriptedAnswer{.head = {.code = 404}});
    }
    HttpRequest changed = request;
    changed.headers.emplace_back("X-Trace", std::to_string(seen_.size()));
    return inner_->Start(changed);
  }
  std::vector<std::string> seen() const {
    const base::MutexLock lock(mu_);
    return seen_;
  }

 private:
  const std::shared_ptr<RoundTripper> inner_;
  mutable base::Mutex mu_;
  std::vector<std::string> seen_ KX_GUARDED_BY(mu_);
};

// Returns a config whose clients send through `middleware`, which this function makes.
Config ConfigThrough(std::shared_ptr<Middleware>& middleware, std::string host) {
  return {.host = std::move(host),
          .wrap_round_tripper = [&middleware](std::shared_ptr<RoundTripper> inner) {
            middleware = std::make_shared<Middleware>(std::move(inner));
            return middleware;
          }};
}

TEST(RoundTripperTest, MiddlewareSeesChangesAndAnswersRequests) {
  testing::Recorder server([](testing::FakeConnection& connection, const testing::FakeRequest&) {
    connection.Respond(200, "application/json", "{}");
  });
  std::shared_ptr<Middleware> middleware;
  const auto client = ClientFor(ConfigThrough(middleware, server.client()->config().host));
  EXPECT_TRUE(client->Get().Resource(kConfigMaps).Namespace("ns").Name("a").Do());
  std::string body;
  const auto streamed = client->Get()
                            .Resource(kConfigMaps)
                            .Watch()
                            .Stream([](const Request::StreamHead&) -> Result<void> { return {}; },
                                    [&body](std::string_view chunk) -> Result<void> {
                                      body += chunk;
                                      return {};
                                    },
                                    {});
  EXPECT_TRUE(streamed) << streamed.error().ToString();
  EXPECT_EQ(body, "{}");
  const auto unknown = client->Get().Resource(kConfigMaps).Namespace("ns").Name("unknown").Do();
  EXPECT_EQ(unknown.error().reason, Reason::kNotFound);
  EXPECT_THAT(middleware->seen(), ElementsAre("GET /api/v1/namespaces/ns/configmaps/a",
                                              "GET /api/v1/configmaps?watch=true",
                                              "GET /api/v1/namespaces/ns/configmaps/unknown"));
  EXPECT_EQ(server.targets().size(), 2U) << "the middleware has answered the last one";
  EXPECT_THAT(server.last().headers, Contains(Pair("x-trace", "2")));
}

TEST(RoundTripperTest, MiddlewareMayGoAroundARoundTripper) {
  const auto tripper = std::make_shared<ScriptedTripper>(
      std::vector<ScriptedAnswer>{{.head = {.code = 200}, .pieces = {"{}"}}});
  std::shared_ptr<Middleware> middleware;
  Config config = ConfigThrough(middleware, "https://nowhere.invalid");
  config.round_tripper = tripper;
  EXPECT_TRUE(ClientFor(std::move(config))->Get().Resource(kConfigMaps).Do());
  EXPECT_THAT(tripper->headers(), Contains(Pair("X-Trace", "1")));
}

TEST(RoundTripperTest, MiddlewareThatIsNullIsAnError) {
  const auto client =
      RESTClient::New({.host = "http://127.0.0.1:1", .wrap_round_tripper = [](const auto&) {
                         return std::shared_ptr<RoundTripper>();
                       }});
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().reason, Reason::kInvalidConfig);
}

/// Adds one header, or changes the request in another way.
class ChangingTripper final : public RoundTripper {
 public:
  using Change = std::function<void(HttpRequest&)>;
  ChangingTripper(std::shared_ptr<RoundTripper> inner, Change change)
      : inner_(std::move(inner)), change_(std::move(change)) {}
  std::unique_ptr<RoundTrip> Start(const HttpRequest& request) override {
    HttpRequest changed = request;
    change_(changed);
    return inner_->Start(changed);
  }

 private:
  const std::shared_ptr<RoundTripper> inner_;
  const Change change_;
};

TEST(RoundTripperTest, WhatMiddlewareAddsCannotBeginAnotherHeader) {
  testing::Recorder server([](testing::FakeConnection& connection, const testing::FakeRequest&) {
    connection.Respond(200, "application/json", "{}");
  });
  const auto header = [](std::string name, std::string value) -> ChangingTripper::Change {
    return [name, value](HttpRequest& request) { request.headers.emplace_back(name, value); };
  };
  for (const ChangingTripper::Change& change :
       {header("X-Audit", "joe\r\nImpersonate-User: admin"), header("X-Audit", "joe\nx"),
        header("X-Audit", std::string("joe\0", 4)), header("X-Audit: joe\r\nImpersonate-User", "a"),
        ChangingTripper::Change(
            [](HttpRequest& request) { request.target += " HTTP/1.1\r\nImpersonate-User: a"; }),
        ChangingTripper::Change([](HttpRequest& request) { request.method = "GET / "; })}) {
    const auto client =
        ClientFor({.host = server.url(),
                   .wrap_round_tripper = [&change](std::shared_ptr<RoundTripper> inner) {
                     return std::make_shared<ChangingTripper>(std::move(inner), change);
                   }});
    const auto answer = client->Get().Resource(kConfigMaps).Do();
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().reason, Reason::kBadRequest) << answer.error().ToString();
    const auto streamed = client->Get()
                              .Resource(kConfigMaps)
                              .Watch()
                              .Stream([](const auto&) -> Result<void> { return {}; },
                                      [](std::string_view) -> Result<void> { return {}; }, {});
    ASSERT_FALSE(streamed);
    EXPECT_EQ(streamed.error().reason, Reason::kBadRequest);
  }
  EXPECT_THAT(server.targets(), ::testing::IsEmpty());
}

/// Breaks its promise.
class NullTripper final : public RoundTripper {
 public:
  std::unique_ptr<RoundTrip> Start(const HttpRequest&) override { return nullptr; }
};

TEST(RoundTripperTest, ANullRoundTripIsAnError) {
  const auto client = ClientFor(
      {.host = "http://nowhere.invalid", .round_tripper = std::make_shared<NullTripper>()});
  const auto answer = client->Get().Resource(kConfigMaps).Do();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().reason, Reason::kInternalError);
  EXPECT_THAT(answer.error().message, ::testing::HasSubstr("has returned null"));
}

/// Where a ThrowingTripper throws.
enum class Throws : std::uint8_t { kStart, kHead, kRead };

/// Throws in one of its functions, and answers with an empty body where it does not come to that.
class ThrowingTripper final : public RoundTripper {
 public:
  explicit ThrowingTripper(Throws where) : where_(where) {}

  std::unique_ptr<RoundTrip> Start(const HttpRequest&) override {
    if (where_ == Throws::kStart) {
      throw std::runtime_error("boom");
    }
    return std::make_unique<Trip>(where_);
  }

 private:
  class Trip final : public RoundTrip {
   public:
    explicit Trip(Throws where) : where_(where) {}
    Result<HttpHead> AwaitHead(const std::stop_token&, const Limits&) override {
      if (where_ == Throws::kHead) {
        throw std::runtime_error("boom");
      }
      return HttpHead{.code = 200, .content_type = "application/json"};
    }
    Result<bool> Read(Sink, const std::stop_token&, base::TimePoint) override {
      throw std::runtime_error("boom");
    }
    bool lost_connection() const override { throw std::runtime_error("boom"); }
    bool failed() const override { throw std::runtime_error("boom"); }

   private:
    const Throws where_;
  };

  const Throws where_;
};

class ThrowingTripperTest : public ::testing::TestWithParam<Throws> {};

TEST_P(ThrowingTripperTest, ItsExceptionIsAFailedRequest) {
  Config config{.host = "https://nowhere.invalid"};
  if (GetParam() == Throws::kStart) {  // as middleware
    config.wrap_round_tripper = [](const auto&) {
      return std::make_shared<ThrowingTripper>(GetParam());
    };
  } else {
    config.round_tripper = std::make_shared<ThrowingTripper>(GetParam());
  }
  const auto client = ClientFor(std::move(config));
  const auto answer = client->Get().Resource(kConfigMaps).Do();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().reason, Reason::kInternalError) << answer.error().ToString();
  EXPECT_THAT(answer.error().message, ::testing::HasSubstr("threw"));
  EXPECT_THAT(answer.error().message, ::testing::HasSubstr("boom"));
  const auto streamed = client->Get()
                            .Resource(kConfigMaps)
                            .Watch()
                            .Stream([](const auto&) -> Result<void> { return {}; },
                                    [](std::string_view) -> Result<void> { return {}; }, {});
  ASSERT_FALSE(streamed);
  EXPECT_EQ(streamed.error().reason, Reason::kInternalError) << streamed.error().ToString();
}

INSTANTIATE_TEST_SUITE_P(RoundTripperTest, ThrowingTripperTest,
                         ::testing::Values(Throws::kStart, Throws::kHead, Throws::kRead));

TEST(RoundTripperTest, MiddlewareThatCannotBeMadeIsAnError) {
  const auto client =
      RESTClient::New({.host = "http://127.0.0.1:1",
                       .wrap_round_tripper = [](const auto&) -> std::shared_ptr<RoundTripper> {
                         throw std::runtime_error("boom");
                       }});
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().reason, Reason::kInvalidConfig);
  EXPECT_THAT(client.error().message, ::testing::HasSubstr("boom"));
}

TEST(RoundTripperTest, WhatASinkThrowsIsTheCallers) {
  const auto tripper = std::make_shared<ScriptedTripper>(
      std::vector<ScriptedAnswer>{{.head = {.code = 200}, .pieces = {"{}"}}});
  const auto client = ClientFor(ConfigWith(tripper));
  const auto read = [&client] {
    return client->Get()
        .Resource(kConfigMaps)
        .Stream([](const auto&) -> Result<void> { return {}; },
                [](std::string_view) -> Result<void> { throw std::runtime_error("mine"); }, {});
  };
  EXPECT_THROW((void)read(), std::runtime_error);
}

/// Throws whenever it is asked.
class ThrowingLimiter final : public RateLimiter {
 public:
  base::Duration Reserve() override { throw std::runtime_error("boom"); }
  void Cancel() override {}
};

TEST(RoundTripperTest, ARateLimiterThatThrowsFailsTheRequest) {
  const auto client = ClientFor({.host = "http://127.0.0.1:1"},
                                {.rate_limiter = std::make_shared<ThrowingLimiter>()});
  const auto answer = client->Get().Resource(kConfigMaps).Do();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().reason, Reason::kInternalError);
  EXPECT_THAT(answer.error().message, ::testing::HasSubstr("boom"));
}

}  // namespace
}  // namespace kubexx::rest
