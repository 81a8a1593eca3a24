#include "kubexx/reloader/permissions/denial.h"

#include <gtest/gtest.h>

#include <string>

#include "kubexx/apimachinery/status_causes.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Reason;
using apimachinery::Status;

struct DenialCase {
  std::string name{};
  Status status{};
  bool missing_right = false;
  bool denied = false;
};

/// A refusal of which only the code has arrived.
apimachinery::Status BrokenOff() {
  apimachinery::Status status(Reason::kForbidden, "the server refused it", 403);
  status.details.causes.push_back({.reason = std::string(apimachinery::kBrokenResponseCause)});
  return status;
}

class DenialTest : public testing::TestWithParam<DenialCase> {};

TEST_P(DenialTest, IsTold) {
  EXPECT_EQ(IsMissingRight(GetParam().status), GetParam().missing_right);
  EXPECT_EQ(IsDenied(GetParam().status), GetParam().denied);
  EXPECT_EQ(IsContentDenied(GetParam().status), GetParam().denied && !GetParam().missing_right);
}

INSTANTIATE_TEST_SUITE_P(
    Answers, DenialTest,
    testing::Values(
        DenialCase{
            "Role",
            {Reason::kForbidden,
             R"(deployments.apps "web" is forbidden: User "system:serviceaccount:a:b" cannot )"
             R"(patch resource "deployments" in API group "apps" in the namespace "ns")",
             403},
            true,
            true},
        DenialCase{
            "RoleWithoutAName",
            {Reason::kForbidden,
             R"(secrets is forbidden: User "jane" cannot list resource "secrets" in API group )"
             R"("" at the cluster scope: RBAC: clusterrole "x" not found)",
             403},
            true,
            true},
        DenialCase{"Webhook",
                   {Reason::kForbidden,
                    R"(admission webhook "policy.example.com" denied the request: x is forbidden: )"
                    R"(User "jane" cannot do that)",
                    403},
                   false,
                   true},
        DenialCase{"WebhookWithoutAReason",
                   {Reason::kUnknown, R"(admission webhook "a" denied the request)", 400},
                   false,
                   true},
        DenialCase{"AdmissionPolicy",
                   {Reason::kForbidden,
                    R"(deployments.apps "web" is forbidden: ValidatingAdmissionPolicy 'p' with )"
                    R"(binding 'b' denied request: failed expression: false)",
                    403},
                   false,
                   true},
        DenialCase{"AdmissionPolicyInvalid",
                   {Reason::kInvalid, "ValidatingAdmissionPolicy 'p' denied request", 422},
                   false,
                   true},
        DenialCase{"Quota",
                   {Reason::kForbidden,
                    R"(jobs.batch "import" is forbidden: exceeded quota: small, requested: )"
                    R"(count/jobs.batch=1, used: count/jobs.batch=2, limited: count/jobs.batch=2)",
                    403},
                   false,
                   true},
        DenialCase{"BrokenOff", BrokenOff()},
        DenialCase{"Conflict", {Reason::kConflict, "the object has been modified", 409}},
        DenialCase{"WebhookThatIsDown", {Reason::kInternalError, "failed calling webhook", 500}},
        DenialCase{"OldToken", {Reason::kUnauthorized, "Unauthorized", 401}},
        DenialCase{"TooMany", {Reason::kTooManyRequests, "", 429}},
        DenialCase{"Gone", {Reason::kNotFound, "", 404}},
        DenialCase{"NoConnection", {Reason::kUnavailable, ""}}),
    [](const auto& each) { return each.param.name; });

TEST(MayHaveBeenMadeTest, NothingThatFailedBeforeTheWrite) {
  Status broken_off(Reason::kInternalError, "", 500);
  broken_off.details.causes = BrokenOff().details.causes;
  for (const Status& lost :
       {broken_off, Status(Reason::kUnavailable, "the connection broke"),
        Status(Reason::kTimeout, "", 504), Status(Reason::kServiceUnavailable, "", 503),
        Status(Reason::kUnknown, "", 502),
        Status(Reason::kInternalError, "etcdserver: request timed out", 500)}) {
    EXPECT_TRUE(MayHaveBeenMade(lost)) << lost.ToString();
    EXPECT_FALSE(MayHaveBeenMade(BeforeTheWrite(lost))) << lost.ToString();
    EXPECT_EQ(BeforeTheWrite(lost).ToString(), lost.ToString());
  }
}

}  // namespace
}  // namespace kubexx::reloader
