#include "kubexx/reloader/watch/served_apis.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/reloader/model/workload_kind.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/rest/round_tripper.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/http_threads.h"
#include "kubexx/rest/testing/recorder.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Reason;
using rest::testing::FakeConnection;
using rest::testing::FakeRequest;
using std::chrono::seconds;
using testing::ElementsAre;

constexpr char kOnlyApps[] = R"({"groups":[{"name":"apps","versions":[{"version":"v1"}]}]})";
constexpr char kAppsAndArgo[] = R"({"groups":[{"name":"apps","versions":[{"version":"v1"}]},)"
                                R"({"name":"argoproj.io","versions":[{"version":"v1alpha1"}]}]})";
constexpr char kRollouts[] = R"({"kind":"APIResourceList","resources":[{"name":"rollouts"}]})";
constexpr char kArgo[] = "/apis/argoproj.io/v1alpha1";
constexpr char kOpenShift[] = "/apis/apps.openshift.io/v1";

class ServedApisTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { rest::testing::StartHttpThreads(); }

  /// Other paths are answered with 404.
  void Answer(const std::string& path, int code, const std::string& body) {
    const base::MutexLock lock(mu_);
    answers_[path] = {code, body};
  }
  apimachinery::Result<bool> Has(WorkloadKind kind, base::Duration max_age = ServedApis::kNow) {
    return apis_.Has(ResourceOf(kind), max_age, {});
  }
  bool HasRollouts(base::Duration max_age = ServedApis::kNow) {
    const auto has = Has(WorkloadKind::kRollout, max_age);
    EXPECT_TRUE(has) << has.error().ToString();
    return has.value_or(false);
  }
  bool LacksRollouts() {
    clock_.Advance(seconds(2));
    return apis_.LacksGroup(ResourceOf(WorkloadKind::kRollout), ServedApis::kNow, {});
  }

  base::Mutex mu_;
  std::map<std::string, std::pair<int, std::string>> answers_ KX_GUARDED_BY(mu_);
  rest::testing::Recorder server_{[this](FakeConnection& connection, const FakeRequest& request) {
    const base::MutexLock lock(mu_);
    const auto found = answers_.find(request.target);
    if (found == answers_.end()) {
      connection.Respond(404, "text/plain", "404 page not found");
    } else {
      connection.Respond(found->second.first, "application/json", found->second.second);
    }
  }};
  base::testing::FakeClock clock_;
  ServedApis apis_{server_.client(), clock_};
};

TEST_F(ServedApisTest, AnAnswerWithoutResourcesSaysNothingOfWhatIsServed) {
  Answer(kArgo, 200, "{}");
  EXPECT_EQ(Has(WorkloadKind::kRollout).error().reason, Reason::kMalformed);
  clock_.Advance(seconds(2));
  Answer(kArgo, 200, R"({"kind":"APIResourceList","resources":[]})");
  EXPECT_FALSE(HasRollouts());
  clock_.Advance(seconds(2));
  Answer(kArgo, 200, kRollouts);
  EXPECT_TRUE(HasRollouts());
}

TEST_F(ServedApisTest, AGroupIsMissingWhenTheListOfGroupsIsWithoutIt) {
  EXPECT_FALSE(LacksRollouts()) << "a proxy may have no list";
  for (const char* nothing : {"{}", R"({"groups":[]})", "no JSON"}) {
    Answer("/apis", 200, nothing);
    EXPECT_FALSE(LacksRollouts()) << nothing;
  }
  Answer("/apis", 200, kOnlyApps);
  EXPECT_TRUE(LacksRollouts());
  Answer("/apis", 200, R"({"groups":[{"name":"argoproj.io","versions":[{"version":"v1"}]}]})");
  EXPECT_TRUE(LacksRollouts());
  Answer("/apis", 200, kAppsAndArgo);
  EXPECT_FALSE(LacksRollouts());
}

// An idle operator asked 490 times an hour whether the definitions of policies had come, and 60
// times for each of Argo's and OpenShift's.
TEST_F(ServedApisTest, OneListOfGroupsAnswersForAllWhoWait) {
  Answer("/apis", 200, kOnlyApps);
  for (int i = 0; i < 120; ++i) {  // for an hour
    EXPECT_FALSE(HasRollouts(ServedApis::kOfLate));
    EXPECT_EQ(Has(WorkloadKind::kDeploymentConfig, ServedApis::kOfLate).value_or(true), false);
    clock_.Advance(seconds(30));
  }
  std::vector<std::string> targets = server_.targets();
  EXPECT_LE(targets.size(), 62U);
  EXPECT_EQ(std::ranges::count(targets, kArgo), 1) << "the list of groups is not alone at first";
  EXPECT_EQ(std::ranges::count(targets, kOpenShift), 1);
  Answer("/apis", 200, kAppsAndArgo);
  Answer(kArgo, 200, kRollouts);
  clock_.Advance(seconds(46));
  EXPECT_TRUE(HasRollouts(ServedApis::kOfLate));
}

