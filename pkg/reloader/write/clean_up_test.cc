#include "kubexx/reloader/write/clean_up.h"

#include <gmock/gmock.h>

#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/codec/json_tree.h"
#include "kubexx/rest/testing/http_threads.h"
#include "kubexx/rest/testing/recorder.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Result;
using apimachinery::Status;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr char kTracedDeployments[] =
    R"({"kind":"DeploymentList","apiVersion":"apps/v1","metadata":{"resourceVersion":"9"},"items":[)"
    R"({"metadata":{"name":"web","namespace":"shop","uid":"u1","annotations":{)"
    R"("reloader.kubexx.io/baseline":"v1 u1"}},"spec":{"template":{"spec":{"containers":[)"
    R"({"name":"app","env":[{"name":"STAKATER_A_SECRET",)"
    R"("value":"da39a3ee5e6b4b0d3255bfef95601890afd80709"}]}]}}}},)"
    R"({"metadata":{"name":"plain","namespace":"shop","uid":"u2"},"spec":{}}]})";

std::string RefusedStatus(int code, const std::string& reason, const std::string& message) {
  codec::JsonTree status = codec::JsonTree::Object();
  status["kind"] = "Status";
  status["apiVersion"] = "v1";
  status["status"] = "Failure";
  status["message"] = message;
  status["reason"] = reason;
  status["code"] = code;
  return status.ToJson();
}

/// A server with two Deployments, one of which has the operator's annotations. Nobody may list
/// Jobs.
class CleanUpTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { rest::testing::StartHttpThreads(); }

  void Answer(rest::testing::FakeConnection& connection,
              const rest::testing::FakeRequest& request) const {
    if (request.method == "PATCH" && !patches_are_taken_) {
      connection.Respond(409, "application/json",
                         RefusedStatus(409, "Conflict", "somebody else was faster"));
    } else if (request.method == "PATCH" &&
               request.headers.at("accept").contains("PartialObjectMetadata")) {
      connection.Respond(200, "application/json",
                         R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",)"
                         R"("metadata":{"name":"web","namespace":"shop","resourceVersion":"10"}})");
    } else if (request.method == "PATCH") {
      connection.Respond(
          200, "application/json",
          R"({"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"web",)"
          R"("namespace":"shop","resourceVersion":"10"},"spec":{"template":{"spec":{)"
          R"("containers":[{"name":"app"}]}}}})");
    } else if (request.target.contains("/jobs")) {
      connection.Respond(403, "application/json",
                         RefusedStatus(403, "Forbidden", "User \"me\" cannot list resource"));
    } else if (has_other_kinds_ && request.target.ends_with("/apis/argoproj.io")) {
      connection.Respond(200, "application/json",
                         R"({"kind":"APIGroup","apiVersion":"v1","name":"argoproj.io"})");
    } else if (request.target.contains("argoproj.io") || request.target.contains("openshift.io")) {
      connection.Respond(404, "application/json", RefusedStatus(404, "NotFound", "not found"));
    } else if (request.target.contains("/deployments")) {
      connection.Respond(200, "application/json", kTracedDeployments);
    } else {
      connection.Respond(200, "application/json",
                         R"({"kind":"List","apiVersion":"v1","metadata":{},"items":[]})");
    }
  }

  CleanUpCounts Run(const CleanUpOptions& options) {
    const auto counts = CleanUp(
        server_.client(), options,
        [&](const Traces& traces, const Result<void>& written) {
          lines_.push_back(CleanUpLine(traces, options) + (written ? "" : "!"));
        },
        [&](const Status& error) { failures_.push_back(error.message); }, {});
    EXPECT_TRUE(counts) << counts.error().ToString();
    return counts ? *counts : CleanUpCounts{};
  }

  bool patches_are_taken_ = true;
  bool has_other_kinds_ = false;  ///< the server has argoproj.io, without Rollouts
  std::vector<std::string> lines_;
  std::vector<std::string> failures_;
  rest::testing::Recorder server_{
      [this](rest::testing::FakeConnection& connection, const rest::testing::FakeRequest& request) {
        Answer(connection, request);
      }};
};

