#include "kubexx/apiserver/endpoints/validation/objects/validation.h"

#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"
#include "kubexx/apiserver/endpoints/validation/workloads/schedule.h"

namespace kubexx::apiserver {
namespace {

using ::testing::HasSubstr;

/// What kube-apiserver 1.36 says to the same requests.
struct InvalidCase {
  const char* name;
  const char* collection;
  std::string body;
  std::string problem;  ///< after "is invalid: "
};

void PrintTo(const InvalidCase& one, std::ostream* out) { *out << one.name; }

const std::string kPodTemplate =
    R"("template":{"metadata":{"labels":{"a":"c"}},"spec":{"containers":[{"name":"a","image":"i"}]}})";
const std::string kMismatch =
    "spec.template.metadata.labels: Invalid value: {\"a\":\"c\"}: `selector` does not match "
    "template `labels`";
const std::string kJobTemplate =
    R"("jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"i"}]}}}})";

std::string BodyOf(const std::string& rest) { return R"({"metadata":{"name":"x"})" + rest + "}"; }
std::string OfSpec(const std::string& spec) { return BodyOf(R"(,"spec":{)" + spec + "}"); }
std::string OfMeta(const std::string& meta) { return R"({"metadata":{"name":"x",)" + meta + "}}"; }

class ValidationTest : public testing::ApiFixture,
                       public ::testing::WithParamInterface<InvalidCase> {};

TEST_P(ValidationTest, IsRefusedAsByKubernetes) {
  const http::Response refused = Do("POST", GetParam().collection, GetParam().body);
  EXPECT_EQ(refused.status, 422) << refused.body;
  EXPECT_THAT(Message(refused), ::testing::EndsWith("\"x\" is invalid: " + GetParam().problem));
}

constexpr const char* kValidPods = "/api/v1/namespaces/default/pods";
constexpr const char* kValidMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kValidSecrets = "/api/v1/namespaces/default/secrets";
constexpr const char* kValidServices = "/api/v1/namespaces/default/services";
constexpr const char* kValidControllers = "/api/v1/namespaces/default/replicationcontrollers";
constexpr const char* kValidDeployments = "/apis/apps/v1/namespaces/default/deployments";
constexpr const char* kValidCronJobs = "/apis/batch/v1/namespaces/default/cronjobs";