TEST_F(ServedApisTest, AListOfGroupsAloneIsNotBelieved) {
  Answer("/apis", 200, kOnlyApps);
  Answer(kArgo, 503, R"({"kind":"Status","status":"Failure","reason":"ServiceUnavailable"})");
  EXPECT_EQ(Has(WorkloadKind::kRollout).error().reason, Reason::kServiceUnavailable)
      << "the server is starting";
  Answer(kArgo, 200, kRollouts);
  clock_.Advance(seconds(2));
  EXPECT_TRUE(HasRollouts());
  EXPECT_THAT(server_.targets(), ElementsAre(kArgo, kArgo));
}

TEST_F(ServedApisTest, AProxyWithoutAListOfGroupsIsAskedForTheVersion) {
  EXPECT_FALSE(HasRollouts());
  clock_.Advance(seconds(2));
  EXPECT_FALSE(HasRollouts());
  Answer(kArgo, 200, kRollouts);
  clock_.Advance(seconds(2));
  EXPECT_TRUE(HasRollouts());
}

TEST_F(ServedApisTest, ManyWhoAskAtOnceShareOneRequest) {
  Answer(kArgo, 200, kRollouts);
  std::atomic<int> answered = 0;
  std::vector<std::jthread> namespaces;
  for (int i = 0; i < 100; ++i) {
    namespaces.emplace_back([&] { answered += HasRollouts() ? 1 : 0; });
  }
  namespaces.clear();
  EXPECT_EQ(answered, 100);
  EXPECT_THAT(server_.targets(), ElementsAre(kArgo));
}

TEST_F(ServedApisTest, WhoStopsLeavesTheQuestionToTheOthers) {
  Answer(kArgo, 200, kRollouts);
  std::stop_source stop;
  Reason stopped = Reason::kUnknown;
  bool has = false;
  mu_.lock();  // the server does not answer
  std::jthread first([&] {
    stopped = apis_.Has(ResourceOf(WorkloadKind::kRollout), ServedApis::kNow, stop.get_token())
                  .error()
                  .reason;
  });
  KX_AWAIT_EQ(server_.targets().size(), 1U);
  std::jthread second([&] { has = HasRollouts(); });
  stop.request_stop();
  first.join();
  mu_.unlock();
  second.join();
  EXPECT_EQ(stopped, Reason::kCancelled);
  EXPECT_TRUE(has);
}

TEST_F(ServedApisTest, ManyWhoWaitForAServerThatHangsDoNotWaitOneAfterTheOther) {
  Answer(kArgo, 500, "");
  std::atomic<int> failed = 0;
  const auto ask = [&] { failed += Has(WorkloadKind::kRollout) ? 0 : 1; };
  mu_.lock();  // the server does not answer
  std::jthread first(ask);
  KX_AWAIT_EQ(server_.targets().size(), 1U);
  std::jthread second(ask);
  std::jthread third(ask);
  clock_.Advance(seconds(30));
  mu_.unlock();
  first.join();
  second.join();
  third.join();
  EXPECT_EQ(failed, 3);
  EXPECT_THAT(server_.targets(), ElementsAre(kArgo));
}

/// Counts the requests that go over the connections of streams.
class StreamCounter final : public rest::RoundTripper {
 public:
  StreamCounter(std::shared_ptr<rest::RoundTripper> inner, std::atomic<int>& count)
      : inner_(std::move(inner)), count_(count) {}
  std::unique_ptr<rest::RoundTrip> Start(const rest::HttpRequest& request) override {
    count_ += request.stream ? 1 : 0;
    return inner_->Start(request);
  }

 private:
  const std::shared_ptr<rest::RoundTripper> inner_;
  std::atomic<int>& count_;
};

TEST_F(ServedApisTest, QuestionsShareTheConnectionsOfWatches) {
  std::atomic<int> streams = 0;
  ServedApis apis(rest::testing::ClientFor(
                      {.host = server_.client()->config().host,
                       .wrap_round_tripper =
                           [&streams](std::shared_ptr<rest::RoundTripper> inner) {
                             return std::make_shared<StreamCounter>(std::move(inner), streams);
                           }}),
                  clock_);
  EXPECT_EQ(apis.Has(ResourceOf(WorkloadKind::kRollout), ServedApis::kNow, {}).value_or(true),
            false);
  EXPECT_EQ(streams, 1);
}

}  // namespace
}  // namespace kubexx::reloader
