// Who asks for a certificate, what for, and who answers.
#include "kubexx/apiserver/endpoints/validation/cluster/certificate_requests.h"

#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/authn/token_file.h"
#include "kubexx/apiserver/endpoints/testing/api_fixture.h"
#include "kubexx/apiserver/endpoints/testing/certificate_requests.h"

namespace kubexx::apiserver {
namespace {

using ::testing::HasSubstr;

constexpr const char* kCsrs = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
constexpr const char* kCsr = "/apis/certificates.k8s.io/v1/certificatesigningrequests/r";
constexpr const char* kCsrStatus =
    "/apis/certificates.k8s.io/v1/certificatesigningrequests/r/status";
constexpr const char* kCsrRbac = "/apis/rbac.authorization.k8s.io/v1";

ApiOptions WithJaneOfTheDevelopers() {
  ApiOptions options;
  options.token = apimachinery::Bytes(std::string("admin-token"));
  options.tokens = *ParseTokenFile("jane-token,jane,7,developers\n");
  options.rbac = true;
  return options;
}

/// Jane may write requests and their status.
class CertificateRequestTest : public testing::ApiFixture {
 protected:
  CertificateRequestTest() : ApiFixture(WithJaneOfTheDevelopers()) {
    As("admin");
    const http::Response role =
        Do("POST", std::string(kCsrRbac) + "/clusterroles", R"({"metadata":{"name":"r"},"rules":[
            {"verbs":["*"],"apiGroups":["certificates.k8s.io"],
             "resources":["certificatesigningrequests","certificatesigningrequests/status"]}]})");
    EXPECT_EQ(role.status, 201) << role.body;
    const http::Response binding =
        Do("POST", std::string(kCsrRbac) + "/clusterrolebindings",
           R"({"metadata":{"name":"r"},"subjects":[{"kind":"User","name":"jane"}],"roleRef":{
               "apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"r"}})");
    EXPECT_EQ(binding.status, 201) << binding.body;
    As("jane");
  }
  void As(const std::string& user) { headers_ = {{"Authorization", "Bearer " + user + "-token"}}; }
  static std::string Request(const std::string& request, const std::string& signer,
                             const std::string& more = {}) {
    return R"({"apiVersion":"certificates.k8s.io/v1","kind":"CertificateSigningRequest",
               "metadata":{"name":"r"},"spec":{"request":")" +
           request + R"(","signerName":")" + signer + R"(","usages":["client auth"])" + more + "}}";
  }
  static std::string Forged() {
    return Request(testing::kJanesRequest, "example.com/x",
                   R"(,"username":"system:node:n","uid":"0","groups":["system:masters"],
                      "extra":{"a":["b"]})");
  }
  static std::string Certificate(const char* certificate) {
    return std::string(R"({"status":{"certificate":")") + certificate + R"("}})";
  }
  static void ExpectJanes(const codec::JsonTree& request) {
    EXPECT_EQ(At(request, {"spec", "username"}), "jane");
    EXPECT_EQ(At(request, {"spec", "uid"}), "7");
    EXPECT_EQ(At(request, {"spec", "groups"}), R"(["developers","system:authenticated"])");
    EXPECT_EQ(At(request, {"spec", "extra"}), "");
  }
};

TEST_F(CertificateRequestTest, SaysWhoMadeIt) {
  const http::Response made = Do("POST", kCsrs, Forged());
  ASSERT_EQ(made.status, 201) << made.body;
  ExpectJanes(Json(made));
}

TEST_F(CertificateRequestTest, SaysWhoAppliedIt) {
  const http::Response made =
      Do("PATCH", std::string(kCsr) + "?fieldManager=f", Forged(), "application/apply-patch+yaml");
  ASSERT_EQ(made.status, 201) << made.body;
  ExpectJanes(Json(made));
}

TEST_F(CertificateRequestTest, StaysWhatItWas) {
  ASSERT_EQ(Do("POST", kCsrs, Forged()).status, 201);
  const http::Response changed =
      Do("PATCH", kCsr,
         R"({"metadata":{"labels":{"a":"b"}},"spec":{"signerName":"example.com/y",
             "username":"admin","usages":["any"]}})",
         kMergePatch);
  ASSERT_EQ(changed.status, 200) << changed.body;
  EXPECT_EQ(At(Json(changed), {"metadata", "labels", "a"}), "b");
  EXPECT_EQ(At(Json(changed), {"spec", "signerName"}), "example.com/x");
  EXPECT_EQ(At(Json(changed), {"spec", "usages"}), R"(["client auth"])");
  ExpectJanes(Json(changed));
}

