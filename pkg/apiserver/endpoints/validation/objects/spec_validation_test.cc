// What is refused of whole objects, by type.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "kubexx/apiserver/endpoints/validation/objects/validation.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// "field: message" of everything that is wrong with a new object, or with an update from `old`.
std::vector<std::string> WrongIn(const std::string& group, const std::string& plural,
                                 const std::string& json, const std::string& old = "") {
  ResourceType type;
  type.group = group;
  type.plural = plural;
  const auto object = JsonTree::Parse(json);
  const auto before = JsonTree::Parse(old.empty() ? "{}" : old);
  EXPECT_TRUE(object && before) << json << old;
  FieldCauses causes;
  if (object && before) {
    CheckSpec(type, old.empty() ? nullptr : &*before, *object, causes);
  }
  std::vector<std::string> problems;
  for (const apimachinery::StatusCause& one : causes.kept()) {
    problems.push_back(one.field + ": " + one.message);
  }
  return problems;
}

const std::string kOnce = R"("template":{"spec":{"restartPolicy":"Never","containers":)"
                          R"([{"name":"c","image":"i"}]}})";

std::vector<std::string> WrongInJob(const std::string& members) {
  return WrongIn("batch", "jobs", R"({"metadata":{"name":"j"},"spec":{)" + kOnce + members + "}}");
}
std::vector<std::string> WrongInCronJob(const std::string& members, const std::string& old = "") {
  const auto object = [](const std::string& of) {
    return R"({"spec":{"jobTemplate":{"spec":{)" + kOnce + "}}," + of + "}}";
  };
  return WrongIn("batch", "cronjobs", object(members), old.empty() ? "" : object(old));
}
std::vector<std::string> WrongInIngress(const std::string& spec) {
  return WrongIn("networking.k8s.io", "ingresses", R"({"spec":{)" + spec + "}}");
}
std::vector<std::string> WrongInPath(const std::string& members) {
  return WrongInIngress(R"("rules":[{"http":{"paths":[{"backend":{"service":{"name":"s","port":)"
                        R"({"number":80}}},)" +
                        members + "}]}}]");
}
std::vector<std::string> WrongInPolicy(const std::string& rule) {
  return WrongIn("networking.k8s.io", "networkpolicies",
                 R"({"spec":{"ingress":[{)" + rule + "}]}}");
}
std::vector<std::string> WrongInAutoscaler(const std::string& members) {
  return WrongIn("autoscaling", "horizontalpodautoscalers",
                 R"({"spec":{"maxReplicas":3,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"D",)"
                 R"("name":"d"})" +
                     members + "}}");
}

// What kube-apiserver says of the same and of much more test/differential/odd_inputs.py asks both
// servers.
TEST(SpecValidationTest, LimitsOfIndexesNeedIndexes) {
  EXPECT_THAT(WrongInJob(R"(,"completionMode":"Indexed","completions":3,"backoffLimitPerIndex":1)"),
              IsEmpty());
  EXPECT_THAT(WrongInJob(R"(,"backoffLimitPerIndex":1)"),
              ElementsAre(HasSubstr("spec.backoffLimitPerIndex: Invalid value: 1: requires")));
  EXPECT_THAT(WrongInJob(R"(,"completionMode":"Indexed")"),
              ElementsAre(HasSubstr("spec.completions: Required value")));
}

TEST(SpecValidationTest, JobsFailAndSucceedByRules) {
  EXPECT_THAT(WrongInJob(R"(,"podFailurePolicy":{"rules":[{"action":"Ignore"}]})"),
              ElementsAre(HasSubstr("spec.podFailurePolicy.rules[0]: Invalid value")));
  EXPECT_THAT(WrongInJob(R"(,"podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":)"
                         R"({"operator":"In","values":[2,0]}}]})"),
              ElementsAre(HasSubstr("values[1]: Invalid value: 0"), HasSubstr("must be ordered")));
  EXPECT_THAT(WrongInJob(R"(,"completionMode":"Indexed","completions":3,"successPolicy":)"
                         R"({"rules":[{"succeededIndexes":"0-2"},{"succeededIndexes":"1,0"}]})"),
              ElementsAre(HasSubstr("rules[1].succeededIndexes: Invalid value")));
}

