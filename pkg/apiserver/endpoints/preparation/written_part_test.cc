// Subresources that are parts of objects: status, approval, ephemeralcontainers.
#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/authn/token_file.h"
#include "kubexx/apiserver/endpoints/testing/api_fixture.h"
#include "kubexx/apiserver/endpoints/testing/certificate_requests.h"

namespace kubexx::apiserver {
namespace {

using ::testing::HasSubstr;

constexpr const char* kRequests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
constexpr const char* kRequest = "/apis/certificates.k8s.io/v1/certificatesigningrequests/r";
constexpr const char* kPartPods = "/api/v1/namespaces/default/pods";
constexpr const char* kPartPod = "/api/v1/namespaces/default/pods/p";
constexpr const char* kPartRbac = "/apis/rbac.authorization.k8s.io/v1";

std::string Approved(const std::string& type = "Approved") {
  return R"({"status":{"conditions":[{"type":")" + type +
         R"(","status":"True","reason":"Test","message":"by the test"}],"certificate":"eA=="},)" +
         R"("spec":{"signerName":"other.example/x"},"metadata":{"labels":{"a":"b"}}})";
}

ApiOptions WithJaneBesides() {
  ApiOptions options;
  options.token = apimachinery::Bytes(std::string("admin-token"));
  options.tokens = *ParseTokenFile("jane-token,jane,1\n");
  options.rbac = true;
  return options;
}

class WritePartTest : public testing::ApiFixture {
 protected:
  WritePartTest() : ApiFixture(WithJaneBesides()) { As("admin"); }
  void As(const std::string& user) { headers_ = {{"Authorization", "Bearer " + user + "-token"}}; }
  void MakeRequest() {
    const http::Response made =
        Do("POST", kRequests,
           std::string(R"({"metadata":{"name":"r"},"spec":{"request":")") + testing::kJanesRequest +
               R"(","signerName":"example.com/serving","usages":["any"]}})");
    ASSERT_EQ(made.status, 201) << made.body;
  }
  http::Response Patch(const std::string& path, const std::string& body) {
    return Do("PATCH", path, body, kMergePatch);
  }
  void MakePod() {
    const http::Response made =
        Do("POST", kPartPods,
           R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"a","image":"i"}]}})");
    ASSERT_EQ(made.status, 201) << made.body;
  }
  void Allow(const std::string& user, const std::string& rules) {
    const http::Response role = Do("POST", std::string(kPartRbac) + "/clusterroles",
                                   R"({"metadata":{"name":"r"},"rules":)" + rules + "}");
    ASSERT_EQ(role.status, 201) << role.body;
    const http::Response binding =
        Do("POST", std::string(kPartRbac) + "/clusterrolebindings",
           R"({"metadata":{"name":"r"},"subjects":[{"kind":"User","name":")" + user +
               R"("}],"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole",)" +
               R"("name":"r"}})");
    ASSERT_EQ(binding.status, 201) << binding.body;
  }
};

TEST_F(WritePartTest, AnApprovalSetsConditionsOnly) {
  MakeRequest();
  const http::Response approved = Patch(std::string(kRequest) + "/approval", Approved());
  ASSERT_EQ(approved.status, 200) << approved.body;
  const codec::JsonTree request = Json(approved);
  EXPECT_EQ(At(request, {"spec", "signerName"}), "example.com/serving");
  EXPECT_EQ(At(request, {"status", "certificate"}), "");
  EXPECT_EQ(At(request, {"metadata", "labels", "a"}), "b");
  const codec::JsonTree& condition = request.At({"status", "conditions"})->elements()[0];
  EXPECT_EQ(condition.TextAt("type"), "Approved");
  EXPECT_NE(condition.TextAt("lastUpdateTime"), "");
  EXPECT_NE(condition.TextAt("lastTransitionTime"), "");
  EXPECT_EQ(Json(Do("GET", std::string(kRequest) + "/approval")), request);
}

TEST_F(WritePartTest, WhatIsDecidedStays) {
  MakeRequest();
  const std::string approval = std::string(kRequest) + "/approval";
  ASSERT_EQ(Patch(approval, Approved()).status, 200);
  EXPECT_THAT(Message(Patch(approval, R"({"status":{"conditions":[]}})")),
              HasSubstr("updates may not remove a condition of type \"Approved\""));
  EXPECT_THAT(Message(Patch(approval, R"({"status":{"conditions":[
                  {"type":"Approved","status":"True"},{"type":"Denied","status":"True"}]}})")),
              HasSubstr("Approved and Denied conditions are mutually exclusive"));
  EXPECT_THAT(Message(Patch(approval, R"({"status":{"conditions":[
                  {"type":"Approved","status":"False"}]}})")),
              HasSubstr("Unsupported value: \"False\""));
}

TEST_F(WritePartTest, TheStatusDecidesNothing) {
  MakeRequest();
  const std::string status = std::string(kRequest) + "/status";
  EXPECT_THAT(Message(Patch(status, Approved())),
              HasSubstr("updates may not add a condition of type \"Approved\""));
  ASSERT_EQ(Patch(std::string(kRequest) + "/approval", Approved()).status, 200);
  const http::Response signed_now = Patch(
      status, std::string(R"({"status":{"certificate":")") + testing::kIssuedCertificate +
                  R"(","conditions":[{"type":"Approved","status":"True","reason":"Other"}]}})");
  ASSERT_EQ(signed_now.status, 200) << signed_now.body;
  EXPECT_EQ(At(Json(signed_now), {"status", "certificate"}), testing::kIssuedCertificate);
  EXPECT_THAT(signed_now.body, HasSubstr(R"("reason":"Test")"));
}

