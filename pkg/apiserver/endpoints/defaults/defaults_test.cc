// Tests the defaults that kube-apiserver sets.
#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

using ::testing::HasSubstr;

class DefaultsTest : public testing::ApiFixture {
 protected:
  /// Returns the object as it is created in the namespace default.
  codec::JsonTree Made(const std::string& resource, const std::string& body) {
    const std::size_t slash = resource.rfind('/');
    const http::Response made = Do(
        "POST",
        resource.substr(0, slash) + "/namespaces/default" + resource.substr(slash) + "?dryRun=All",
        body);
    EXPECT_EQ(made.status, 201) << made.body;
    return Json(made);
  }
  codec::JsonTree Job(const std::string& spec) {
    return Made("/apis/batch/v1/jobs", R"({"metadata":{"name":"j"},"spec":{)" + spec +
                                           R"("template":{"spec":{"restartPolicy":"Never",
                       "containers":[{"name":"c","image":"i"}]}}}})");
  }
};

TEST_F(DefaultsTest, AJobThatSaysNothingRunsOnePodOnce) {
  const codec::JsonTree job = Job("");
  EXPECT_EQ(At(job, {"spec", "completions"}), "1");
  EXPECT_EQ(At(job, {"spec", "parallelism"}), "1");
  EXPECT_EQ(At(job, {"spec", "backoffLimit"}), "6");
  EXPECT_EQ(At(job, {"spec", "podReplacementPolicy"}), "TerminatingOrFailed");
  EXPECT_EQ(At(job, {"spec", "manualSelector"}), "false");
}

TEST_F(DefaultsTest, APodHasSomeTimeToEnd) {
  const codec::JsonTree made =
      Made("/api/v1/pods", R"({"metadata":{"name":"p"},"spec":{"terminationGracePeriodSeconds":-5,)"
                           R"("containers":[{"name":"c","image":"i"}]}})");
  EXPECT_EQ(At(made, {"spec", "terminationGracePeriodSeconds"}), "1");
}

TEST_F(DefaultsTest, AJobOfWorkersIsDoneWhenTheySaySo) {
  const codec::JsonTree job = Job(R"("parallelism":4,)");
  EXPECT_EQ(At(job, {"spec", "parallelism"}), "4");
  EXPECT_EQ(At(job, {"spec", "completions"}), "");
  EXPECT_EQ(At(Job(R"("completions":3,)"), {"spec", "parallelism"}), "1");
}

TEST_F(DefaultsTest, TemplatesOfPodsHaveThoseOfPods) {
  const codec::JsonTree made =
      Made("/api/v1/podtemplates",
           R"({"metadata":{"name":"t"},"template":{"spec":{"containers":[{"name":"c",
              "image":"i"}]}}})");
  EXPECT_EQ(At(made, {"template", "spec", "restartPolicy"}), "Always");
  EXPECT_EQ(At(made, {"template", "spec", "containers", "0", "imagePullPolicy"}), "Always");
  EXPECT_EQ(At(made, {"template", "spec", "containers", "0", "terminationMessagePolicy"}), "File");
}

constexpr const char* kPodWithAll = R"({"containers":[{"name":"c","image":"i:1",
    "ports":[{"containerPort":80}],"env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":
    "metadata.name"}}}],"resources":{"limits":{"cpu":"1","memory":"1Mi"},"requests":{"cpu":"500m"}},
    "livenessProbe":{"httpGet":{"port":80}},"readinessProbe":{"grpc":{"port":81},"periodSeconds":3},
    "lifecycle":{"preStop":{"httpGet":{"port":80,"path":"/end"}}}}],
    "volumes":[{"name":"e"},{"name":"h","hostPath":{"path":"/a"}},{"name":"d","downwardAPI":
    {"items":[{"path":"p","fieldRef":{"fieldPath":"metadata.labels"}}]}},{"name":"p","projected":
    {"sources":[{"serviceAccountToken":{"path":"t"}}]}},{"name":"c","ephemeral":
    {"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"],"resources":
    {"requests":{"storage":"1Gi"}}}}}}]})";

