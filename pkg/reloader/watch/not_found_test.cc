// Tests "not found" answers of the API server, and those of proxies in front of it.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/reloader/ha/membership.h"
#include "kubexx/reloader/watch/kubernetes_io.h"
#include "kubexx/reloader/write/fresh_reads.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/rest/round_tripper.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/http_threads.h"
#include "kubexx/rest/testing/recorder.h"

namespace kubexx::reloader {
namespace {

using rest::testing::FakeConnection;
using rest::testing::FakeRequest;

constexpr char kNamed[] =
    R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"not found",)"
    R"("reason":"NotFound","details":{"name":"web","kind":"rollouts"},"code":404})";

/// A server that gives the same answer to every request.
class NotFoundTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { rest::testing::StartHttpThreads(); }

  void Answer(int code, const std::string& type, const std::string& body) {
    const base::MutexLock lock(mu_);
    code_ = code;
    type_ = type;
    body_ = body;
  }

  inline static const WorkloadId kRollout{WorkloadKind::kRollout, {"ns", "web"}};

  base::Mutex mu_;
  int code_ KX_GUARDED_BY(mu_) = 404;
  std::string type_ KX_GUARDED_BY(mu_);
  std::string body_ KX_GUARDED_BY(mu_);
  rest::testing::Recorder server_{[this](FakeConnection& connection, const FakeRequest&) {
    const base::MutexLock lock(mu_);
    connection.Respond(code_, type_, body_);
  }};
};

TEST_F(NotFoundTest, AWorkloadIsGoneWhenTheServerNamesIt) {
  const WorkloadRead read = NewWorkloadRead(server_.client(), {});
  Answer(404, "application/json", kNamed);
  const auto gone = read(kRollout, {});
  ASSERT_TRUE(gone) << gone.error().ToString();
  EXPECT_FALSE(*gone);
  Answer(404, "text/plain", "404 page not found");
  EXPECT_FALSE(read(kRollout, {})) << "it may be there";
}

TEST_F(NotFoundTest, AnAnswerWithoutResourcesSaysNothingOfWhatIsServed) {
  const auto is_served = [this] {
    return IsServed(server_.client(), ResourceOf(WorkloadKind::kRollout), {});
  };
  Answer(200, "application/json", "{}");
  EXPECT_FALSE(is_served());
  Answer(200, "application/json", R"({"kind":"APIResourceList","resources":[]})");
  EXPECT_EQ(is_served().value_or(true), false);
  Answer(200, "application/json",
         R"({"kind":"APIResourceList","resources":[{"name":"rollouts"}]})");
  EXPECT_EQ(is_served().value_or(false), true);
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

TEST_F(NotFoundTest, QuestionsForWhatIsServedShareTheConnectionsOfWatches) {
  std::atomic<int> streams = 0;
  const auto client = rest::testing::ClientFor(
      {.host = server_.client()->config().host,
       .wrap_round_tripper = [&streams](std::shared_ptr<rest::RoundTripper> inner) {
         return std::make_shared<StreamCounter>(std::move(inner), streams);
       }});
  Answer(404, "application/json", kNamed);
  EXPECT_EQ(IsServed(client, ResourceOf(WorkloadKind::kRollout), {}).value_or(true), false);
  EXPECT_EQ(streams, 1);
  Answer(200, "application/json", R"({"groups":[{"name":"apps","versions":[]}]})");
  EXPECT_TRUE(IsGroupMissing(client, ResourceOf(WorkloadKind::kRollout), {}));
  EXPECT_EQ(streams, 2);
}

TEST_F(NotFoundTest, AGroupIsMissingWhenTheListOfGroupsIsWithoutIt) {
  const auto is_missing = [this](int code, const std::string& body) {
    Answer(code, "application/json", body);
    return IsGroupMissing(server_.client(), ResourceOf(WorkloadKind::kRollout), {});
  };
  EXPECT_FALSE(is_missing(404, "404 page not found"));
  EXPECT_FALSE(is_missing(200, "{}"));
  EXPECT_FALSE(is_missing(200, R"({"groups":[]})"));
  EXPECT_TRUE(is_missing(200, R"({"groups":[{"name":"apps","versions":[{"version":"v1"}]}]})"));
  EXPECT_TRUE(
      is_missing(200, R"({"groups":[{"name":"argoproj.io","versions":[{"version":"v1"}]}]})"));
  EXPECT_FALSE(is_missing(
      200, R"({"groups":[{"name":"argoproj.io","versions":[{"version":"v1alpha1"}]}]})"));
}

TEST_F(NotFoundTest, TheLeaseOfAMemberHasItsName) {
  Answer(200, "application/json",
         R"({"kind":"LeaseList","apiVersion":"coordination.k8s.io/v1","items":[)"
         R"({"metadata":{"name":"lease-member-a","resourceVersion":"1"},)"
         R"("spec":{"holderIdentity":"a"}},)"
         R"({"metadata":{"name":"copy-of-a","resourceVersion":"2"},)"
         R"("spec":{"holderIdentity":"a"}},)"
         R"({"metadata":{"name":"of-nobody","resourceVersion":"3"}},)"
         R"({"metadata":{"name":"lease-member-b","resourceVersion":"4"},)"
         R"("spec":{"holderIdentity":"b"}}]})");
  const auto members = NewLeaseMemberStore(server_.client(), {"ops", "lease"}, "a", 2)->List({});
  ASSERT_TRUE(members) << members.error().ToString();
  std::vector<std::string> names;
  for (const Member& member : *members) {
    names.push_back(member.name + "@" + member.version);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"a@1", "b@4"}));
}

}  // namespace
}  // namespace kubexx::reloader
