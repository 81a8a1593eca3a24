#include "kubexx/apiserver/endpoints/validation/pods/resource_validation.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

/// "field: message" of everything that is wrong with a pod's spec.
std::vector<std::string> ProblemsOf(const std::string& spec) {
  const auto tree = JsonTree::Parse(spec);
  EXPECT_TRUE(tree) << spec;
  FieldCauses causes;
  CheckPodResources(tree ? *tree : JsonTree(), "s", causes);
  std::vector<std::string> problems;
  for (const apimachinery::StatusCause& one : causes.kept()) {
    problems.push_back(one.field + ": " + one.message);
  }
  return problems;
}

std::vector<std::string> OfContainer(const std::string& resources) {
  return ProblemsOf(R"({"containers":[{"name":"c","resources":{)" + resources + "}}]}");
}

std::vector<std::string> OfPod(const std::string& resources, const std::string& of_container) {
  return ProblemsOf(R"({"resources":{)" + resources +
                    R"(},"containers":[{"name":"c","resources":{)" + of_container + "}}]}");
}

// What kube-apiserver says of the same test/differential/validation.py asks both servers.
TEST(ResourceValidationTest, ARequestIsNotAboveItsLimit) {
  EXPECT_THAT(OfContainer(R"("limits":{"cpu":"1"},"requests":{"cpu":"1000m"})"), IsEmpty());
  EXPECT_THAT(OfContainer(R"("limits":{"cpu":"1"},"requests":{"cpu":"1001m"})"),
              ElementsAre("s.containers[0].resources.requests: Invalid value: \"1001m\": must be "
                          "at most the cpu limit of 1"));
  EXPECT_THAT(OfContainer(R"("limits":{"memory":"1Gi"},"requests":{"memory":"2G"})"),
              ElementsAre(HasSubstr("memory limit of 1Gi")));
  EXPECT_THAT(ProblemsOf(R"({"initContainers":[{"resources":{"limits":{"cpu":"1"},)"
                         R"("requests":{"cpu":"2"}}}]})"),
              ElementsAre(HasSubstr("s.initContainers[0].resources.requests: Invalid")));
}

TEST(ResourceValidationTest, WhatCannotBeOvercommittedIsAskedForAsItIsLimited) {
  EXPECT_THAT(OfContainer(R"("limits":{"a.b/c":"2"},"requests":{"a.b/c":"2"})"), IsEmpty());
  EXPECT_THAT(OfContainer(R"("limits":{"a.b/c":"2"},"requests":{"a.b/c":"1"})"),
              ElementsAre(HasSubstr("must be equal to the a.b/c limit of 2")));
  EXPECT_THAT(OfContainer(R"("requests":{"a.b/c":"1"})"),
              ElementsAre(HasSubstr("s.containers[0].resources.limits: Required value")));
  EXPECT_THAT(
      OfContainer(R"("limits":{"a.b/c":"1500m"})"),
      ElementsAre(HasSubstr("limits[a.b/c]: Invalid value: \"1500m\": must be an integer")));
}

TEST(ResourceValidationTest, VeryManyAreWholeOnesToo) {
  for (const char* const many : {"9E", "1Ei", "9223372036854775807"}) {
    EXPECT_THAT(OfContainer(R"("limits":{"a.b/c":")" + std::string(many) + "\"}"), IsEmpty());
  }
}

TEST(ResourceValidationTest, HugePagesAreWholeAndNotAlone) {
  EXPECT_THAT(OfContainer(R"("limits":{"hugepages-2Mi":"4Mi","cpu":"1"})"), IsEmpty());
  EXPECT_THAT(OfContainer(R"("limits":{"hugepages-2Mi":"3Mi","cpu":"1"})"),
              ElementsAre(HasSubstr("multiple of the size of a page")));
  EXPECT_THAT(OfContainer(R"("limits":{"hugepages-x":"4Mi","cpu":"1"})"),
              ElementsAre(HasSubstr("multiple of the size of a page")));
  EXPECT_THAT(OfContainer(R"("limits":{"hugepages-2Mi":"4Mi"})"),
              ElementsAre(HasSubstr("resources: Forbidden: huge pages need cpu or memory")));
  EXPECT_THAT(OfContainer(R"("limits":{"hugepages-2Mi":"4Mi","cpu":"1"},)"
                          R"("requests":{"hugepages-2Mi":"2Mi"})"),
              ElementsAre(HasSubstr("must be equal to the hugepages-2Mi limit")));
}

