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
  if (tree) {
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
  EXPECT_THAT(
      SimpleProblems("services", R"({"spec":{"type":"NodePort","ports":[{"protocol":"UDP"}]}})"),
      IsEmpty());
  EXPECT_THAT(
      SimpleProblems("services",
                     R"({"spec":{"type":"x","ports":[{"protocol":"TCP"},{"protocol":"tcp"}]}})"),
      ElementsAre(HasSubstr("spec.type: Unsupported value: \"x\": supported values: \"ClusterIP\", "
                            "\"NodePort\", \"LoadBalancer\", \"ExternalName\""),
                  HasSubstr("spec.ports[1].protocol: Unsupported value: \"tcp\"")));
  EXPECT_THAT(SimpleProblems("poddisruptionbudgets.policy",
                             R"({"spec":{"unhealthyPodEvictionPolicy":"x"}})"),
              ElementsAre(HasSubstr("spec.unhealthyPodEvictionPolicy: Unsupported value")));
}

TEST(SimpleFieldsTest, NumbersHaveLimits) {
  const auto of = [](const std::string& seconds) {
    return SimpleProblems(
        "services",
        R"({"spec":{"sessionAffinityConfig":{"clientIP":{"timeoutSeconds":)" + seconds + "}}}}");
  };
  EXPECT_THAT(of("1"), IsEmpty());
  EXPECT_THAT(of("0"),
              ElementsAre(HasSubstr("timeoutSeconds: Invalid value: 0: must be at least")));
}

}  // namespace
}  // namespace kubexx::apiserver