INSTANTIATE_TEST_SUITE_P(
    All, ValidationTest,
    ::testing::Values(
        InvalidCase{"PodWithoutContainers", kValidPods, OfSpec(""),
                    "spec.containers: Required value"},
        InvalidCase{"ContainersTwice", kValidPods,
                    OfSpec(R"("containers":[{"name":"a","image":"i"},{"name":"a"}])"),
                    "[spec.containers[1].image: Required value, spec.containers[1].name: Duplicate "
                    "value: \"a\"]"},
        InvalidCase{
            "ValueTwice", kValidPods,
            OfSpec(R"("containers":[{"name":"a","image":"i","env":[{"name":"V","value":"1",)"
                   R"("valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}]}])"),
            "spec.containers[0].env[0].valueFrom: Invalid value: \"\": may not be "
            "specified when `value` is not empty"},
        InvalidCase{"ValueFromNothingOrMuch", kValidPods,
                    OfSpec(R"("containers":[{"name":"a","image":"i","env":[)"
                           R"({"name":"V","valueFrom":{}},{"name":"W","valueFrom":{)"
                           R"("fieldRef":{"fieldPath":"metadata.name"},)"
                           R"("secretKeyRef":{"name":"s","key":"k"}}},{"value":"1"}]}])"),
                    "[spec.containers[0].env[0].valueFrom: Invalid value: \"\": must specify one "
                    "of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or "
                    "`fileKeyRef`, spec.containers[0].env[1].valueFrom: Invalid value: \"\": may "
                    "not have more than one field specified at a time, "
                    "spec.containers[0].env[2].name: Required value]"},
        InvalidCase{"NoLabelsOfPodsToCome", kValidDeployments,
                    OfSpec(R"("selector":{"matchLabels":{"a":"c"}},"template":{"metadata":{)"
                           R"("labels":{"a":"c","/":"b"}},"spec":{"nodeSelector":{"d":"-"},)"
                           R"("containers":[{"name":"a","image":"i"}]}})"),
                    "[spec.template.labels: Invalid value: \"/\": prefix part must be non-empty, "
                    "spec.template.labels: Invalid value: \"/\": name part must be non-empty, "
                    "spec.template.labels: Invalid value: \"/\": name part has to be of letters, "
                    "digits, '-', '_' and '.', with a letter or digit at both ends, "
                    "spec.template.spec.nodeSelector: Invalid value: \"-\": has to be of letters, "
                    "digits, '-', '_' and '.', with a letter or digit at both ends, or empty]"},
        InvalidCase{"BudgetOfBoth", "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
                    OfSpec(R"("minAvailable":1,"maxUnavailable":"101%")"),
                    "[spec: Invalid value: {\"minAvailable\":1,\"maxUnavailable\":\"101%\"}: "
                    "minAvailable and maxUnavailable exclude each other, spec.maxUnavailable: "
                    "Invalid value: \"101%\": must not be greater than 100%]"},
        InvalidCase{"AutoscalerOfNothing",
                    "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers",
                    OfSpec(R"("maxReplicas":2,"minReplicas":3)"),
                    "[spec.maxReplicas: Invalid value: 2: must be greater than or equal to "
                    "`minReplicas`, spec.scaleTargetRef.kind: Required value, "
                    "spec.scaleTargetRef.name: Required value, spec.scaleTargetRef.apiVersion: "
                    "Invalid value: \"\": apiVersion must specify API group]"},
        InvalidCase{"PolicyForNoPods",
                    "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies",
                    OfSpec(R"("podSelector":{"matchLabels":{"":"b"}})"),
                    "[spec.podSelector.matchLabels: Invalid value: \"\": name part must be "
                    "non-empty, spec.podSelector.matchLabels: Invalid value: \"\": name part has "
                    "to be of letters, digits, '-', '_' and '.', with a letter or digit at both "
                    "ends]"},
        InvalidCase{"SelectorThatIsNone", kValidDeployments,
                    OfSpec(R"("selector":{"matchExpressions":[{"key":"a","operator":"x"}]},)" +
                           kPodTemplate),
                    "[spec.selector.matchExpressions[0].operator: Invalid value: \"x\": not a "
                    "valid selector operator, spec.selector: Invalid value: {\"matchExpressions\":"
                    "[{\"key\":\"a\",\"operator\":\"x\"}]}: invalid label selector]"},
        InvalidCase{"SelectorOfOthers", kValidDeployments,
                    OfSpec(R"("selector":{"matchLabels":{"a":"b"}},)" + kPodTemplate), kMismatch},
        InvalidCase{"StatefulSet", "/apis/apps/v1/namespaces/default/statefulsets",
                    OfSpec(R"("selector":{"matchLabels":{"a":"b"}},)" + kPodTemplate), kMismatch},
        InvalidCase{"NoSelector", kValidDeployments, OfSpec(kPodTemplate),
                    "[spec.selector: Required value, " + kMismatch + "]"},
        InvalidCase{"NothingOfADeployment", kValidDeployments, BodyOf(""),
                    "[spec.selector: Required value, spec.template.metadata.labels: Invalid "
                    "value: null: `selector` does not match template `labels`, "
                    "spec.template.spec.containers: Required value]"},
        InvalidCase{"NegativeReplicas", kValidDeployments,
                    OfSpec(R"("replicas":-1,"selector":{"matchLabels":{"a":"c"}},)" + kPodTemplate),
                    "spec.replicas: Invalid value: -1: must be greater than or equal to 0"},
        InvalidCase{"ReplicationController", kValidControllers,
                    OfSpec(R"("selector":{"a":"b"},)" + kPodTemplate), kMismatch},
        InvalidCase{"NothingOfAReplicationController", kValidControllers, BodyOf(""),
                    "[spec.selector: Required value, spec.template: Required value]"},
        InvalidCase{"PodTemplate", "/api/v1/namespaces/default/podtemplates",
                    BodyOf(R"(,"template":{"spec":{"containers":[{"name":"a"}]}})"),
                    "template.spec.containers[0].image: Required value"},
        InvalidCase{"ServiceWithoutPorts", kValidServices, OfSpec(""),
                    "spec.ports: Required value"},
        InvalidCase{"Ports", kValidServices,
                    OfSpec(R"("ports":[{"port":1},{"port":70000,"name":"a","targetPort":80}])"),
                    "[spec.ports[0].name: Required value, spec.ports[1].port: Invalid value: "
                    "70000: must be between 1 and 65535, inclusive]"},
        InvalidCase{"NoExternalName", kValidServices, OfSpec(R"("type":"ExternalName")"),
                    "spec.externalName: Required value"},
        InvalidCase{"TlsWithoutKeys", kValidSecrets, BodyOf(R"(,"type":"kubernetes.io/tls")"),
                    "[data[tls.crt]: Required value, data[tls.key]: Required value]"},
        InvalidCase{"BasicAuth", kValidSecrets, BodyOf(R"(,"type":"kubernetes.io/basic-auth")"),
                    "[data[username]: Required value, data[password]: Required value]"},
        InvalidCase{"TokenOfNobody", kValidSecrets,
                    BodyOf(R"(,"type":"kubernetes.io/service-account-token")"),
                    "metadata.annotations[kubernetes.io/service-account.name]: Required value"},
        InvalidCase{"KeyOfAConfigMap", kValidMaps, BodyOf(R"(,"data":{"a b":"c"})"),
                    "data[a b]: Invalid value: \"a b\": a valid config key must consist of "
                    "alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  "
                    "or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"},
        InvalidCase{"NoSchedule", kValidCronJobs,
                    OfSpec(R"("schedule":"not a schedule",)" + kJobTemplate),
                    "spec.schedule: Invalid value: \"not a schedule\": expected exactly 5 fields, "
                    "found 3: [not a schedule]"},
        InvalidCase{"TabsOfSchedule", kValidCronJobs,
                    OfSpec(R"("schedule":"not\ta  schedule ",)" + kJobTemplate),
                    "spec.schedule: Invalid value: \"not\\ta  schedule \": expected exactly 5 "
                    "fields, found 3: [not a schedule]"},
        InvalidCase{"MinuteOfSchedule", kValidCronJobs,
                    OfSpec(R"("schedule":"61 * * * *",)" + kJobTemplate),
                    "spec.schedule: Invalid value: \"61 * * * *\": end of range (61) above maximum "
                    "(59): 61"},
        InvalidCase{"JobThatNeverEnds", "/apis/batch/v1/namespaces/default/jobs",
                    OfSpec(R"("template":{"spec":{"containers":[{"name":"a","image":"i"}]}})"),
                    "spec.template.spec.restartPolicy: Required value: valid values: "
                    "\"OnFailure\", \"Never\""},
        InvalidCase{"LargeAnnotations", kValidMaps,
                    OfMeta(R"("annotations":{"a":")" + std::string(300'000, 'x') + "\"}"),
                    "metadata.annotations: Too long: may not be more than 262144 bytes"},
        InvalidCase{"OwnerOfNothing", kValidMaps,
                    OfMeta(R"("ownerReferences":[{"apiVersion":"","kind":"","name":"","uid":""},
                              {"apiVersion":"v1","kind":"Event","name":"a","uid":"b"}])"),
                    "[metadata.ownerReferences.apiVersion: Invalid value: \"\": version must not "
                    "be empty, metadata.ownerReferences.kind: Invalid value: \"\": must not be "
                    "empty, metadata.ownerReferences.name: Invalid value: \"\": must not be "
                    "empty, metadata.ownerReferences.uid: Invalid value: \"\": must not be empty, "
                    "metadata.ownerReferences: Invalid value: {\"apiVersion\":\"v1\",\"kind\":"
                    "\"Event\",\"name\":\"a\",\"uid\":\"b\"}: /v1, Kind=Event is disallowed from "
                    "being an owner]"},
        InvalidCase{"Finalizer", kValidMaps, OfMeta(R"("finalizers":["nodomain"])"),
                    "metadata.finalizers[0]: Invalid value: \"nodomain\": name is neither a "
                    "standard finalizer name nor is it fully qualified"}),
    [](const auto& one) { return std::string(one.param.name); });

