// Tests "not found" answers of the API server, and those of proxies in front of it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/reloader/ha/membership.h"
#include "kubexx/reloader/write/fresh_reads.h"
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
  const auto members =
      NewLeaseMemberStore(server_.client(), {"ops", "lease"}, "a", 2)->List({}, {});
  ASSERT_TRUE(members) << members.error().ToString();
  std::vector<std::string> names;
  for (const Member& member : *members) {
    names.push_back(member.name + "@" + member.version);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"a@1", "b@4"}));
}

}  // namespace
}  // namespace kubexx::reloader
