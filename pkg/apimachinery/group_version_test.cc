#include "kubexx/apimachinery/group_version.h"

#include <gtest/gtest.h>

#include <string_view>

namespace kubexx::apimachinery {
namespace {

TEST(GroupVersionKindTest, SplitsAndJoinsTheApiVersion) {
  for (const auto& [api_version, group, version] :
       {std::tuple<std::string_view, std::string_view, std::string_view>{"v1", "", "v1"},
        {"apps/v1", "apps", "v1"},
        {"rbac.authorization.k8s.io/v1beta1", "rbac.authorization.k8s.io", "v1beta1"},
        {"", "", ""}}) {
    const auto gvk = GroupVersionKind::FromApiVersionKind(api_version, "Thing");
    EXPECT_EQ(gvk.group, group);
    EXPECT_EQ(gvk.version, version);
    EXPECT_EQ(gvk.kind, "Thing");
    EXPECT_EQ(gvk.ApiVersion(), api_version);
  }
}

TEST(GroupVersionKindTest, OddSlashesAreHarmless) {
  EXPECT_EQ(GroupVersionKind::FromApiVersionKind("/v1", "K"), (GroupVersionKind{"", "v1", "K"}));
  EXPECT_EQ(GroupVersionKind::FromApiVersionKind("apps/", "K"),
            (GroupVersionKind{"apps", "", "K"}));
  EXPECT_EQ(GroupVersionKind::FromApiVersionKind("a/b/c", "K"),
            (GroupVersionKind{"a", "b/c", "K"}));
}

TEST(GroupVersionKindTest, OrdersByGroupThenVersionThenKind) {
  const GroupVersionKind core{"", "v1", "Pod"};
  EXPECT_LT(core, (GroupVersionKind{"apps", "v1", "A"}));
  EXPECT_LT(core, (GroupVersionKind{"", "v2", "A"}));
  EXPECT_LT(core, (GroupVersionKind{"", "v1", "Service"}));
}

}  // namespace
}  // namespace kubexx::apimachinery