TEST_F(CleanUpTest, ADryRunTellsAndWritesNothing) {
  const CleanUpCounts counts = Run({});
  EXPECT_EQ(counts, (CleanUpCounts{.seen = 2, .traced = 1, .cleaned = 1, .left = 1, .failed = 1}));
  EXPECT_THAT(lines_, ElementsAre("Deployment shop/web: would take away annotation "
                                  "reloader.kubexx.io/baseline; leaves variable STAKATER_A_SECRET "
                                  "of container app"));
  EXPECT_THAT(failures_, ElementsAre(HasSubstr("cannot list")))
      << "an API that the server does not have is not a failure";
  EXPECT_THAT(server_.targets(), Not(Contains(HasSubstr("fieldManager"))));
}

TEST_F(CleanUpTest, AGroupThatIsThereForOtherKindsIsNoFailure) {
  has_other_kinds_ = true;
  EXPECT_EQ(Run({}).failed, 1);
  EXPECT_THAT(failures_, ElementsAre(HasSubstr("cannot list")));
  EXPECT_THAT(server_.targets(), Contains(HasSubstr("/rollouts")));
}

TEST_F(CleanUpTest, OnlyWhatRollsNothingGoesByItself) {
  const CleanUpCounts counts = Run({.namespaces = {"shop"}, .dry_run = false});
  EXPECT_EQ(counts.cleaned, 1);
  EXPECT_EQ(counts.left, 1);
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("took away annotation reloader.kubexx.io/baseline;")));
  EXPECT_THAT(
      server_.targets(),
      Contains(HasSubstr("/namespaces/shop/deployments/web?fieldManager=Reloader-records")));
}

TEST_F(CleanUpTest, WhatRollsGoesWithItInOneWrite) {
  const CleanUpCounts counts = Run({.removal = {.templates = true}, .dry_run = false});
  EXPECT_EQ(counts.cleaned, 1);
  EXPECT_EQ(counts.left, 0);
  int patches = 0;
  for (const std::string& target : server_.targets()) {
    patches += target.contains("fieldManager") ? 1 : 0;
  }
  EXPECT_EQ(patches, 1);
}

TEST_F(CleanUpTest, AWorkloadThatCannotBeWrittenIsAFailureAndTheOthersGoOn) {
  patches_are_taken_ = false;
  const CleanUpCounts counts = Run({.dry_run = false});
  EXPECT_EQ(counts.cleaned, 0);
  EXPECT_EQ(counts.failed, 2) << "the Deployment, and the list of Jobs";
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("!")));
  EXPECT_THAT(server_.targets(), Contains(HasSubstr("/statefulsets")));
}

TEST_F(CleanUpTest, AnInterruptedRunSaysSo) {
  std::stop_source stop;
  stop.request_stop();
  const auto counts = CleanUp(
      server_.client(), {}, [](const Traces&, const Result<void>&) {}, [](const Status&) {},
      stop.get_token());
  ASSERT_FALSE(counts);
  EXPECT_EQ(counts.error().reason, apimachinery::Reason::kCancelled);
}

TEST(CleanUpSummary, SaysWhatToDoNext) {
  EXPECT_EQ(CleanUpSummary({.seen = 1, .traced = 1, .cleaned = 1, .left = 1}, {}),
            "1 workload looked at; 1 has traces of an operator; 1 would be cleaned.\n"
            "1 keeps something that was not asked for; --templates takes away what is in pod "
            "templates, which makes new pods; --resume ends pauses.\n"
            "Policies, snapshots of good data (the label reloader.kubexx.io/snapshot-of) and their "
            "key (the Secret kubexx-reloader-snapshot-key) stay, where there are any.\n"
            "Nothing was changed. --dry-run=false does it.\n");
  EXPECT_EQ(CleanUpSummary({.seen = 3, .traced = 2, .cleaned = 2},
                           {.removal = {.templates = true, .pauses = true}, .dry_run = false}),
            "3 workloads looked at; 2 have traces of an operator; 2 were cleaned.\n"
            "Policies, snapshots of good data (the label reloader.kubexx.io/snapshot-of) and their "
            "key (the Secret kubexx-reloader-snapshot-key) stay, where there are any.\n");
}

}  // namespace
}  // namespace kubexx::reloader
