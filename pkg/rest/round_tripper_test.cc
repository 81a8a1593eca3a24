#include "kubexx/rest/round_tripper.h"

#include <gmock/gmock.h>

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/rest/testing/client.h"

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

/// What the server is to do with one request.
struct ScriptedAnswer {
  HttpHead head{};  ///< code 0: the connection is lost
  std::vector<std::string> pieces{};
};

/// Answers by its script, in the caller's process.
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

/// Keeps the requests.
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

}  // namespace
}  // namespace kubexx::rest
