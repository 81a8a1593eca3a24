// Tests requests whose webhook does not answer.
#include "kubexx/apiserver/admission/dispatcher.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/rest/testing/certificates.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::apiserver::admission {
namespace {

using apimachinery::Fail;
using apimachinery::LabelMap;
using apimachinery::Reason;
using apimachinery::Result;
using base::testing::FakeClock;
using codec::JsonTree;
using rest::testing::FakeConnection;
using rest::testing::FakeServer;
using ::testing::HasSubstr;

class NoCluster final : public Cluster {
 public:
  Result<std::string> Resolve(const ServiceReference&, const std::stop_token&) override {
    return Fail(Reason::kNotFound, "no services");
  }
  Result<LabelMap> NamespaceLabels(const std::string&, const std::stop_token&) override {
    return LabelMap();
  }
};

/// Counts the calls that last at the same time. None ends before `together` have begun.
class CountingCaller final : public Caller {
 public:
  explicit CountingCaller(int together) : together_(together) {}
  Result<std::string> Post(const Endpoint&, std::string_view, const std::stop_token&) override {
    base::MutexLock lock(mu_);
    ++now_;
    most_ = std::max(most_, now_);
    changed_.notify_all();
    base::testing::Patience patience("most_ >= together_", base::testing::Where::current());
    while (most_ < together_) {
      patience.Wait(changed_, mu_);
    }
    --now_;
    return Fail(Reason::kUnavailable, "no answer");
  }
  int most() const {
    base::MutexLock lock(mu_);
    return most_;
  }

 private:
  const int together_;
  mutable base::Mutex mu_;
  base::CondVar changed_;
  int now_ KX_GUARDED_BY(mu_) = 0;
  int most_ KX_GUARDED_BY(mu_) = 0;
};

TEST(DispatcherTest, ManyWebhooksOfARequestNeedFewThreads) {
  const Dispatcher::Webhooks webhooks(
      200,
      {.name = "a.b.c",
       .client = {.url = "https://127.0.0.1:1/"},
       .rules = {{.operations = {"*"}, .groups = {"*"}, .versions = {"*"}, .resources = {"*"}}},
       .ignores_failures = true,
       .namespace_selector = JsonTree::Object(),
       .object_selector = JsonTree::Object()});
  CountingCaller caller(3);
  NoCluster cluster;
  HelperThreads threads({.all = 5, .one = 2});
  const Attributes attributes{
      .operation = "CREATE",
      .target = {.resource = {"", "v1", "configmaps"}, .kind = {"", "v1", "ConfigMap"}},
      .namespace_ = "default",
      .name = "m"};
  const http::Request request;
  std::vector<std::string> warnings;
  const JsonTree object = *JsonTree::Parse(R"({"metadata":{"name":"m"}})");
  EXPECT_TRUE(Dispatcher(caller, cluster, threads)
                  .Validate(webhooks,
                            {.attributes = attributes, .request = request, .warnings = warnings},
                            {.object = &object}));
  EXPECT_EQ(caller.most(), 3);
}

/// A webhook that accepts its request and does not answer.
class SilentWebhookTest : public ::testing::TestWithParam<bool> {
 protected:
  static bool mutating() { return GetParam(); }
  static JsonTree ConfigMap() { return *JsonTree::Parse(R"({"metadata":{"name":"m"}})"); }

  Webhook Silent(std::chrono::seconds timeout, bool ignores_failures) const {
    return {
        .name = "a.b.c",
        .client = {.url = server_.Url() + "/", .authority = authority_.certificate()},
        .rules = {{.operations = {"*"}, .groups = {"*"}, .versions = {"*"}, .resources = {"*"}}},
        .ignores_failures = ignores_failures,
        .namespace_selector = JsonTree::Object(),
        .object_selector = JsonTree::Object(),
        .has_side_effects = false,
        .timeout = timeout};
  }
  /// Returns the client's result for a request that calls such a webhook.
  Result<void> Write(const Webhook& webhook, const std::stop_token& stop = {}) {
    const Attributes attributes{
        .operation = "CREATE",
        .target = {.resource = {"", "v1", "configmaps"}, .kind = {"", "v1", "ConfigMap"}},
        .namespace_ = "default",
        .name = "m"};
    http::Request request;
    request.stop = stop;
    std::vector<std::string> warnings;
    const Dispatch dispatch{.attributes = attributes, .request = request, .warnings = warnings};
    HelperThreads threads;
    Dispatcher dispatcher(*caller_, cluster_, threads);
    JsonTree object = ConfigMap();
    return mutating() ? dispatcher.Mutate(
                            {webhook}, dispatch, &object, nullptr,
                            [](const JsonTree& shown, const JsonTree&, const Target&) {
                              return Result<JsonTree>(shown);
                            },
                            [] { return Result<void>(); })
                      : dispatcher.Validate({webhook}, dispatch, {.object = &object});
  }
  rest::testing::FakeServerTls Tls() const {
    const auto issued = authority_.Issue({.alternative_names = "IP:127.0.0.1"});
    return {.certificate = issued.certificate, .key = issued.key};
  }

  FakeClock clock_;
  const std::shared_ptr<Caller> caller_ = NewCaller(clock_);
  NoCluster cluster_;
  rest::testing::CertificateAuthority authority_{"hooks"};
  /// Is called when the webhook has got its request. By default, its timeout passes.
  std::function<void()> on_asked_ = [this] { clock_.Advance(std::chrono::seconds(1)); };
  FakeServer server_{[this](FakeConnection& connection) {
                       if (connection.ReadRequest()) {
                         on_asked_();
                         connection.AwaitPeer();
                       }
                     },
                     Tls()};
};

TEST_P(SilentWebhookTest, RefusesWhatItsPolicyWantsToFail) {
  const auto refused = Write(Silent(std::chrono::seconds(1), false));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, 500);
  EXPECT_EQ(refused.error().reason, Reason::kInternalError);
  EXPECT_EQ(refused.error().message,
            R"(Internal error occurred: failed calling webhook "a.b.c": failed to call webhook: )"
            "Post \"" +
                server_.Url() + R"(/?timeout=1s": context deadline exceeded)");
  EXPECT_EQ(server_.connections(), 1);
}

TEST_P(SilentWebhookTest, IsPassedOverWhenItsPolicyIgnoresThat) {
  const auto taken = Write(Silent(std::chrono::seconds(1), true));
  EXPECT_TRUE(taken) << taken.error().message;
  EXPECT_EQ(server_.connections(), 1);
}

// Whatever the failure policy is, nobody waits for the answer to the request any more.
TEST_P(SilentWebhookTest, IsNotWaitedForWhenTheTimeOfTheRequestIsOver) {
  for (const bool ignores_failures : {false, true}) {
    std::stop_source over;
    on_asked_ = [&over] { over.request_stop(); };
    const auto refused =
        Write(Silent(std::chrono::minutes(30), ignores_failures), over.get_token());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, 504);
    EXPECT_EQ(refused.error().reason, Reason::kTimeout);
    EXPECT_THAT(refused.error().message,
                HasSubstr("request did not complete within requested timeout: failed calling "
                          "webhook \"a.b.c\": failed to call webhook: "));
  }
}

INSTANTIATE_TEST_SUITE_P(, SilentWebhookTest, ::testing::Bool(),
                         [](const auto& one) { return one.param ? "Mutating" : "Validating"; });

}  // namespace
}  // namespace kubexx::apiserver::admission