TEST(ResourceValidationTest, NamesAndAmountsAreOfContainers) {
  EXPECT_THAT(OfContainer(R"("limits":{"cpu":"0","memory":"1","ephemeral-storage":"1",)"
                          R"("kubernetes.io/x":"1"})"),
              IsEmpty());
  EXPECT_THAT(OfContainer(R"("requests":{"cpu":"-1"})"),
              ElementsAre(HasSubstr("requests[cpu]: Invalid value: \"-1\": must be greater")));
  EXPECT_THAT(OfContainer(R"("limits":{"storage":"1"})"),
              ElementsAre(HasSubstr("must be a standard resource of containers")));
  EXPECT_THAT(OfContainer(R"("limits":{"foo":"1"})"),
              ElementsAre(HasSubstr("or have a domain"), HasSubstr("of containers")));
  EXPECT_THAT(OfContainer(R"("limits":{"a b":"1"})"),
              ElementsAre(HasSubstr("name part"), HasSubstr("of containers")));
  EXPECT_THAT(OfContainer(R"("limits":{"requests.a.b/c":"1"})"),
              ElementsAre(HasSubstr("no name of an extended resource")));
}

TEST(ResourceValidationTest, ClaimsAreThoseOfThePod) {
  const auto of = [](const std::string& claims) {
    return ProblemsOf(R"({"resourceClaims":[{"name":"x"},{"name":"y"}],"containers":[)"
                      R"({"resources":{"claims":[)" +
                      claims + "]}}]}");
  };
  EXPECT_THAT(of(R"({"name":"x"},{"name":"y","request":"a"},{"name":"y","request":"b"})"),
              IsEmpty());
  EXPECT_THAT(of(R"({"name":"z"},{"name":""})"),
              ElementsAre(HasSubstr("claims[0]: Not found: \"z\""),
                          HasSubstr("claims[1]: Required value")));
  EXPECT_THAT(of(R"({"name":"x"},{"name":"x"})"), ElementsAre(HasSubstr("claims[1]: Duplicate")));
  EXPECT_THAT(of(R"({"name":"x","request":"a"},{"name":"x"})"),
              ElementsAre(HasSubstr("claims[1]: Duplicate")));
}

TEST(ResourceValidationTest, ContainersFitInTheirPod) {
  EXPECT_THAT(OfPod(R"("limits":{"cpu":"2"},"requests":{"cpu":"1"})", R"("requests":{"cpu":"1"})"),
              IsEmpty());
  EXPECT_THAT(OfPod(R"("requests":{"cpu":"1"})", R"("requests":{"cpu":"2"})"),
              ElementsAre(HasSubstr("s.resources.requests[cpu]: Invalid value: \"1\"")));
  EXPECT_THAT(OfPod(R"("limits":{"cpu":"1"})", R"("limits":{"cpu":"2"})"),
              ElementsAre(HasSubstr("s.resources.containers[0][cpu].limits: Invalid value")));
  EXPECT_THAT(OfPod(R"("limits":{"hugepages-2Mi":"2Mi","cpu":"1"})",
                    R"("limits":{"hugepages-2Mi":"4Mi","cpu":"1"})"),
              UnorderedElementsAre(HasSubstr("s.resources.limits[hugepages-2Mi]"),
                                   HasSubstr("s.resources.containers[0][hugepages-2Mi].limits")));
}

TEST(ResourceValidationTest, APodHasFewerResourcesThanAContainer) {
  EXPECT_THAT(OfPod(R"("limits":{"a.b/c":"1"})", ""),
              ElementsAre(HasSubstr("s.resources.limits[a.b/c]: Unsupported value")));
  EXPECT_THAT(OfPod(R"("limits":{"ephemeral-storage":"1"})", ""),
              ElementsAre(HasSubstr("Unsupported value")));
  EXPECT_THAT(OfPod(R"("claims":[{"name":"x"}])", ""),
              ElementsAre(HasSubstr("s.resources.claims: Forbidden"),
                          HasSubstr("s.resources.claims[0]: Not found")));
  EXPECT_THAT(ProblemsOf(R"({"os":{"name":"windows"},"resources":{"limits":{"foo":"1"}}})"),
              ElementsAre(HasSubstr("s.resources: Forbidden")));
}

}  // namespace
}  // namespace kubexx::apiserver
