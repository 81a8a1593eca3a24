#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

using ::testing::HasSubstr;

const std::string kTemplate =
    R"("template":{"metadata":{"labels":{"a":"b"}},"spec":{"restartPolicy":"Never",)"
    R"("containers":[{"name":"c","image":"i"}]}})";
const std::string kOtherImage =
    R"({"spec":{"template":{"spec":{"containers":[{"name":"c","image":"j"}]}}}})";

/// Of what kube-apiserver does with all such types test/differential/immutable.py asks both
/// servers.
class ImmutableFieldsTest : public testing::ApiFixture {
 protected:
  void Make(const std::string& collection, const std::string& rest) {
    const http::Response made = Do("POST", collection, R"({"metadata":{"name":"x"},)" + rest + "}");
    ASSERT_EQ(made.status, 201) << made.body;
    path_ = collection + "/x";
  }
  /// The message of the refusal; "" when there is none.
  std::string Refusal(const std::string& patch) {
    const http::Response answer = Do("PATCH", path_, patch, kMergePatch);
    EXPECT_TRUE(answer.status == 200 || answer.status == 422) << answer.body;
    return answer.status == 200 ? "" : Message(answer);
  }

  std::string path_;
};

TEST_F(ImmutableFieldsTest, AStatefulSetKeepsWhatItsPodsAreKnownBy) {
  Make("/apis/apps/v1/namespaces/default/statefulsets",
       R"("spec":{"serviceName":"s","selector":{"matchLabels":{"a":"b"}},"template":{"metadata":)"
       R"({"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}})");
  EXPECT_THAT(Refusal(R"({"spec":{"serviceName":"t"}})"), HasSubstr("spec: Forbidden"));
  EXPECT_THAT(Refusal(R"({"spec":{"podManagementPolicy":"Parallel"}})"), HasSubstr("Forbidden"));
  EXPECT_EQ(Refusal(R"({"spec":{"replicas":3,"updateStrategy":{"type":"OnDelete",)"
                    R"("rollingUpdate":null},"ordinals":{"start":1}}})"),
            "");
  EXPECT_EQ(Refusal(kOtherImage), "");
}

TEST_F(ImmutableFieldsTest, AJobKeepsItsTemplate) {
  Make("/apis/batch/v1/namespaces/default/jobs", R"("spec":{"completions":2,)" + kTemplate + "}");
  EXPECT_THAT(Refusal(kOtherImage), HasSubstr("spec.template: Invalid value"));
  EXPECT_THAT(Refusal(R"({"spec":{"completions":3}})"), HasSubstr("spec.completions: Invalid"));
  EXPECT_EQ(Refusal(R"({"spec":{"parallelism":3,"backoffLimit":1,"suspend":true}})"), "");
}

TEST_F(ImmutableFieldsTest, WhereAJobRunsMayBeToldWhileItIsSuspendedWithoutPods) {
  Make("/apis/batch/v1/namespaces/default/jobs", R"("spec":{"suspend":true,)" + kTemplate + "}");
  const auto move = [](const std::string& to) {
    return R"({"spec":{"template":{"metadata":{"annotations":{"a":")" + to +
           R"("}},"spec":{"nodeSelector":{"a":")" + to +
           R"("},"tolerations":[{"key":"a","operator":"Exists"}],"affinity":{"nodeAffinity":)"
           R"({"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[)"
           R"({"matchExpressions":[{"key":"a","operator":"Exists"}]}]}}}}}}})";
  };
  const std::string spread =
      R"({"spec":{"template":{"spec":{"affinity":{"podAffinity":{)"
      R"("requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"a"}]}}}}}})";
  const std::string larger =
      R"({"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i",)"
      R"("resources":{"limits":{"cpu":"1"}}}]}}}})";
  const auto status = [this](const std::string& members) {
    const http::Response written =
        Do("PATCH", path_ + "/status", R"({"status":{)" + members + "}}", kMergePatch);
    EXPECT_EQ(written.status, 200) << written.body;
  };
  EXPECT_EQ(Refusal(move("b")), "");
  EXPECT_EQ(Refusal(larger), "");
  EXPECT_THAT(Refusal(kOtherImage), HasSubstr("spec.template.spec: Invalid value"));
  EXPECT_THAT(Refusal(spread), HasSubstr("spec.template.spec: Invalid value"));
  status(R"("startTime":"2026-01-01T00:00:00Z","active":1)");
  EXPECT_THAT(Refusal(move("c")), HasSubstr("spec.template: Invalid value"));
  status(R"("active":null)");
  EXPECT_THAT(Refusal(move("c")), HasSubstr("spec.template: Invalid value"));
  status(R"("conditions":[{"type":"Suspended","status":"True"}])");
  EXPECT_EQ(Refusal(move("c")), "");
}

