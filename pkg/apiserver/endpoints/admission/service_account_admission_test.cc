#include "kubexx/apiserver/endpoints/admission/service_account_admission.h"

#include <gmock/gmock.h>

#include <chrono>
#include <string>
#include <thread>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"
#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::apiserver {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct AdmissionClock {
  base::testing::FakeClock fake_clock_;
};

class ServiceAccountAdmissionTest : protected AdmissionClock, public testing::ApiFixture {
 protected:
  static constexpr const char* kAccounts = "/api/v1/namespaces/default/serviceaccounts";
  static constexpr const char* kPods = "/api/v1/namespaces/default/pods";

  ServiceAccountAdmissionTest()
      : ApiFixture(
            {.clock = fake_clock_, .cacher = {.clock = fake_clock_}, .service_accounts = true}) {}

  void MakeAccount(const std::string& name, const std::string& rest = {}) {
    ASSERT_EQ(Do("POST", kAccounts, R"({"metadata":{"name":")" + name + "\"}" + rest + "}").status,
              201);
  }
  /// A pod of an init container and one other.
  http::Response MakePod(const std::string& spec = {}, const std::string& meta = R"("name":"p")") {
    return Do("POST", kPods,
              R"({"metadata":{)" + meta +
                  R"(},"spec":{"initContainers":[{"name":"i","image":"i"}],)"
                  R"("containers":[{"name":"c","image":"i"}])" +
                  spec + "}}");
  }
  static std::string Volumes(const http::Response& made) {
    return At(Json(made), {"spec", "volumes"});
  }
  void EndWait() { fake_clock_.AdvanceToSleeper(std::chrono::milliseconds(150)); }
};

TEST_F(ServiceAccountAdmissionTest, APodGetsItsAccountWithTheToken) {
  MakeAccount("default", R"(,"imagePullSecrets":[{"name":"registry"}])");
  const http::Response made = MakePod();
  ASSERT_EQ(made.status, 201) << made.body;
  const codec::JsonTree pod = Json(made);
  EXPECT_EQ(At(pod, {"spec", "serviceAccountName"}), "default");
  EXPECT_EQ(At(pod, {"spec", "serviceAccount"}), "default");
  EXPECT_EQ(At(pod, {"spec", "imagePullSecrets"}), R"([{"name":"registry"}])");
  const std::string volume = At(pod, {"spec", "volumes", "0", "name"});
  EXPECT_THAT(volume, StartsWith("kube-api-access-"));
  EXPECT_EQ(volume.size(), 21U);
  EXPECT_EQ(
      At(pod, {"spec", "volumes", "0", "projected"}),
      R"({"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},)"
      R"({"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}},)"
      R"({"downwardAPI":{"items":[{"path":"namespace","fieldRef":{"apiVersion":"v1",)"
      R"("fieldPath":"metadata.namespace"}}]}}],"defaultMode":420})");
  for (const char* const list : {"initContainers", "containers"}) {
    EXPECT_EQ(
        At(pod, {"spec", list, "0", "volumeMounts"}),
        R"([{"name":")" + volume +
            R"(","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}])");
  }
  EXPECT_THAT(At(pod, {"metadata", "managedFields"}), Not(HasSubstr("f:volumes")));
}

TEST_F(ServiceAccountAdmissionTest, AnAppliedPodDoesToo) {
  MakeAccount("robot");
  const http::Response made =
      Do("PATCH", std::string(kPods) + "/p?fieldManager=m",
         R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},)"
         R"("spec":{"serviceAccount":"robot","containers":[{"name":"c","image":"i"}]}})",
         "application/apply-patch+yaml");
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(At(Json(made), {"spec", "serviceAccountName"}), "robot");
  EXPECT_THAT(Volumes(made), HasSubstr("kube-api-access-"));
}

TEST_F(ServiceAccountAdmissionTest, ThePodsWishForATokenCountsMore) {
  MakeAccount("default");
  MakeAccount("quiet", R"(,"automountServiceAccountToken":false)");
  EXPECT_EQ(Volumes(MakePod(R"(,"automountServiceAccountToken":false)")), "");
  EXPECT_EQ(Volumes(MakePod(R"(,"serviceAccountName":"quiet")", R"("name":"q")")), "");
  EXPECT_THAT(
      Volumes(MakePod(R"(,"serviceAccountName":"quiet","automountServiceAccountToken":true)",
                      R"("name":"r")")),
      HasSubstr("kube-api-access-"));
}

TEST_F(ServiceAccountAdmissionTest, WhatIsMountedThereStays) {
  MakeAccount("default");
  const http::Response made =
      Do("POST", kPods,
         R"({"metadata":{"name":"p"},"spec":{"volumes":[{"name":"own","emptyDir":{}}],)"
         R"("containers":[{"name":"c","image":"i","volumeMounts":[{"name":"own",)"
         R"("mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}]}]}})");
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_THAT(Volumes(made), Not(HasSubstr("kube-api-access-")));
}