class UpdateValidationTest : public testing::ApiFixture {};

TEST_F(UpdateValidationTest, OneControllerIsEnough) {
  const http::Response refused = Do(
      "POST", kValidMaps,
      OfMeta(
          R"("ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"a","uid":"b","controller":true},
             {"apiVersion":"v1","kind":"Pod","name":"c","uid":"d","controller":true}])"));
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(Message(refused),
              HasSubstr("Only one reference can have Controller set to true. Found \"true\" in "
                        "references for Pod/a and Pod/c"));
}

TEST_F(UpdateValidationTest, APodStaysWhatItIs) {
  ASSERT_EQ(Do("POST", kValidPods, OfSpec(R"("containers":[{"name":"a","image":"i"}])")).status,
            201);
  const std::string pod = std::string(kValidPods) + "/x";
  const auto patch = [&](const std::string& spec) {
    return Do("PATCH", pod, R"({"spec":{)" + spec + "}}", kMergePatch);
  };
  for (const char* const change :
       {R"("nodeName":"n")", R"("containers":[{"name":"b","image":"i"}])",
        R"("hostNetwork":true)"}) {
    const http::Response refused = patch(change);
    EXPECT_EQ(refused.status, 422) << change;
    EXPECT_THAT(Message(refused), HasSubstr("spec: Forbidden: pod updates may not change fields "
                                            "other than `spec.containers[*].image`"));
  }
  EXPECT_EQ(Do("PATCH", pod, R"([{"op":"replace","path":"/spec/containers/0/image","value":"j"},
                                 {"op":"add","path":"/spec/activeDeadlineSeconds","value":5}])",
               "application/json-patch+json")
                .status,
            200);
  EXPECT_EQ(Do("PATCH", pod, R"({"metadata":{"labels":{"a":"b"}}})", kMergePatch).status, 200);
}