TEST(SpecValidationTest, SchedulesHaveTheirZoneInAField) {
  EXPECT_THAT(WrongInCronJob(R"("schedule":"* * * * *","timeZone":"UTC")"), IsEmpty());
  EXPECT_THAT(WrongInCronJob(R"("schedule":"TZ=UTC * * * * *")"),
              ElementsAre(HasSubstr("spec.schedule: Invalid value")));
  EXPECT_THAT(
      WrongInCronJob(R"("schedule":"TZ=UTC 1 * * * *")", R"("schedule":"TZ=UTC * * * * *")"),
      IsEmpty());
  EXPECT_THAT(WrongInCronJob(R"("schedule":"* * * * *","timeZone":"../x")"),
              ElementsAre(HasSubstr("spec.timeZone: Invalid value")));
  EXPECT_THAT(WrongInCronJob(R"("schedule":"@every x")"),
              ElementsAre(HasSubstr("spec.schedule: Invalid value")));
}

TEST(SpecValidationTest, AnIngressLeadsSomewhere) {
  EXPECT_THAT(WrongInPath(R"("path":"/a","pathType":"Prefix")"), IsEmpty());
  EXPECT_THAT(WrongInIngress(""), ElementsAre(HasSubstr("spec: Invalid value")));
  EXPECT_THAT(WrongInIngress(R"("defaultBackend":{})"),
              ElementsAre(HasSubstr("spec.defaultBackend: Invalid value")));
  EXPECT_THAT(WrongInPath(R"("path":"/a")"), ElementsAre(HasSubstr("pathType: Required value")));
  EXPECT_THAT(WrongInPath(R"("path":"a//b","pathType":"Exact")"),
              ElementsAre(HasSubstr("absolute path"), HasSubstr("must not contain '//'")));
  EXPECT_THAT(
      WrongInIngress(R"("rules":[{"host":"1.2.3.4"},{"host":"a.*.b"},{"host":"*.b"}])"),
      ElementsAre(HasSubstr("rules[0].host: Invalid"), HasSubstr("rules[1].host: Invalid")));
}

TEST(SpecValidationTest, PeersAreSelectedOrAreAddresses) {
  EXPECT_THAT(
      WrongInPolicy(R"("from":[{"ipBlock":{"cidr":"10.0.0.0/8","except":["10.1.0.0/16"]}}])"),
      IsEmpty());
  EXPECT_THAT(WrongInPolicy(R"("from":[{},{"podSelector":{},"ipBlock":{"cidr":"10.0.0.0/8"}}])"),
              ElementsAre(HasSubstr("from[0]: Required value"), HasSubstr("from[1]: Forbidden")));
  EXPECT_THAT(
      WrongInPolicy(R"("from":[{"ipBlock":{"cidr":"10.0.0.1/8","except":["11.0.0.0/8"]}}])"),
      ElementsAre(HasSubstr("cidr: Invalid value"), HasSubstr("except[0]: Invalid value")));
  EXPECT_THAT(
      WrongInPolicy(R"("ports":[{"endPort":80},{"port":80,"endPort":70}])"),
      ElementsAre(HasSubstr("ports[0].endPort: Invalid"), HasSubstr("ports[1].endPort: Invalid")));
}

TEST(SpecValidationTest, MetricsAreWhatTheySay) {
  EXPECT_THAT(WrongInAutoscaler(R"(,"metrics":[{"type":"Resource","resource":{"name":"cpu",)"
                                R"("target":{"type":"Utilization","averageUtilization":50}}}])"),
              IsEmpty());
  EXPECT_THAT(WrongInAutoscaler(R"(,"metrics":[{"type":"Resource"}])"),
              ElementsAre(HasSubstr("spec.metrics[0].resource: Required value")));
  EXPECT_THAT(WrongInAutoscaler(R"(,"minReplicas":0)"),
              ElementsAre(HasSubstr("spec.minReplicas: Invalid value: 0"),
                          HasSubstr("spec.metrics: Forbidden")));
  EXPECT_THAT(WrongInAutoscaler(R"(,"behavior":{"scaleUp":{"policies":[{"type":"x","value":1,)"
                                R"("periodSeconds":1801}]}})"),
              ElementsAre(HasSubstr("policies[0].type: Unsupported"),
                          HasSubstr("policies[0].periodSeconds: Invalid")));
}

TEST(SpecValidationTest, VolumesHaveCapacityModesAndOneSource) {
  const auto of = [](const std::string& rest) {
    return WrongIn(
        "", "persistentvolumes",
        R"({"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"])" + rest + "}}");
  };
  EXPECT_THAT(of(R"(,"hostPath":{"path":"/a"})"), IsEmpty());
  EXPECT_THAT(of(""), ElementsAre(HasSubstr("spec: Required value")));
  EXPECT_THAT(of(R"(,"nfs":{"server":"s","path":"/"},"hostPath":{"path":"/a"})"),
              ElementsAre(HasSubstr("spec.nfs: Forbidden")));
  EXPECT_THAT(of(R"(,"local":{"path":"/a"})"),
              ElementsAre(HasSubstr("spec.nodeAffinity: Required value")));
}

TEST(SpecValidationTest, AClaimSaysHowMuchOfWhat) {
  const auto problems = [](const std::string& modes, const std::string& size,
                           const std::string& rest = "") {
    return WrongIn("", "persistentvolumeclaims",
                   R"({"spec":{"accessModes":[)" + modes + R"(],"resources":{"requests":{)" + size +
                       "}}" + rest + "}}");
  };
  const std::string once = "\"ReadWriteOnce\"";
  const std::string some = R"("storage":"1Gi")";
  EXPECT_THAT(problems(once, some, R"(,"volumeMode":"Block","storageClassName":"")"), IsEmpty());
  EXPECT_THAT(problems("", ""), ElementsAre(HasSubstr("spec.accessModes: Required"),
                                            HasSubstr("spec.resources[storage]: Required")));
  EXPECT_THAT(problems("\"x\"", R"("storage":"0")"),
              ElementsAre(HasSubstr("accessModes: Unsupported value: \"x\""),
                          HasSubstr("must be greater than zero")));
  EXPECT_THAT(problems(once + ",\"ReadWriteOncePod\"", some),
              ElementsAre(HasSubstr("spec.accessModes: Forbidden")));
  EXPECT_THAT(
      problems(once, some, R"(,"volumeMode":"x","storageClassName":"A")"),
      ElementsAre(HasSubstr("storageClassName: Invalid"), HasSubstr("volumeMode: Unsupported")));
  EXPECT_THAT(problems(once, some,
                       R"(,"dataSource":{"kind":"PersistentVolumeClaim","name":"a"},)"
                       R"("dataSourceRef":{"kind":"PersistentVolumeClaim","name":"b"})"),
              ElementsAre(HasSubstr("must match dataSourceRef")));
}

TEST(SpecValidationTest, QuotasAreOfWhatIsCounted) {
  const auto of = [](const std::string& spec) {
    return WrongIn("", "resourcequotas", R"({"spec":{)" + spec + "}}");
  };
  EXPECT_THAT(of(R"("hard":{"pods":"5","requests.a.b/c":"9E"})"), IsEmpty());
  EXPECT_THAT(
      of(R"("hard":{"pods":"1500m","storage":"1"})"),
      ElementsAre(HasSubstr("spec.hard[pods]: Invalid value: \"1500m\": must be an integer"),
                  HasSubstr("spec.hard[storage]: Invalid value")));
  EXPECT_THAT(of(R"("scopes":["BestEffort"],"hard":{"cpu":"1"})"),
              ElementsAre(HasSubstr("unsupported scope applied to resource")));
}

TEST(SpecValidationTest, EndpointsCanBeReached) {
  const auto of = [](const std::string& address) {
    return WrongIn("discovery.k8s.io", "endpointslices",
                   R"({"addressType":"IPv4","endpoints":[{"addresses":[")" + address + R"("]}]})");
  };
  EXPECT_THAT(of("1.2.3.4"), IsEmpty());
  for (const char* const local : {"127.0.0.1", "169.254.1.1", "0.0.0.0", "224.0.0.5", "01.2.3.4"}) {
    EXPECT_THAT(of(local), ElementsAre(HasSubstr("endpoints[0].addresses[0]: Invalid value")));
  }
}

TEST(SpecValidationTest, ClassesAreUsable) {
  EXPECT_THAT(
      WrongIn("storage.k8s.io", "storageclasses", R"({"provisioner":"","reclaimPolicy":"x"})"),
      ElementsAre(HasSubstr("provisioner: Required"), HasSubstr("reclaimPolicy: Unsupp")));
  EXPECT_THAT(WrongIn("scheduling.k8s.io", "priorityclasses", R"({"value":1000000001})"),
              ElementsAre(HasSubstr("value: Forbidden")));
}

}  // namespace
}  // namespace kubexx::apiserver