TEST_F(WritePartTest, WhoApprovesHasToBeAllowedToForTheSigner) {
  MakeRequest();
  Allow("jane", R"([{"verbs":["patch"],"apiGroups":["certificates.k8s.io"],
      "resources":["certificatesigningrequests/approval"]}])");
  As("jane");
  const http::Response refused = Patch(std::string(kRequest) + "/approval", Approved());
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(Message(refused),
            "certificatesigningrequests.certificates.k8s.io \"r\" is forbidden: user not permitted "
            "to approve requests with signerName \"example.com/serving\"");
  As("admin");
  const http::Response more = Patch(std::string(kPartRbac) + "/clusterroles/r", R"({"rules":[
      {"verbs":["patch"],"apiGroups":["certificates.k8s.io"],
       "resources":["certificatesigningrequests/approval"]},
      {"verbs":["approve"],"apiGroups":["certificates.k8s.io"],"resources":["signers"],
       "resourceNames":["example.com/*"]}]})");
  ASSERT_EQ(more.status, 200) << more.body;
  As("jane");
  EXPECT_EQ(Patch(std::string(kRequest) + "/approval", Approved()).status, 200);
}

TEST_F(WritePartTest, EphemeralContainersAreAddedAndStay) {
  MakePod();
  const std::string path = std::string(kPartPod) + "/ephemeralcontainers";
  const http::Response added =
      Do("PATCH", path,
         R"({"spec":{"ephemeralContainers":[{"name":"debug","image":"d"}],"nodeName":"n"}})",
         "application/strategic-merge-patch+json");
  ASSERT_EQ(added.status, 200) << added.body;
  const codec::JsonTree pod = Json(added);
  EXPECT_EQ(pod.At({"spec", "ephemeralContainers"})->elements()[0].TextAt("image"), "d");
  EXPECT_EQ(At(pod, {"spec", "nodeName"}), "");
  EXPECT_EQ(At(pod, {"metadata", "generation"}), "2");
  EXPECT_EQ(At(Json(Do("GET", path)), {"metadata", "name"}), "p");
  EXPECT_THAT(Message(Patch(path, R"({"spec":{"ephemeralContainers":[]}})")),
              HasSubstr("existing ephemeral containers \"debug\" may not be removed"));
  EXPECT_THAT(
      Message(Patch(path, R"({"spec":{"ephemeralContainers":[{"name":"debug","image":"e"}]}})")),
      HasSubstr("existing ephemeral containers \"debug\" may not be changed"));
}

TEST_F(WritePartTest, OtherTypesHaveNoSuchParts) {
  MakePod();
  MakeRequest();
  EXPECT_EQ(Do("GET", std::string(kPartPod) + "/approval").status, 404);
  EXPECT_EQ(Do("GET", std::string(kRequest) + "/ephemeralcontainers").status, 404);
  EXPECT_EQ(Do("DELETE", std::string(kPartPod) + "/ephemeralcontainers").status, 405);
}

// As kube-apiserver's strategies have it.
TEST_F(WritePartTest, AStatusTakesMetadataAlongOfSomeTypes) {
  const std::string patch =
      R"({"metadata":{"labels":{"l":"1"},"annotations":{"a":"1"}},"status":{"phase":"Running"}})";
  MakePod();
  const http::Response pod = Patch(std::string(kPartPod) + "/status", patch);
  ASSERT_EQ(pod.status, 200) << pod.body;
  EXPECT_EQ(At(Json(pod), {"metadata", "labels", "l"}), "1");
  EXPECT_EQ(At(Json(pod), {"metadata", "annotations", "a"}), "1");
  EXPECT_EQ(At(Json(pod), {"status", "phase"}), "Running");
  const std::string deployments = "/apis/apps/v1/namespaces/default/deployments";
  const http::Response made = Do("POST", deployments, R"({"metadata":{"name":"d"},"spec":{
      "selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},
      "spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  ASSERT_EQ(made.status, 201) << made.body;
  const http::Response deployment = Patch(deployments + "/d/status", R"({"metadata":{
      "labels":{"l":"1"},"annotations":{"a":"1"}},"status":{"replicas":1}})");
  EXPECT_EQ(At(Json(deployment), {"metadata", "labels"}), "");
  EXPECT_EQ(At(Json(deployment), {"metadata", "annotations", "a"}), "1");
  EXPECT_EQ(At(Json(deployment), {"metadata", "generation"}), "1");
}

TEST_F(WritePartTest, AStatusOfCustomResourcesIsTheStatus) {
  const http::Response defined =
      Do("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
         R"({"metadata":{"name":"bolts.example.com"},"spec":{"group":"example.com",
             "scope":"Namespaced","names":{"plural":"bolts","kind":"Bolt"},"versions":[{"name":"v1",
             "served":true,"storage":true,"subresources":{"status":{}},"schema":{"openAPIV3Schema":
             {"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})");
  ASSERT_EQ(defined.status, 201) << defined.body;
  const std::string bolts = "/apis/example.com/v1/namespaces/default/bolts";
  const http::Response made =
      Do("POST", bolts, R"({"apiVersion":"example.com/v1","kind":"Bolt","metadata":{"name":"b"}})");
  ASSERT_EQ(made.status, 201) << made.body;
  const http::Response bolt = Patch(
      bolts + "/b/status", R"({"metadata":{"annotations":{"a":"1"}},"status":{"phase":"x"}})");
  EXPECT_EQ(At(Json(bolt), {"metadata", "annotations"}), "");
  EXPECT_EQ(At(Json(bolt), {"status", "phase"}), "x");
}

}  // namespace
}  // namespace kubexx::apiserver