TEST_F(ImmutableFieldsTest, IndexedJobsMayGrow) {
  Make("/apis/batch/v1/namespaces/default/jobs",
       R"("spec":{"completionMode":"Indexed","completions":2,"parallelism":2,)" + kTemplate + "}");
  EXPECT_THAT(Refusal(R"({"spec":{"completions":3}})"), HasSubstr("spec.completions"));
  EXPECT_EQ(Refusal(R"({"spec":{"completions":3,"parallelism":3}})"), "");
  EXPECT_EQ(Refusal(R"({"spec":{"parallelism":1}})"), "");
  EXPECT_EQ(Refusal(R"({"spec":{"completions":2,"parallelism":2}})"), "");
}

TEST_F(ImmutableFieldsTest, AServiceKeepsItsAddress) {
  Make("/api/v1/namespaces/default/services",
       R"("spec":{"clusterIP":"None","selector":{"a":"b"},"ports":[{"port":80}]})");
  EXPECT_THAT(Refusal(R"({"spec":{"clusterIP":"10.0.0.9","clusterIPs":["10.0.0.9"]}})"),
              HasSubstr("spec.clusterIPs[0]: Invalid value: [\"10.0.0.9\"]: may not change"));
  // Who leaves it out means no change.
  const http::Response kept =
      Do("PATCH", path_, R"({"spec":{"clusterIP":null,"clusterIPs":null}})", kMergePatch);
  EXPECT_EQ(kept.status, 200) << kept.body;
  EXPECT_THAT(kept.body, HasSubstr(R"("clusterIP":"None")"));
}

TEST_F(ImmutableFieldsTest, AClaimGrowsWhenItIsBound) {
  Make("/apis/storage.k8s.io/v1/storageclasses",
       R"("provisioner":"a.b/c","allowVolumeExpansion":true)");
  Make("/api/v1/namespaces/default/persistentvolumeclaims",
       R"("spec":{"accessModes":["ReadWriteOnce"],"storageClassName":"x",)"
       R"("resources":{"requests":{"storage":"1Gi"}}})");
  const std::string grow = R"({"spec":{"resources":{"requests":{"storage":"2Gi"}}}})";
  EXPECT_THAT(Refusal(grow), HasSubstr("spec: Forbidden"));
  EXPECT_EQ(Refusal(R"({"spec":{"volumeName":"v"}})"), "");
  EXPECT_THAT(Refusal(R"({"spec":{"volumeName":"w"}})"), HasSubstr("spec: Forbidden"));
  const http::Response bound =
      Do("PATCH", path_ + "/status", R"({"status":{"phase":"Bound"}})", kMergePatch);
  ASSERT_EQ(bound.status, 200) << bound.body;
  EXPECT_EQ(Refusal(grow), "");
  EXPECT_THAT(Refusal(R"({"spec":{"accessModes":["ReadWriteMany"]}})"),
              HasSubstr("spec: Forbidden"));
}

