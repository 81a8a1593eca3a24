#include "kubexx/apiserver/endpoints/validation/network/service_validation.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace kubexx::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kFine =
    R"("type":"ClusterIP","clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"],"ipFamilies":["IPv4"],)"
    R"("ipFamilyPolicy":"SingleStack","internalTrafficPolicy":"Cluster")";
const std::string kNoAffinity = R"("sessionAffinity":"None")";
const std::string kOnePort = R"("ports":[{"port":80,"protocol":"TCP","targetPort":80}])";
const std::string kBalancer =
    R"("type":"LoadBalancer","clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"],)"
    R"("ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack","internalTrafficPolicy":"Cluster",)"
    R"("externalTrafficPolicy":"Cluster","allocateLoadBalancerNodePorts":true)";

codec::JsonTree ServiceOfSpec(const std::string& spec, const std::string& annotations = {}) {
  const std::string json =
      R"({"metadata":{"annotations":{)" + annotations + R"(}},"spec":{)" + spec + "}}";
  const auto tree = codec::JsonTree::Parse(json);
  EXPECT_TRUE(tree) << json;
  return tree ? *tree : codec::JsonTree();
}

std::vector<std::string> CauseTexts(const FieldCauses& causes) {
  std::vector<std::string> texts;
  for (const apimachinery::StatusCause& one : causes.kept()) {
    texts.push_back(one.field + ": " + one.message);
  }
  return texts;
}

std::vector<std::string> ServiceProblems(const std::string& spec,
                                         const std::string& annotations = {},
                                         const codec::JsonTree* old = nullptr) {
  FieldCauses causes;
  CheckService(old, ServiceOfSpec(spec, annotations), causes);
  return CauseTexts(causes);
}

std::vector<std::string> WithPorts(const std::string& ports) {
  return ServiceProblems(kFine + "," + kNoAffinity + R"(,"ports":[)" + ports + "]");
}

std::vector<std::string> HavingFields(const std::string& rest) {
  return ServiceProblems(kFine + "," + kNoAffinity + "," + kOnePort + "," + rest);
}

TEST(ServiceValidationTest, PortsHaveNamesAndNumbers) {
  EXPECT_THAT(HavingFields(R"("selector":{"a":"b"})"), IsEmpty());
  EXPECT_THAT(WithPorts(""), ElementsAre("spec.ports: Required value"));
  EXPECT_THAT(WithPorts(R"({"port":0,"protocol":"TCP"})"),
              ElementsAre("spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, "
                          "inclusive"));
  EXPECT_THAT(WithPorts(R"({"port":1,"protocol":"TCP"},{"name":"a","port":2,"protocol":"TCP"})"),
              ElementsAre("spec.ports[0].name: Required value"));
  EXPECT_THAT(
      WithPorts(R"({"name":"a","port":1,"protocol":"TCP"},{"name":"a","port":2,"protocol":"TCP"})"),
      ElementsAre("spec.ports[1].name: Duplicate value: \"a\""));
  EXPECT_THAT(WithPorts(R"({"name":"A_b","port":1,"protocol":"TCP"})"),
              ElementsAre(HasSubstr("spec.ports[0].name: Invalid value: \"A_b\"")));
  EXPECT_THAT(WithPorts(R"({"port":1,"protocol":"tcp"})"),
              ElementsAre("spec.ports[0].protocol: Unsupported value: \"tcp\": supported values: "
                          "\"SCTP\", \"TCP\", \"UDP\""));
  EXPECT_THAT(WithPorts(R"({"port":1,"protocol":"TCP","appProtocol":"a b"})"),
              ElementsAre(HasSubstr("spec.ports[0].appProtocol: Invalid value: \"a b\"")));
}

TEST(ServiceValidationTest, TargetsAreNumbersOrNamesOfPorts) {
  const auto target = [](const std::string& value) {
    return WithPorts(R"({"port":1,"protocol":"TCP","targetPort":)" + value + "}");
  };
  EXPECT_THAT(target("\"http-2\""), IsEmpty());
  EXPECT_THAT(target("70000"), ElementsAre(HasSubstr("spec.ports[0].targetPort: Invalid value")));
  EXPECT_THAT(target("\"80\""), ElementsAre(HasSubstr("must have at least one letter")));
  EXPECT_THAT(target("\"a--b\""), ElementsAre(HasSubstr("two '-' in a row")));
  EXPECT_THAT(target("\"-a\""), ElementsAre(HasSubstr("must not begin or end with '-'")));
  EXPECT_THAT(target("\"aB\""), ElementsAre(HasSubstr("must have only small letters")));
  EXPECT_THAT(target("\"abcdefghijklmnop\""), ElementsAre(HasSubstr("15 characters")));
}