TEST_F(ServiceAccountAdmissionTest, PullSecretsOfThePodStay) {
  MakeAccount("default", R"(,"imagePullSecrets":[{"name":"registry"}])");
  EXPECT_EQ(
      At(Json(MakePod(R"(,"imagePullSecrets":[{"name":"own"}])")), {"spec", "imagePullSecrets"}),
      R"([{"name":"own"}])");
}

TEST_F(ServiceAccountAdmissionTest, APodOfNoAccountIsRefused) {
  const http::Response refused = MakePod(R"(,"serviceAccountName":"nobody")");
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(Message(refused),
            "pods \"p\" is forbidden: error looking up service account default/nobody: "
            "serviceaccount \"nobody\" not found");
  EXPECT_THAT(Message(MakePod(R"(,"serviceAccountName":"nobody")", R"("generateName":"g-")")),
              HasSubstr("pods \"g-\" is forbidden"));
}

TEST_F(ServiceAccountAdmissionTest, TheDefaultAccountIsWaitedFor) {
  http::Response made;
  std::jthread client([&] { made = MakePod(); });
  fake_clock_.AwaitSleepers(1);
  MakeAccount("default");
  EndWait();
  client.join();
  EXPECT_EQ(made.status, 201) << made.body;
}

TEST_F(ServiceAccountAdmissionTest, TheWaitForTheDefaultAccountEnds) {
  http::Response refused;
  std::jthread client([&] { refused = MakePod(); });
  for (int i = 0; i < 9; ++i) {
    EndWait();
  }
  client.join();
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(Message(refused), HasSubstr("serviceaccount \"default\" not found"));
}

TEST_F(ServiceAccountAdmissionTest, TheNamespaceIsLookedAtFirst) {
  const http::Response missing =
      Do("POST", "/api/v1/namespaces/nowhere/pods",
         R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}})");
  EXPECT_EQ(missing.status, 404);
  EXPECT_THAT(Message(missing), HasSubstr("namespaces \"nowhere\" not found"));
}

TEST_F(ServiceAccountAdmissionTest, AMirrorPodHasNone) {
  constexpr const char* kMirror = R"("name":"p","annotations":{"kubernetes.io/config.mirror":"x"})";
  const http::Response made = MakePod("", kMirror);
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(At(Json(made), {"spec", "serviceAccountName"}), "");
  EXPECT_EQ(Volumes(made), "");
  for (const auto& [spec, why] :
       {std::pair(R"(,"serviceAccountName":"a")",
                  "a mirror pod may not reference service accounts"),
        std::pair(R"(,"volumes":[{"name":"s","secret":{"secretName":"s"}}])",
                  "a mirror pod may not reference secrets"),
        std::pair(R"(,"volumes":[{"name":"s","projected":{"sources":[)"
                  R"({"serviceAccountToken":{"path":"t"}}]}}])",
                  "a mirror pod may not use ServiceAccountToken volume projections")}) {
    const http::Response refused = MakePod(spec, kMirror);
    EXPECT_EQ(refused.status, 403) << spec;
    EXPECT_THAT(Message(refused), HasSubstr(why));
  }
}

TEST_F(ServiceAccountAdmissionTest, AnAccountMaySayWhichSecretsItsPodsHave) {
  ASSERT_EQ(
      Do("POST", kAccounts,
         R"({"metadata":{"name":"strict","annotations":{"kubernetes.io/enforce-mountable-secrets":)"
         R"("true"}},"secrets":[{"name":"known"}],"imagePullSecrets":[{"name":"registry"}]})")
          .status,
      201);
  const std::string account = R"(,"serviceAccountName":"strict")";
  const auto volume = [&](const std::string& name) {
    return account + R"(,"volumes":[{"name":"s","secret":{"secretName":")" + name + "\"}}]";
  };
  EXPECT_EQ(MakePod(volume("known")).status, 201);
  const http::Response refused = MakePod(volume("other"), R"("name":"q")");
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(Message(refused),
              HasSubstr("volume with secret.secretName=\"other\" is not allowed because service "
                        "account strict does not reference that secret"));
  EXPECT_THAT(Message(MakePod(account + R"(,"imagePullSecrets":[{"name":"x"}])")),
              HasSubstr("imagePullSecrets[0].name=\"x\" is not allowed"));
}

/// As envtest has it.
class WithoutServiceAccounts : public testing::ApiFixture {};

TEST_F(WithoutServiceAccounts, PodsAreTakenAsTheyAre) {
  const http::Response made =
      Do("POST", "/api/v1/namespaces/default/pods",
         R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}})");
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(At(Json(made), {"spec", "serviceAccountName"}), "");
  EXPECT_EQ(At(Json(made), {"spec", "volumes"}), "");
}

}  // namespace
}  // namespace kubexx::apiserver
