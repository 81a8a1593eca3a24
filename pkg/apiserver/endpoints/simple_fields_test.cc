#include "kubexx/apiserver/endpoints/simple_fields.h"

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

/// "field: message" of everything that is wrong.
std::vector<std::string> SimpleProblems(const std::string& resource, const std::string& json) {
  const auto tree = JsonTree::Parse(json);
  EXPECT_TRUE(tree) << json;
  FieldCauses causes;
  if (tree && resource == "pod") {
    CheckSimplePodFields(*tree, "spec", causes);
  } else if (tree) {
    CheckSimpleFields(resource, *tree, causes);
  }
  std::vector<std::string> problems;
  for (const apimachinery::StatusCause& one : causes.kept()) {
    problems.push_back(one.field + ": " + one.message);
  }
  return problems;
}

// What kube-apiserver says of the same test/differential/validation.py asks both servers.
TEST(SimpleFieldsTest, WhatIsChosenIsAmongTheChoices) {
  EXPECT_THAT(SimpleProblems("networkpolicies.networking.k8s.io",
                             R"({"spec":{"policyTypes":["Egress","ingress"]}})"),
              ElementsAre(HasSubstr("spec.policyTypes[1]: Unsupported value")));
  EXPECT_THAT(SimpleProblems("jobs.batch", R"({"spec":{"completionMode":"x"}})"),
              ElementsAre(HasSubstr("spec.completionMode: Unsupported value")));
}

TEST(SimpleFieldsTest, NumbersHaveLimits) {
  EXPECT_THAT(SimpleProblems("jobs.batch", R"({"spec":{"parallelism":0,"backoffLimit":-1}})"),
              ElementsAre(HasSubstr("spec.backoffLimit: Invalid value: -1: must be at least 0")));
  EXPECT_THAT(SimpleProblems("cronjobs.batch", R"({"spec":{"failedJobsHistoryLimit":-1}})"),
              ElementsAre(HasSubstr("spec.failedJobsHistoryLimit: Invalid value")));
}

TEST(SimpleFieldsTest, PodsAreCheckedWithTheirContainers) {
  EXPECT_THAT(
      SimpleProblems("pod",
                     R"({"restartPolicy":"Always","containers":[{"ports":[{"containerPort":80}],)"
                     R"("livenessProbe":{"periodSeconds":3}}]})"),
      IsEmpty());
  EXPECT_THAT(
      SimpleProblems("pod", R"({"dnsPolicy":"x","initContainers":[{"imagePullPolicy":"x"}],)"
                            R"("containers":[{},{"ports":[{"containerPort":70000}],)"
                            R"("readinessProbe":{"periodSeconds":-1}}]})"),
      ElementsAre(HasSubstr("spec.dnsPolicy: Unsupported"),
                  HasSubstr("spec.initContainers[0].imagePullPolicy: Unsupported"),
                  HasSubstr("spec.containers[1].ports[0].containerPort: Invalid value: "
                            "70000: must be at most 65535"),
                  HasSubstr("spec.containers[1].readinessProbe.periodSeconds: Invalid")));
}

}  // namespace
}  // namespace kubexx::apiserver