TEST(ServiceValidationTest, NoPortIsThereTwice) {
  EXPECT_THAT(
      WithPorts(R"({"name":"a","port":1,"protocol":"TCP"},{"name":"b","port":1,"protocol":"UDP"},)"
                R"({"name":"c","port":1,"protocol":"TCP"})"),
      ElementsAre(R"(spec.ports[2]: Duplicate value: {"Name":"","Protocol":"TCP",)"
                  R"("AppProtocol":null,"Port":1,"TargetPort":0,"NodePort":0})"));
  EXPECT_THAT(ServiceProblems(kBalancer + "," + kNoAffinity +
                              R"(,"ports":[{"name":"a","port":1,"protocol":"TCP","nodePort":3},)"
                              R"({"name":"b","port":2,"protocol":"TCP","nodePort":3}])"),
              ElementsAre("spec.ports[1].nodePort: Duplicate value: 3"));
}

TEST(ServiceValidationTest, TheTypeSaysWhatElseThereIs) {
  EXPECT_THAT(ServiceProblems(R"("type":"ExternalName","externalName":"a.b.",)" + kNoAffinity),
              IsEmpty());
  EXPECT_THAT(ServiceProblems(R"("type":"ExternalName","externalName":"a_b","clusterIP":"1.2.3.4",)"
                              R"("clusterIPs":["1.2.3.4"],"ipFamilies":["IPv4"],)" +
                              kNoAffinity),
              ElementsAre("spec.clusterIPs: Forbidden: may not be set for ExternalName services",
                          "spec.ipFamilies: Forbidden: may not be set for ExternalName services",
                          HasSubstr("spec.externalName: Invalid value: \"a_b\"")));
  EXPECT_THAT(ServiceProblems(R"("type":"x","internalTrafficPolicy":"Cluster",)" + kNoAffinity +
                              "," + kOnePort),
              ElementsAre("spec.type: Unsupported value: \"x\": supported values: \"ClusterIP\", "
                          "\"ExternalName\", \"LoadBalancer\", \"NodePort\""));
  EXPECT_THAT(
      ServiceProblems(R"("type":"NodePort","clusterIP":"None","clusterIPs":["None"],)"
                      R"("internalTrafficPolicy":"Cluster","externalTrafficPolicy":"Cluster",)" +
                      kNoAffinity),
      ElementsAre("spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for "
                  "NodePort services"));
}

TEST(ServiceValidationTest, AffinityHasATimeWithinADay) {
  const auto affinity = [](const std::string& text) {
    return ServiceProblems(kFine + "," + kOnePort + "," + text);
  };
  const auto lasting = [&](const std::string& seconds) {
    return affinity(
        R"("sessionAffinity":"ClientIP","sessionAffinityConfig":{"clientIP":{"timeoutSeconds":)" +
        seconds + "}}");
  };
  EXPECT_THAT(lasting("86400"), IsEmpty());
  EXPECT_THAT(lasting("86401"),
              ElementsAre("spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: "
                          "86401: must be greater than 0 and less than 86400"));
  EXPECT_THAT(lasting("0"), ElementsAre(HasSubstr("timeoutSeconds: Invalid value: 0")));
  EXPECT_THAT(affinity(R"("sessionAffinity":"x")"),
              ElementsAre("spec.sessionAffinity: Unsupported value: \"x\": supported values: "
                          "\"ClientIP\", \"None\""));
}

TEST(ServiceValidationTest, ExternalAddressesCanBeReached) {
  const auto external = [](const std::string& address) {
    return HavingFields(R"("externalTrafficPolicy":"Cluster","externalIPs":[")" + address + "\"]");
  };
  EXPECT_THAT(external("1.2.3.4"), IsEmpty());
  EXPECT_THAT(external("bla"), ElementsAre(HasSubstr("spec.externalIPs[0]: Invalid value: \"bla\": "
                                                     "must be a valid IP address")));
  EXPECT_THAT(external("0.0.0.0"), ElementsAre(HasSubstr("may not be unspecified")));
  EXPECT_THAT(external("127.1.2.3"), ElementsAre(HasSubstr("may not be in the loopback range")));
  EXPECT_THAT(external("::1"), ElementsAre(HasSubstr("may not be in the loopback range")));
  EXPECT_THAT(external("169.254.0.1"), ElementsAre(HasSubstr("link-local range")));
  EXPECT_THAT(external("fe80::1"), ElementsAre(HasSubstr("link-local range")));
  EXPECT_THAT(external("224.0.0.1"), ElementsAre(HasSubstr("link-local multicast range")));
  EXPECT_THAT(external("ff02::1"), ElementsAre(HasSubstr("link-local multicast range")));
  EXPECT_THAT(external("01.2.3.4"), ElementsAre(HasSubstr("must not have leading 0s")));
}

TEST(ServiceValidationTest, WhatWasTakenBeforeIsTakenAgain) {
  const std::string spec = kFine + "," + kNoAffinity + "," + kOnePort +
                           R"(,"externalTrafficPolicy":"Cluster","externalIPs":["::ffff:1.2.3.4"])";
  const codec::JsonTree old = ServiceOfSpec(spec);
  EXPECT_THAT(ServiceProblems(spec), ElementsAre(HasSubstr("IPv4-mapped")));
  EXPECT_THAT(ServiceProblems(spec, "", &old), IsEmpty());
}