TEST_F(CertificateRequestTest, OfMastersIsNotForTheServersOwnSigner) {
  const http::Response refused =
      Do("POST", kCsrs, Request(testing::kMastersRequest, "kubernetes.io/kube-apiserver-client"));
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(Message(refused),
            "certificatesigningrequests.certificates.k8s.io \"r\" is forbidden: use of "
            "kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed");
  EXPECT_EQ(Do("POST", kCsrs, Request(testing::kMastersRequest, "example.com/x")).status, 201);
}

TEST_F(CertificateRequestTest, IsSignedByWhoMay) {
  ASSERT_EQ(Do("POST", kCsrs, Forged()).status, 201);
  const http::Response refused =
      Do("PATCH", kCsrStatus, Certificate(testing::kIssuedCertificate), kMergePatch);
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(Message(refused),
            "certificatesigningrequests.certificates.k8s.io \"r\" is forbidden: user not permitted "
            "to sign requests with signerName \"example.com/x\"");
  EXPECT_EQ(Do("PATCH", kCsrStatus,
               R"({"status":{"conditions":[{"type":"Failed","status":"True"}]}})", kMergePatch)
                .status,
            403);
  EXPECT_EQ(Do("PATCH", kCsrStatus, "{}", kMergePatch).status, 200) << "nothing is answered";
  As("admin");
  const http::Response more = Do("PATCH", std::string(kCsrRbac) + "/clusterroles/r", R"({"rules":[
      {"verbs":["patch"],"apiGroups":["certificates.k8s.io"],
       "resources":["certificatesigningrequests/status"]},
      {"verbs":["sign"],"apiGroups":["certificates.k8s.io"],"resources":["signers"],
       "resourceNames":["example.com/*"]}]})",
                                 kMergePatch);
  ASSERT_EQ(more.status, 200) << more.body;
  As("jane");
  EXPECT_EQ(Do("PATCH", kCsrStatus, Certificate(testing::kIssuedCertificate), kMergePatch).status,
            200);
}

TEST_F(CertificateRequestTest, IsAnsweredOnceByACertificate) {
  ASSERT_EQ(Do("POST", kCsrs, Forged()).status, 201);
  As("admin");
  EXPECT_THAT(Message(Do("PATCH", kCsrStatus, Certificate("eA=="), kMergePatch)),
              HasSubstr("must contain at least one CERTIFICATE PEM block"));
  EXPECT_THAT(Message(Do("PATCH", kCsrStatus, Certificate(testing::kJanesRequest), kMergePatch)),
              HasSubstr("only CERTIFICATE PEM blocks are allowed, found \"CERTIFICATE REQUEST\""));
  EXPECT_EQ(Do("PATCH", kCsrStatus, Certificate(testing::kIssuedCertificate), kMergePatch).status,
            200);
  EXPECT_THAT(Message(Do("PATCH", kCsrStatus, Certificate(""), kMergePatch)),
              HasSubstr("updates may not modify existing certificate content"));
}

TEST_F(CertificateRequestTest, BadOnesAreRefused) {
  const http::Response refused =
      Do("POST", kCsrs,
         R"({"metadata":{"name":"r"},"spec":{"request":"eA==","signerName":"x",
             "usages":["client auth","client auth","haircut"],"expirationSeconds":1}})");
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(Message(refused), HasSubstr("spec.request: Invalid value: \"eA==\": PEM block type "
                                          "must be CERTIFICATE REQUEST"));
  EXPECT_THAT(Message(refused), HasSubstr("spec.usages[1]: Duplicate value: \"client auth\""));
  EXPECT_THAT(Message(refused), HasSubstr("spec.usages[2]: Unsupported value: \"haircut\""));
  EXPECT_THAT(Message(refused), HasSubstr("spec.signerName: Invalid value: \"x\""));
  EXPECT_THAT(Message(refused), HasSubstr("spec.expirationSeconds: Invalid value: 1"));
}

}  // namespace
}  // namespace kubexx::apiserver