/// Of a server of before, that had no default for the field.
TEST_F(ImmutableFieldsTest, WhatIsOfBeforeADefaultMayBeChanged) {
  ASSERT_TRUE(storage_->Create(
      "/registry/persistentvolumeclaims/default/x",
      R"({"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"name":"x","namespace":"default",)"
      R"("uid":"u","finalizers":["a/b"]},"spec":{"accessModes":["ReadWriteOnce"],)"
      R"("resources":{"requests":{"storage":"1Gi"}}}})",
      {}));
  path_ = "/api/v1/namespaces/default/persistentvolumeclaims/x";
  EXPECT_EQ(Refusal(R"({"metadata":{"finalizers":null}})"), "");
}

TEST_F(ImmutableFieldsTest, AVolumeKeepsItsSource) {
  Make("/api/v1/persistentvolumes",
       R"("spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],)"
       R"("csi":{"driver":"d","volumeHandle":"h"}})");
  const std::string secret =
      R"({"spec":{"csi":{"controllerExpandSecretRef":{"name":"n","namespace":"s"}}}})";
  const auto nodes = [](const std::string& key) {
    return R"({"spec":{"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":)"
           R"([{"key":")" +
           key + R"(","operator":"Exists"}]}]}}}})";
  };
  EXPECT_EQ(Refusal(secret), "");
  EXPECT_THAT(Refusal(R"({"spec":{"csi":{"controllerExpandSecretRef":{"name":"m"}}}})"),
              HasSubstr("spec.persistentvolumesource: Forbidden"));
  EXPECT_EQ(Refusal(nodes("a")), "");
  EXPECT_THAT(Refusal(nodes("b")), HasSubstr("nodeAffinity: Invalid value"));
}

TEST_F(ImmutableFieldsTest, AQuotaKeepsItsScopesInAnyOrder) {
  Make("/api/v1/namespaces/default/resourcequotas",
       R"("spec":{"hard":{"pods":"1"},"scopes":["Terminating","NotBestEffort"]})");
  EXPECT_EQ(Refusal(R"({"spec":{"scopes":["NotBestEffort","Terminating"]}})"), "");
  EXPECT_THAT(Refusal(R"({"spec":{"scopes":["Terminating"]}})"), HasSubstr("spec.scopes: Invalid"));
}

TEST_F(ImmutableFieldsTest, ClaimsOfAStatefulSetHaveTheirDefaults) {
  Make(
      "/apis/apps/v1/namespaces/default/statefulsets",
      R"("spec":{"serviceName":"s","selector":{"matchLabels":{"a":"b"}},"template":{"metadata":)"
      R"({"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}},)"
      R"("volumeClaimTemplates":[{"metadata":{"name":"d"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}]})");
  const http::Response read = Do("GET", path_);
  EXPECT_THAT(read.body, HasSubstr(R"("volumeMode":"Filesystem")"));
  EXPECT_THAT(read.body, HasSubstr(R"("kind":"PersistentVolumeClaim")"));
  // Somebody else says it all.
  EXPECT_EQ(Refusal(R"({"spec":{"volumeClaimTemplates":[{"kind":"PersistentVolumeClaim",)"
                    R"("apiVersion":"v1","metadata":{"name":"d"},"spec":{"accessModes":)"
                    R"(["ReadWriteOnce"],"resources":{"requests":{"storage":"1024Mi"}},)"
                    R"("volumeMode":"Filesystem"},"status":{"phase":"Pending"}}]}})"),
            "");
}

TEST_F(ImmutableFieldsTest, ClassesKeepWhatVolumesAreMadeBy) {
  Make("/apis/storage.k8s.io/v1/storageclasses", R"("provisioner":"a/b","parameters":{"a":"b"})");
  EXPECT_THAT(Refusal(R"({"parameters":{"a":"c"}})"), HasSubstr("parameters: Invalid value"));
  EXPECT_EQ(Refusal(R"({"allowVolumeExpansion":true})"), "");
}

}  // namespace
}  // namespace kubexx::apiserver
