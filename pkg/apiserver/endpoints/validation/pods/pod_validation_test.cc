#include "kubexx/apiserver/endpoints/validation/pods/pod_validation.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// "field: message" of everything that is wrong with a pod's spec.
std::vector<std::string> WrongInPod(const std::string& spec) {
  const auto tree = JsonTree::Parse(spec);
  EXPECT_TRUE(tree) << spec;
  FieldCauses causes;
  CheckPodSpec(tree ? *tree : JsonTree(), PodKind::kPod, "s", {}, causes);
  std::vector<std::string> problems;
  for (const apimachinery::StatusCause& one : causes.kept()) {
    problems.push_back(one.field + ": " + one.message);
  }
  return problems;
}

std::vector<std::string> WrongInContainer(const std::string& members, const std::string& pod = "") {
  return WrongInPod(R"({"containers":[{"name":"c","image":"i",)" + members + "}]" + pod + "}");
}

std::vector<std::string> WrongBeside(const std::string& members) {
  return WrongInPod(R"({"containers":[{"name":"c","image":"i"}],)" + members + "}");
}

// What kube-apiserver says of the same and of much more test/differential/odd_inputs.py asks both
// servers.
TEST(PodValidationTest, AProbeDoesExactlyOneThing) {
  EXPECT_THAT(WrongInContainer(R"("livenessProbe":{"exec":{"command":["x"]}})"), IsEmpty());
  EXPECT_THAT(
      WrongInContainer(R"("livenessProbe":{})"),
      ElementsAre(HasSubstr("s.containers[0].livenessProbe: Required value: must specify")));
  EXPECT_THAT(
      WrongInContainer(R"("readinessProbe":{"tcpSocket":{"port":80},"exec":{"command":["x"]}})"),
      ElementsAre(HasSubstr("readinessProbe.tcpSocket: Forbidden")));
  EXPECT_THAT(
      WrongInContainer(R"("livenessProbe":{"grpc":{"port":0},"successThreshold":2})"),
      ElementsAre(HasSubstr("livenessProbe.grpc.port: Invalid value: 0"),
                  HasSubstr("livenessProbe.successThreshold: Invalid value: 2: must be 1")));
  EXPECT_THAT(WrongInContainer(R"("lifecycle":{"preStop":{"sleep":{"seconds":31}}})"),
              ElementsAre(HasSubstr("lifecycle.preStop.sleep: Invalid value: 31")));
}

TEST(PodValidationTest, VariablesHaveNamesAndOneSource) {
  EXPECT_THAT(WrongInContainer(R"("env":[{"name":"a b","valueFrom":{"fieldRef":{"apiVersion":"v1",)"
                               R"("fieldPath":"metadata.labels['a']"}}}])"),
              IsEmpty());
  EXPECT_THAT(WrongInContainer(R"("env":[{"name":"a=b"},{"name":"A","valueFrom":{"fieldRef":)"
                               R"({"apiVersion":"v1","fieldPath":"metadata.labels"}}}])"),
              ElementsAre(HasSubstr("env[0].name: Invalid value"),
                          HasSubstr("env[1].valueFrom.fieldRef.fieldPath: Unsupported value")));
  EXPECT_THAT(WrongInContainer(R"("envFrom":[{"prefix":"a"}])"),
              ElementsAre(HasSubstr("s.containers[0].envFrom: Invalid value")));
}

TEST(PodValidationTest, MountsAreOfVolumesThatThereAre) {
  const std::string volumes = R"(,"volumes":[{"name":"v","emptyDir":{}}])";
  EXPECT_THAT(WrongInContainer(R"("volumeMounts":[{"name":"v","mountPath":"/a"}])", volumes),
              IsEmpty());
  EXPECT_THAT(WrongInContainer(R"("volumeMounts":[{"name":"w","mountPath":"/a"},)"
                               R"({"name":"v","mountPath":"/a","subPath":"../x"}])",
                               volumes),
              ElementsAre(HasSubstr("volumeMounts[0].name: Not found: \"w\""),
                          HasSubstr("volumeMounts[1].mountPath: Invalid value"),
                          HasSubstr("volumeMounts.subPath: Invalid value")));
  EXPECT_THAT(WrongInContainer(R"("volumeDevices":[{"name":"v","devicePath":"/d"}])", volumes),
              ElementsAre(HasSubstr("volumeDevices[0].name: Invalid value")));
}

