#include "kubexx/reloader/kinds/described_kind.h"

#include <gtest/gtest.h>

#include <string>

namespace kubexx::reloader {
namespace {

constexpr char kOperator[] = "the operator kubexx/kubexx-reloader";
constexpr char kOtherOperator[] = "the operator in namespace aaa";

CustomKind CloneSet() {
  return {.group = "apps.kruise.io",
          .version = "v1alpha1",
          .kind = "CloneSet",
          .resource = "clonesets"};
}

std::string ConflictWith(const CustomKind& other) {
  const auto agreed =
      AgreedKind({{CloneSet(), kOperator}, {CloneSet(), "b"}, {other, kOtherOperator}});
  return agreed                                                     ? "no error"
         : agreed.error().reason != apimachinery::Reason::kConflict ? "another error"
                                                                    : agreed.error().message;
}

TEST(AgreedKindTest, ADescriptionCountsThatNobodyContradicts) {
  const auto agreed = AgreedKind({{CloneSet(), kOperator}, {CloneSet(), kOtherOperator}});
  ASSERT_TRUE(agreed) << agreed.error().message;
  EXPECT_EQ(agreed->kind, CloneSet());
  EXPECT_EQ(agreed->by, kOperator);
}

TEST(AgreedKindTest, NobodyRedefinesAKindForAnother) {
  CustomKind group = CloneSet();
  group.group = "evil.example.com";
  EXPECT_EQ(ConflictWith(group),
            "two operators describe CloneSet differently: for the operator kubexx/kubexx-reloader "
            "it is clonesets.v1alpha1.apps.kruise.io with the pod template at spec.template, for "
            "the operator in namespace aaa clonesets.v1alpha1.evil.example.com with the pod "
            "template at spec.template");
  CustomKind pods = CloneSet();
  pods.pod_template = {"spec", "other"};
  EXPECT_TRUE(ConflictWith(pods).ends_with("with the pod template at spec.other"))
      << ConflictWith(pods);
  CustomKind rules = CloneSet();
  rules.done = {{.condition = "Ready"}};
  EXPECT_TRUE(ConflictWith(rules).ends_with("aaa the same with other rules"))
      << ConflictWith(rules);
  CustomKind name = CloneSet();
  name.kind = "Other";  // which `clonesets/x` means as well
  EXPECT_TRUE(ConflictWith(name).starts_with("two operators describe CloneSet and Other"))
      << ConflictWith(name);
}

}  // namespace
}  // namespace kubexx::reloader
