#include "kubexx/reloader/observe/self_testing.h"

#include <gmock/gmock.h>

#include <atomic>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/rest/testing/http_threads.h"
#include "kubexx/rest/testing/recorder.h"

namespace kubexx::reloader {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr char kReadyOperator[] =
    R"({"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"operator","generation":3},)"
    R"("spec":{"replicas":1,"template":{"spec":{"containers":[{"image":"example.com/operator:1"}]}}},)"
    R"("status":{"observedGeneration":3,"updatedReplicas":1,"availableReplicas":1}})";
constexpr char kUnreadyOperator[] =
    R"({"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"operator","generation":3},)"
    R"("spec":{"replicas":1},"status":{"observedGeneration":3,"updatedReplicas":1}})";
/// The new pod is not available, but the pod of the old template is.
constexpr char kHalfRolledOperator[] =
    R"({"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"operator","generation":3},)"
    R"("spec":{"replicas":1},"status":{"observedGeneration":3,"replicas":2,"updatedReplicas":1,)"
    R"("availableReplicas":1}})";
constexpr char kUnrolled[] =
    R"({"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"trial","annotations":{)"
    R"("reloader.kubexx.io/baseline":"v1"}},"spec":{"template":{"spec":{"containers":[{}]}}}})";
constexpr char kRolled[] =
    R"({"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"trial"},"spec":{"template":{)"
    R"("spec":{"containers":[{"env":[{"name":"STAKATER_TRIAL_CONFIGMAP","value":"x"}]}]}}}})";

/// A server with an operator that rolls the test's Deployment at the second look, or never.
class SelfTestTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { rest::testing::StartHttpThreads(); }

  void Answer(rest::testing::FakeConnection& connection,
              const rest::testing::FakeRequest& request) {
    std::string body = R"({"kind":"Status","apiVersion":"v1","status":"Success"})";
    if (troubles_ > 0 && (request.method == "GET" || request.method == "DELETE")) {
      const int code = --troubles_ % 3 == 0 ? 429 : troubles_ % 3 == 1 ? 500 : 503;
      connection.Respond(code, "application/json",
                         R"({"kind":"Status","apiVersion":"v1","status":"Failure","code":)" +
                             std::to_string(code) + R"(,"message":"in trouble"})");
      return;
    }
    if (request.method == "DELETE" && keeps_) {
      connection.Respond(403, "application/json",
                         R"({"kind":"Status","apiVersion":"v1","status":"Failure","code":403,)"
                         R"("reason":"Forbidden","message":"may not delete"})");
      return;
    }
    if (request.method == "POST" && refuses_) {
      connection.Respond(403, "application/json",
                         R"({"kind":"Status","apiVersion":"v1","status":"Failure","code":403,)"
                         R"("reason":"Forbidden","message":"may not create"})");
      return;
    }
    if (request.method == "POST") {
      troubles_ = troubles_at_each_step_.load();
    }
    if (request.method == "POST" || request.method == "PATCH") {
      body = request.method == "POST" ? request.body : kUnrolled;
    } else if (request.method == "GET" && request.target.contains("/operator")) {
      body = is_ready_ ? kReadyOperator : is_half_rolled_ ? kHalfRolledOperator : kUnreadyOperator;
    } else if (request.method == "GET") {
      body = ++looks_ > 1 && rolls_ ? kRolled : kUnrolled;
      if (!rolls_) {
        stop_.request_stop();
      }
    } else if (request.method == "DELETE") {
      ++deleted_;
    }
    // A Deployment whose rollout is half done is looked at again.
    if (!is_ready_ && (!is_half_rolled_ || ++looks_ > 1)) {
      stop_.request_stop();
    }
    connection.Respond(200, "application/json", body);
  }

  apimachinery::Result<void> Run(bool reload = true) {
    return RunSelfTest(
        server_.client(),
        {.namespace_ = "ops", .deployment = "operator", .reload = reload, .name = "trial"},
        [this](const std::string& what) { told_.push_back(what); }, stop_.get_token());
  }

  std::atomic<bool> is_ready_ = true;
  std::atomic<bool> is_half_rolled_ = false;
  std::atomic<bool> rolls_ = true;
  std::atomic<bool> keeps_ = false;    ///< nothing may be deleted
  std::atomic<bool> refuses_ = false;  ///< to make anything
  std::atomic<int> troubles_ = 0;      ///< answers of a server in trouble that come next
  std::atomic<int> troubles_at_each_step_ = 0;
  std::atomic<int> looks_ = 0;
  std::atomic<int> deleted_ = 0;
  std::stop_source stop_;
  std::vector<std::string> told_;
  rest::testing::Recorder server_{
      [this](rest::testing::FakeConnection& connection, const rest::testing::FakeRequest& request) {
        Answer(connection, request);
      }};
};

TEST_F(SelfTestTest, ARolloutIsSeenAndNothingStays) {
  const auto done = Run();
  ASSERT_TRUE(done) << done.error().ToString();
  EXPECT_THAT(told_, ElementsAre(HasSubstr("its pods are ready"), HasSubstr("was rolled")));
  EXPECT_EQ(deleted_, 2);
}

TEST_F(SelfTestTest, WithoutARolloutItSaysWhyAndNothingStays) {
  rolls_ = false;
  const auto done = Run();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().reason, apimachinery::Reason::kTimeout);
  EXPECT_THAT(done.error().message, HasSubstr("not rolled"));
  EXPECT_EQ(deleted_, 2);
}

TEST_F(SelfTestTest, AServerInTroubleIsAskedAgain) {
  troubles_ = 3;
  troubles_at_each_step_ = 3;
  const auto done = Run();
  ASSERT_TRUE(done) << done.error().ToString();
  EXPECT_EQ(troubles_, 0);
  EXPECT_EQ(deleted_, 2);
}

TEST_F(SelfTestTest, WhatCannotBeDeletedIsTold) {
  keeps_ = true;
  const auto left = AllOf(HasSubstr("left in the namespace ops"), HasSubstr("may not delete"),
                          HasSubstr("the Deployment trial and the ConfigMap trial"));
  const auto rolled = Run();
  ASSERT_FALSE(rolled);
  EXPECT_THAT(rolled.error().message, left);
  rolls_ = false;
  looks_ = 0;
  const auto failed = Run();
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, AllOf(HasSubstr("not rolled"), left));
}

TEST_F(SelfTestTest, WhatWasNotMadeIsNotLeft) {
  refuses_ = keeps_ = true;
  const auto done = Run();
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, AllOf(HasSubstr("may not create"), Not(HasSubstr("left"))));
}

TEST_F(SelfTestTest, AnOperatorThatIsNotReadyFails) {
  is_ready_ = false;
  const auto done = Run();
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("the Deployment operator is"));
  EXPECT_THAT(server_.targets(), Not(Contains(HasSubstr("trial")))) << "nothing was made";
}

TEST_F(SelfTestTest, AnOldPodThatWorksIsNotTheNewOne) {
  is_ready_ = false;
  is_half_rolled_ = true;
  const auto result = Run(/*reload=*/false);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("not rolled out yet"));
}

TEST_F(SelfTestTest, TheRolloutCanBeLeftOut) {
  ASSERT_TRUE(Run(false));
  EXPECT_THAT(told_, ElementsAre(HasSubstr("its pods are ready")));
  EXPECT_EQ(deleted_, 0);
}

}  // namespace
}  // namespace kubexx::reloader