TEST(PodValidationTest, VolumesHaveOneSource) {
  EXPECT_THAT(WrongBeside(R"("volumes":[{"name":"v"}])"),
              ElementsAre(HasSubstr("s.volumes[0]: Required value: must specify a volume type")));
  EXPECT_THAT(WrongBeside(R"("volumes":[{"name":"v","hostPath":{"path":"/a"},"emptyDir":{}}])"),
              ElementsAre(HasSubstr("s.volumes[0].hostPath: Forbidden")));
  EXPECT_THAT(WrongBeside(R"("volumes":[{"name":"v","secret":{"secretName":"s","items":)"
                          R"([{"key":"k","path":"../x"}]}}])"),
              ElementsAre(HasSubstr("s.volumes[0].secret.items[0].path: Invalid value")));
  EXPECT_THAT(WrongBeside(R"("volumes":[{"name":"v","emptyDir":{}},{"name":"v","emptyDir":{}}])"),
              ElementsAre(HasSubstr("s.volumes[1].name: Duplicate value")));
}

TEST(PodValidationTest, PortsAreNumbersWithNames) {
  EXPECT_THAT(WrongInContainer(R"("ports":[{"containerPort":80,"name":"http"}])"), IsEmpty());
  EXPECT_THAT(WrongInContainer(R"("ports":[{"name":"A"},{"containerPort":80,"hostPort":70000}])"),
              ElementsAre(HasSubstr("ports[0].name: Invalid value"),
                          HasSubstr("ports[0].name: Invalid value"),
                          HasSubstr("ports[0].containerPort: Required value"),
                          HasSubstr("ports[1].hostPort: Invalid value: 70000")));
}

TEST(PodValidationTest, WhereAPodMayRun) {
  EXPECT_THAT(WrongBeside(R"("tolerations":[{"operator":"Exists"}])"), IsEmpty());
  EXPECT_THAT(WrongBeside(R"("tolerations":[{},{"key":"a","effect":"x"}])"),
              ElementsAre(HasSubstr("tolerations[0].operator: Invalid value"),
                          HasSubstr("tolerations[1].effect: Unsupported value")));
  EXPECT_THAT(WrongBeside(R"("affinity":{"nodeAffinity":)"
                          R"({"requiredDuringSchedulingIgnoredDuringExecution":{}}})"),
              ElementsAre(HasSubstr("nodeSelectorTerms: Required value")));
  EXPECT_THAT(WrongBeside(R"("topologySpreadConstraints":[{"maxSkew":0,"topologyKey":"z",)"
                          R"("whenUnsatisfiable":"x"}])"),
              ElementsAre(HasSubstr("[0].maxSkew: Invalid value: 0"),
                          HasSubstr("[0].whenUnsatisfiable: Unsupported value")));
}

TEST(PodValidationTest, SecurityIsNoContradiction) {
  EXPECT_THAT(WrongInContainer(R"("securityContext":{"privileged":true})"), IsEmpty());
  EXPECT_THAT(
      WrongInContainer(R"("securityContext":{"privileged":true,"allowPrivilegeEscalation":false})"),
      ElementsAre(HasSubstr("s.containers[0].securityContext: Invalid value")));
  EXPECT_THAT(WrongBeside(R"("securityContext":{"sysctls":[{"name":"a..b","value":"1"}]})"),
              ElementsAre(HasSubstr("securityContext.sysctls[0].name: Invalid value")));
  EXPECT_THAT(WrongBeside(R"("os":{"name":"windows"},"hostPID":true)"),
              ElementsAre(HasSubstr("s.hostPID: Forbidden")));
}

TEST(PodValidationTest, NamesAndAddresses) {
  EXPECT_THAT(WrongBeside(R"("hostAliases":[{"ip":"01.2.3.4","hostnames":["a"]}])"),
              ElementsAre(HasSubstr("s.hostAliases[0].ip: Invalid value")));
  EXPECT_THAT(WrongBeside(R"("dnsPolicy":"None")"),
              ElementsAre(HasSubstr("s.dnsConfig: Required value")));
  EXPECT_THAT(WrongBeside(R"("dnsConfig":{"searches":["a_b.","."]},"hostname":"a.b")"),
              ElementsAre(HasSubstr("s.hostname: Invalid value")));
}

TEST(PodValidationTest, TheFirstContainersHaveNoProbes) {
  EXPECT_THAT(WrongBeside(R"("initContainers":[{"name":"c","image":"i","readinessProbe":{}}])"),
              ElementsAre(HasSubstr("s.initContainers[0].readinessProbe: Forbidden"),
                          HasSubstr("s.initContainers[0].name: Duplicate value: \"c\"")));
}

}  // namespace
}  // namespace kubexx::apiserver
