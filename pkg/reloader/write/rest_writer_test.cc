#include <gmock/gmock.h>

#include <string>

#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/kinds/custom_kind.h"
#include "kubexx/reloader/kinds/custom_phase.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/workload_kind.h"
#include "kubexx/reloader/permissions/denial.h"
#include "kubexx/reloader/permissions/fallbacks.h"
#include "kubexx/reloader/write/writer.h"
#include "kubexx/reloadpolicy/policy.h"
#include "kubexx/rest/testing/http_threads.h"
#include "kubexx/rest/testing/recorder.h"

namespace kubexx::reloader {
namespace {

const WorkloadWrite kRecord{.annotations = {{std::string(kBaselineAnnotation), "v1 u"}}};

const WorkloadId kRecorded{WorkloadKind::kDeployment, {"ns", "web"}};

constexpr char kMissingRightMessage[] =
    R"(deployments.apps "web" is forbidden: User "system:serviceaccount:kubexx:reloader" cannot patch )"
    R"(resource "deployments" in API group "apps" in the namespace "refused")";
constexpr char kDeniedByWebhook[] =
    R"(admission webhook "policy.example.com" denied the request: images must be signed)";

/// A server that refuses writes in namespace "refused" and takes them elsewhere.
class RestWriterTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { rest::testing::StartHttpThreads(); }

  static std::string Forbidden(const std::string& message) {
    codec::JsonTree status = codec::JsonTree::Object();
    status["kind"] = "Status";
    status["apiVersion"] = "v1";
    status["status"] = "Failure";
    status["message"] = message;
    status["reason"] = "Forbidden";
    status["code"] = 403;
    return status.ToJson();
  }
  apimachinery::Result<WriteOutcome> Record(const std::string& ns, const std::string& name) {
    return writer_->Write({WorkloadKind::kDeployment, {ns, name}}, kRecord, {});
  }

  std::string message_ = kMissingRightMessage;
  rest::testing::Recorder server_{[this](rest::testing::FakeConnection& connection,
                                         const rest::testing::FakeRequest& request) {
    if (request.target.contains("/namespaces/refused/")) {
      connection.Respond(403, "application/json", Forbidden(message_));
    } else {
      connection.Respond(200, "application/json",
                         R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",)"
                         R"("metadata":{"name":"web","namespace":"other","resourceVersion":"8",)"
                         R"("generation":4}})");
    }
  }};
  base::testing::FakeClock clock_;
  metrics::Registry registry_;
  std::shared_ptr<Fallbacks> fallbacks_ = std::make_shared<Fallbacks>(&registry_, clock_);
  std::unique_ptr<WorkloadWriter> writer_ = NewWriter(server_.client(), fallbacks_, clock_);
};

TEST_F(RestWriterTest, ARightThatIsMissingInOneNamespaceBlocksNoOther) {
  const auto refused = Record("refused", "web");
  ASSERT_TRUE(refused);
  EXPECT_FALSE(refused->recorded);
  const auto other = Record("other", "web");
  ASSERT_TRUE(other) << other.error().ToString();
  EXPECT_TRUE(other->recorded);
  EXPECT_FALSE(Record("refused", "api")->recorded);
  EXPECT_EQ(server_.targets().size(), 2U) << "not asked for again at once where it is missing";
}

TEST_F(RestWriterTest, ACustomResourceThatHasChangedSinceItWasPlannedForIsNotPatched) {
  const WorkloadWrite write{.resource_version = "7", .variables = {{"app", "X", "1"}}};
  const auto written = writer_->Write({WorkloadKind::kRollout, {"other", "web"}}, write, {});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().reason, apimachinery::Reason::kConflict);
  EXPECT_EQ(server_.targets().size(), 1U) << "it was only read";
}

TEST_F(RestWriterTest, ARolloutIsToldWhichGenerationOfItsTemplateItIsRolledFor) {
  const WorkloadWrite write{
      .variables = {{"app", "X", "1"}},
      .annotations = {{std::string(reloadpolicy::kLastRolloutAnnotation), "2026-01-01T00:00:00Z"}},
      .template_of = "base"};
  const WorkloadId rollout{WorkloadKind::kRollout, {"other", "web"}};
  ASSERT_TRUE(writer_->Write(rollout, write, {}));
  ASSERT_THAT(server_.targets(), testing::SizeIs(2)) << "the Deployment, and then the Rollout";
  EXPECT_THAT(server_.last().body,
              testing::HasSubstr(R"("reloader.kubexx.io/template-generation":"4")"));
  WorkloadWrite without = write;
  without.annotations = kRecord.annotations;
  ASSERT_TRUE(writer_->Write(rollout, without, {}));
  EXPECT_THAT(server_.last().body, testing::Not(testing::HasSubstr("template-generation")))
      << "no policy asks for it";
}