TEST_F(UpdateValidationTest, WhatGoesGetsNoMoreFinalizers) {
  ASSERT_EQ(Do("POST", kValidMaps, OfMeta(R"("finalizers":["a.example/a","a.example/b"])")).status,
            201);
  const std::string map = std::string(kValidMaps) + "/x";
  ASSERT_EQ(Do("DELETE", map).status, 200);
  const http::Response refused =
      Do("PATCH", map, R"({"metadata":{"finalizers":["a.example/a","a.example/c"]}})", kMergePatch);
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(Message(refused),
              HasSubstr("metadata.finalizers: Forbidden: no new finalizers can be added if the "
                        "object is being deleted, found new finalizers []string{\"a.example/c\"}"));
  EXPECT_EQ(Do("PATCH", map, R"({"metadata":{"finalizers":["a.example/a"]}})", kMergePatch).status,
            200);
  EXPECT_EQ(Do("PATCH", map, R"({"metadata":{"finalizers":null}})", kMergePatch).status, 200);
  EXPECT_EQ(Do("GET", map).status, 404);
}

TEST(ScheduleProblemTest, TellsSchedulesFromOthers) {
  for (const char* const good : {"* * * * *", "*/5 0-6,22 1,15 jan-MAR mon", "@daily", "@every 1h",
                                 "0 0 ? * sun-sat/2", "0\t0 *\t* *", " \t0\n0\v*\f*\r* "}) {
    EXPECT_EQ(ScheduleProblem(good), "") << good;
  }
  for (const char* const bad :
       {"", "* * * *", "* * * * * *", "a * * * *", "5-1 * * * *", "*/0 * * * *", "1/2/3 * * * *",
        "1-2-3 * * * *", "-1 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 8",
        "@often", "99999999999999999999 * * * *", ", * * * *"}) {
    EXPECT_NE(ScheduleProblem(bad), "") << bad;
  }
}

}  // namespace
}  // namespace kubexx::apiserver