TEST_F(DefaultsTest, ProbesVariablesAndVolumesAreCompleted) {
  const codec::JsonTree made =
      Made("/api/v1/podtemplates",
           R"({"metadata":{"name":"t"},"template":{"spec":)" + std::string(kPodWithAll) + "}}");
  const codec::JsonTree& container =
      made.At({"template", "spec", "containers"})->elements().front();
  EXPECT_EQ(At(container, {"livenessProbe"}),
            R"({"httpGet":{"port":80,"path":"/","scheme":"HTTP"},"timeoutSeconds":1,)"
            R"("periodSeconds":10,"successThreshold":1,"failureThreshold":3})");
  EXPECT_EQ(At(container, {"readinessProbe", "grpc"}), R"({"port":81,"service":""})");
  EXPECT_EQ(At(container, {"readinessProbe", "periodSeconds"}), "3");
  EXPECT_EQ(At(container, {"lifecycle", "preStop", "httpGet", "scheme"}), "HTTP");
  EXPECT_EQ(At(container, {"env", "0", "valueFrom", "fieldRef", "apiVersion"}), "v1");
  EXPECT_EQ(At(container, {"resources", "requests"}), R"({"cpu":"500m"})");
  EXPECT_EQ(At(container, {"imagePullPolicy"}), "IfNotPresent");
  const auto volumes = made.At({"template", "spec", "volumes"})->elements();
  EXPECT_EQ(At(volumes[0], {"emptyDir"}), "{}");
  EXPECT_EQ(volumes[1].At({"hostPath", "type"})->ToJson(), "\"\"");
  EXPECT_EQ(At(volumes[2], {"downwardAPI", "defaultMode"}), "420");
  EXPECT_EQ(At(volumes[2], {"downwardAPI", "items", "0", "fieldRef", "apiVersion"}), "v1");
  EXPECT_EQ(
      At(volumes[3], {"projected", "sources", "0", "serviceAccountToken", "expirationSeconds"}),
      "3600");
  EXPECT_EQ(At(volumes[4], {"ephemeral", "volumeClaimTemplate", "spec", "volumeMode"}),
            "Filesystem");
}

TEST_F(DefaultsTest, ImagesThatMayChangeAreAskedForEachTime) {
  const std::string digest = "@sha256:" + std::string(64, '0');
  for (const auto& [image, policy] : {std::pair<std::string, const char*>("a", "Always"),
                                      {"a:latest", "Always"},
                                      {"b.c:5000/a", "Always"},
                                      {"a:latest" + digest, "Always"},
                                      {"a:1", "IfNotPresent"},
                                      {"a:1" + digest, "IfNotPresent"},
                                      {"b.c:5000/a:1", "IfNotPresent"},
                                      {"a" + digest, "IfNotPresent"},
                                      {"a:latest@sha256:0", "IfNotPresent"},
                                      {"No name", "IfNotPresent"}}) {
    const codec::JsonTree made =
        Made("/api/v1/pods", R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c",)"
                             R"("image":")" +
                                 image + R"("}]}})");
    EXPECT_EQ(At(made, {"spec", "containers", "0", "imagePullPolicy"}), policy) << image;
  }
}

TEST_F(DefaultsTest, VolumesAreCompletedAsThoseOfPods) {
  const auto source = [this](const std::string& name, const std::string& given) {
    const http::Response made =
        Do("POST", "/api/v1/persistentvolumes?dryRun=All",
           R"({"metadata":{"name":"v"},"spec":{"capacity":{"storage":"1.0005"},)"
           R"("accessModes":["ReadWriteOnce"],")" +
               name + "\":" + given + "}}");
    EXPECT_EQ(At(Json(made), {"spec", "capacity", "storage"}), "1001m") << made.body;
    return At(Json(made), {"spec", name});
  };
  EXPECT_EQ(source("iscsi", R"({"targetPortal":"p","iqn":"iqn.2001-04.a.b:c","lun":0})"),
            R"({"targetPortal":"p","iqn":"iqn.2001-04.a.b:c","lun":0,"iscsiInterface":"default"})");
  EXPECT_THAT(source("rbd", R"({"monitors":["m"],"image":"i"})"),
              HasSubstr(R"("pool":"rbd","user":"admin","keyring":"/etc/ceph/keyring")"));
  EXPECT_THAT(source("scaleIO", R"({"gateway":"g","system":"s","volumeName":"v"})"),
              HasSubstr(R"("storageMode":"ThinProvisioned")"));
  EXPECT_EQ(source("hostPath", R"({"path":"/a"})"), R"({"path":"/a","type":""})");
  const std::string disk =
      source("azureDisk", R"({"diskName":"d","diskURI":"https://u","fsType":""})");
  EXPECT_THAT(disk, HasSubstr(R"("cachingMode":"ReadWrite")"));
  EXPECT_THAT(disk, HasSubstr(R"("fsType":"")"));
  EXPECT_THAT(disk, HasSubstr(R"("readOnly":false)"));
}

TEST_F(DefaultsTest, APodAsksForWhatItMayHave) {
  std::string spec = kPodWithAll;
  spec.insert(1, R"("hostNetwork":true,)");
  const codec::JsonTree made =
      Made("/api/v1/pods", R"({"metadata":{"name":"p"},"spec":)" + spec + "}");
  const codec::JsonTree& container = made.At({"spec", "containers"})->elements().front();
  EXPECT_EQ(At(container, {"resources", "requests"}), R"({"cpu":"500m","memory":"1Mi"})");
  EXPECT_EQ(At(container, {"ports", "0", "hostPort"}), "80");
}