TEST_F(RestWriterTest, AnAdmissionWebhookThatDeniesIsNoMissingRight) {
  message_ = kDeniedByWebhook;
  const auto refused = Record("refused", "web");
  ASSERT_TRUE(refused);
  EXPECT_FALSE(refused->recorded);
  ASSERT_TRUE(refused->refusal);
  EXPECT_EQ(refused->refusal->message, kDeniedByWebhook);
  EXPECT_FALSE(Record("refused", "api")->recorded);
  EXPECT_EQ(server_.targets().size(), 2U) << "it may allow another object";
  EXPECT_THAT(registry_.Serialize(), testing::HasSubstr(R"(writes_refused_total{by="rule"} 2)"));
  EXPECT_THAT(registry_.Serialize(),
              testing::Not(testing::HasSubstr(R"(fallback{kind="Deployment",verb="patch"} 1)")));
}

/// A server with one custom resource, which loses its connection to those who try a write out.
class CustomWriterTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    rest::testing::StartHttpThreads();
    AddCustomKinds({{.group = "stable.example.com",
                     .version = "v1",
                     .kind = "WrittenWorker",
                     .resource = "writtenworkers",
                     .done = {{.condition = "Ready"}}}});
  }
  apimachinery::Result<WriteOutcome> Write(const WorkloadWrite& write) {
    return writer_->Write({*ParseWorkloadKind("WrittenWorker"), {"ns", "w"}}, write, {});
  }
  /// The last patch that was sent.
  codec::JsonTree Patch() { return *codec::JsonTree::Parse(server_.last().body); }

  const WorkloadWrite followed_{
      .template_annotations = {{"a", "1"}},
      .annotations = {{std::string(reloadpolicy::kLastRolloutAnnotation), "2026-01-01T00:00:00Z"}}};
  std::string status_ = "{}";
  int fails_ = 200;  ///< the answer to those who try a write out
  rest::testing::Recorder server_{
      [this](rest::testing::FakeConnection& connection, const rest::testing::FakeRequest& request) {
        if (request.target.contains("dryRun") && fails_ != 200) {
          connection.Respond(fails_, "text/plain", "no answer");
          return;
        }
        connection.Respond(
            200, "application/json",
            R"({"apiVersion":"stable.example.com/v1","kind":"WrittenWorker","metadata":)"
            R"({"name":"w","namespace":"ns","resourceVersion":"8","generation":4},"spec":)"
            R"({"template":{"metadata":{"annotations":{"a":"1"}}}},"status":)" +
                status_ + "}");
      }};
  base::testing::FakeClock clock_;
  metrics::Registry registry_;
  std::shared_ptr<Fallbacks> fallbacks_ = std::make_shared<Fallbacks>(&registry_, clock_);
  std::unique_ptr<WorkloadWriter> writer_ = NewWriter(server_.client(), fallbacks_, clock_);
};

TEST_F(CustomWriterTest, AWriteThatCouldNotBeTriedOutHasNotBeenMade) {
  for (const int code : {503, 502, 504}) {
    fails_ = code;
    const auto written = Write({.template_annotations = {{"a", "1"}}});
    ASSERT_FALSE(written) << code;
    EXPECT_FALSE(MayHaveBeenMade(written.error())) << code;
    EXPECT_FALSE(IsDenied(written.error())) << "it is tried again";
  }
}

TEST_F(CustomWriterTest, ARolloutThatIsFollowedRecordsTheStatusOfBefore) {
  status_ = R"({"conditions":[{"type":"Ready","status":"True"}]})";
  ASSERT_TRUE(Write(followed_));
  const std::string key(kStatusBeforeAnnotation);
  EXPECT_EQ(Patch().At({"metadata", "annotations"})->TextAt(key).size(), 16U);
  EXPECT_EQ(Patch().At({"metadata"})->TextAt("resourceVersion"), "8")
      << "the status may have changed since";
  status_ = R"({"observedGeneration":3})";
  ASSERT_TRUE(Write(followed_));
  EXPECT_TRUE(Patch().At({"metadata", "annotations"})->Find(key)->IsNull());
  ASSERT_TRUE(Write({.template_annotations = {{"a", "1"}}}));
  EXPECT_THAT(server_.last().body, testing::Not(testing::HasSubstr(key))) << "nobody follows it";
}

}  // namespace
}  // namespace kubexx::reloader