TEST(ServiceValidationTest, SomeFieldsAreForBalancers) {
  const std::string rest = "," + kNoAffinity + "," + kOnePort;
  EXPECT_THAT(
      ServiceProblems(kBalancer + rest +
                      R"(,"loadBalancerClass":"a.b/c","loadBalancerSourceRanges":[" 1.2.0.0/16"])"),
      IsEmpty());
  EXPECT_THAT(
      ServiceProblems(kBalancer + rest + R"(,"loadBalancerSourceRanges":["1.2.3.4/16","x"])"),
      ElementsAre(HasSubstr("spec.LoadBalancerSourceRanges[0]: Invalid value: \"1.2.3.4/16\": must "
                            "not have bits set"),
                  HasSubstr("spec.LoadBalancerSourceRanges[1]: Invalid value: \"x\"")));
  EXPECT_THAT(
      HavingFields(R"("loadBalancerSourceRanges":["1.2.0.0/16"],"loadBalancerClass":"a/b")"),
      ElementsAre("spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` "
                  "is 'LoadBalancer'",
                  "spec.loadBalancerClass: Forbidden: may only be used when `type` is "
                  "'LoadBalancer'"));
  EXPECT_THAT(ServiceProblems(
                  kBalancer + rest,
                  R"("service.beta.kubernetes.io/load-balancer-source-ranges":"1.2.0.0/16, y")"),
              ElementsAre(HasSubstr("metadata.annotations[service.beta.kubernetes.io/"
                                    "load-balancer-source-ranges]: Invalid value: \"y\"")));
}

TEST(ServiceValidationTest, PoliciesOfTrafficHaveFewValues) {
  EXPECT_THAT(HavingFields(R"("externalTrafficPolicy":"Local")"),
              ElementsAre("spec.externalTrafficPolicy: Invalid value: \"Local\": may only be set "
                          "for externally-accessible services"));
  EXPECT_THAT(
      HavingFields(R"("healthCheckNodePort":3)"),
      ElementsAre(HasSubstr("spec.healthCheckNodePort: Invalid value: 3: may only be set")));
  EXPECT_THAT(HavingFields(R"("trafficDistribution":"x")"),
              ElementsAre(HasSubstr("spec.trafficDistribution: Unsupported value: \"x\"")));
  EXPECT_THAT(HavingFields(R"("trafficDistribution":"PreferClose")"), IsEmpty());
  EXPECT_THAT(ServiceProblems(R"("type":"ClusterIP","internalTrafficPolicy":"x",)" + kNoAffinity +
                              "," + kOnePort),
              ElementsAre("spec.internalTrafficPolicy: Unsupported value: \"x\": supported values: "
                          "\"Cluster\", \"Local\""));
}

TEST(ServiceValidationTest, AddressesAgreeWithEachOther) {
  const auto addresses = [](const std::string& text) {
    return ServiceProblems(R"("type":"ClusterIP","internalTrafficPolicy":"Cluster",)" +
                           kNoAffinity + "," + kOnePort + "," + text);
  };
  EXPECT_THAT(addresses(R"("clusterIP":"1.2.3.4","clusterIPs":["1.2.3.5"])"),
              ElementsAre("spec.clusterIPs: Invalid value: [\"1.2.3.5\"]: first value must match "
                          "`clusterIP`"));
  EXPECT_THAT(addresses(R"("clusterIPs":["1.2.3.5"])"),
              ElementsAre(HasSubstr("must be empty when `clusterIP` is not specified")));
  EXPECT_THAT(addresses(R"("clusterIP":"None","clusterIPs":["None","1.2.3.4"])"),
              ElementsAre(HasSubstr("'None' must be the first and only value")));
  EXPECT_THAT(addresses(R"("clusterIP":"1.2.3.4","clusterIPs":["1.2.3.4","1.2.3.5"])"),
              ElementsAre(HasSubstr("no more than one IP for each IP family")));
  EXPECT_THAT(addresses(R"("clusterIP":"1.2.3.4","clusterIPs":["1.2.3.4"],"ipFamilies":["IPv6"])"),
              ElementsAre(HasSubstr("expected an IPv6 value as indicated by `ipFamilies[0]`")));
  EXPECT_THAT(addresses(R"("ipFamilies":["IPv4","IPv4"])"),
              ElementsAre("spec.ipFamilies[1]: Duplicate value: \"IPv4\""));
}

TEST(ServiceValidationTest, AnUpdateKeepsTheClassOfItsBalancer) {
  FieldCauses causes;
  const auto spec = [](const std::string& rest) { return ServiceOfSpec(kBalancer + rest); };
  CheckServiceChange(*spec(R"(,"loadBalancerClass":"a/b")").Find("spec"),
                     *spec(R"(,"loadBalancerClass":"a/c")").Find("spec"), causes);
  EXPECT_THAT(
      CauseTexts(causes),
      ElementsAre("spec.loadBalancerClass: Invalid value: \"a/c\": may not change once set"));
}

}  // namespace
}  // namespace kubexx::apiserver