TEST_F(DefaultsTest, AReplicationControllerTakesTheLabelsOfItsPods) {
  const codec::JsonTree made =
      Made("/api/v1/replicationcontrollers",
           R"({"metadata":{"name":"r"},"spec":{"template":{"metadata":{"labels":{"a":"b"}},
              "spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  EXPECT_EQ(At(made, {"spec", "replicas"}), "1");
  EXPECT_EQ(At(made, {"spec", "selector"}), R"({"a":"b"})");
  EXPECT_EQ(At(made, {"metadata", "labels"}), R"({"a":"b"})");
}

TEST_F(DefaultsTest, CronJobsRunUnlessTheySayOtherwise) {
  const codec::JsonTree made =
      Made("/apis/batch/v1/cronjobs",
           R"({"metadata":{"name":"c"},"spec":{"schedule":"@daily","suspend":true,"jobTemplate":
              {"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c",
              "image":"i"}]}}}}}})");
  EXPECT_EQ(At(made, {"spec", "suspend"}), "true");
  EXPECT_EQ(At(made, {"spec", "concurrencyPolicy"}), "Allow");
  EXPECT_EQ(At(made, {"spec", "successfulJobsHistoryLimit"}), "3");
  EXPECT_EQ(At(made, {"spec", "jobTemplate", "spec", "template", "spec", "dnsPolicy"}),
            "ClusterFirst");
}

TEST_F(DefaultsTest, AClaimIsPending) {
  const codec::JsonTree made =
      Made("/api/v1/persistentvolumeclaims",
           R"({"metadata":{"name":"c"},"spec":{"accessModes":["ReadWriteOnce"],)"
           R"("resources":{"requests":{"storage":"1.0005"}}}})");
  EXPECT_EQ(At(made, {"spec", "resources", "requests", "storage"}), "1001m");
  EXPECT_EQ(At(made, {"status", "phase"}), "Pending");
  EXPECT_EQ(At(made, {"spec", "volumeMode"}), "Filesystem");
}

TEST_F(DefaultsTest, ANetworkPolicyIsAboutWhatItHasRulesFor) {
  const auto policy = [this](const std::string& spec) {
    return Made("/apis/networking.k8s.io/v1/networkpolicies",
                R"({"metadata":{"name":"p"},"spec":{"podSelector":{})" + spec + "}}");
  };
  EXPECT_EQ(At(policy(""), {"spec", "policyTypes"}), R"(["Ingress"])");
  const codec::JsonTree both = policy(R"(,"egress":[{"ports":[{"port":53}]}])");
  EXPECT_EQ(At(both, {"spec", "policyTypes"}), R"(["Ingress","Egress"])");
  EXPECT_EQ(At(both, {"spec", "egress", "0", "ports", "0", "protocol"}), "TCP");
}

TEST_F(DefaultsTest, ServicesSayWhereTrafficGoesThatTheyTake) {
  const auto service = [this](const std::string& spec) {
    return *Made("/api/v1/services", R"({"metadata":{"name":"s"},"spec":{)" + spec + "}}")
                .Find("spec");
  };
  const codec::JsonTree outside = service(R"("type":"ExternalName","externalName":"example.com")");
  EXPECT_EQ(At(outside, {"internalTrafficPolicy"}), "");
  const codec::JsonTree inside = service(R"("ports":[{"port":80}])");
  EXPECT_EQ(At(inside, {"internalTrafficPolicy"}), "Cluster");
  EXPECT_EQ(At(inside, {"externalTrafficPolicy"}), "");
  const codec::JsonTree reached = service(R"("ports":[{"port":80}],"externalIPs":["1.2.3.4"])");
  EXPECT_EQ(At(reached, {"externalTrafficPolicy"}), "Cluster");
  const codec::JsonTree balanced = service(R"("type":"LoadBalancer","ports":[{"port":80}])");
  EXPECT_EQ(At(balanced, {"externalTrafficPolicy"}), "Cluster");
  EXPECT_EQ(At(balanced, {"allocateLoadBalancerNodePorts"}), "true");
}

TEST_F(DefaultsTest, AServiceLosesTheDefaultsOfItsFormerType) {
  const std::string services = "/api/v1/namespaces/default/services";
  ASSERT_EQ(Do("POST", services,
               R"({"metadata":{"name":"s"},"spec":{"type":"NodePort","ports":[{"port":80}]}})")
                .status,
            201);
  const http::Response changed =
      Do("PATCH", services + "/s", R"({"spec":{"type":"ClusterIP"}})", kMergePatch);
  ASSERT_EQ(changed.status, 200) << changed.body;
  EXPECT_EQ(At(Json(changed), {"spec", "externalTrafficPolicy"}), "");
  EXPECT_EQ(At(Json(changed), {"spec", "internalTrafficPolicy"}), "Cluster");
}

TEST_F(DefaultsTest, WhatAContainerMayHaveIsWhatItGets) {
  const codec::JsonTree made =
      Made("/api/v1/limitranges",
           R"({"metadata":{"name":"l"},"spec":{"limits":[{"type":"Container","max":{"cpu":"2"},
              "min":{"memory":"1Gi"},"default":{"memory":"3Gi"}},{"type":"Pod",
              "max":{"cpu":"1"}}]}})");
  const codec::JsonTree given = *codec::JsonTree::Parse(R"({"cpu":"2","memory":"3Gi"})");
  EXPECT_EQ(*made.At({"spec", "limits", "0", "default"}), given);
  EXPECT_EQ(*made.At({"spec", "limits", "0", "defaultRequest"}), given);
  EXPECT_EQ(At(made, {"spec", "limits", "1", "default"}), "");
}

}  // namespace
}  // namespace kubexx::apiserver
