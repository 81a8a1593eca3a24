#include "kubexx/apiserver/endpoints/upkeep/default_role_upkeep.h"

#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;
using ::testing::HasSubstr;
using ::testing::Not;

/// Default roles that an administrator has changed, and a server that starts again.
class DefaultRoleUpkeepTest : public testing::ApiFixture {
 protected:
  static std::string Path(const std::string& of) {
    return "/apis/rbac.authorization.k8s.io/v1/" + of;
  }
  void Patch(const std::string& of, const std::string& patch) {
    const http::Response patched = Do("PATCH", Path(of), patch, kMergePatch);
    ASSERT_EQ(patched.status, 200) << patched.body;
  }
  std::string Get(const std::string& of) { return Do("GET", Path(of)).body; }
  void StartAgain() {
    Api next(*storage_, Patient({}));
    ASSERT_TRUE(next.Bootstrap({}));
  }
};

constexpr const char* kDiscovery = "clusterroles/system:discovery";
constexpr const char* kDiscoveryBinding = "clusterrolebindings/system:discovery";

TEST_F(DefaultRoleUpkeepTest, WhatIsMissingIsAdded) {
  const std::string own = R"({"apiGroups":[""],"resources":["pods"],"verbs":["get"]})";
  Patch(kDiscovery, R"({"metadata":{"labels":null,"annotations":null},"rules":[)" + own +
                        R"(,{"nonResourceURLs":["/api"],"verbs":["get"]}]})");
  Patch(kDiscoveryBinding, R"({"subjects":[{"kind":"User","name":"me"}]})");
  Patch("clusterroles/edit",
        R"({"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"my":"own"}}]}})");
  StartAgain();
  const std::string role = Get(kDiscovery);
  EXPECT_THAT(role, HasSubstr(R"("rbac.authorization.kubernetes.io/autoupdate":"true")"));
  EXPECT_THAT(role, HasSubstr(R"("kubernetes.io/bootstrapping":"rbac-defaults")"));
  EXPECT_THAT(role, HasSubstr(R"("pods")"));
  EXPECT_THAT(role, HasSubstr("/openapi/*"));
  const std::string binding = Get(kDiscoveryBinding);
  EXPECT_THAT(binding, HasSubstr(R"("name":"me")"));
  EXPECT_THAT(binding, HasSubstr("system:authenticated"));
  const std::string edit = Get("clusterroles/edit");
  EXPECT_THAT(edit, HasSubstr(R"("rbac.authorization.k8s.io/aggregate-to-edit":"true")"));
  EXPECT_THAT(edit, HasSubstr(R"("my":"own")"));
}

TEST_F(DefaultRoleUpkeepTest, WhatIsCompleteIsNotWritten) {
  const JsonTree before = Json(Do("GET", Path("clusterroles")));
  StartAgain();
  EXPECT_EQ(Json(Do("GET", Path("clusterroles"))).Find("items")->ToJson(),
            before.Find("items")->ToJson());
}

TEST_F(DefaultRoleUpkeepTest, WhatIsNotToBeUpdatedStays) {
  const std::string stays =
      R"({"metadata":{"annotations":{"rbac.authorization.kubernetes.io/autoupdate":"false"}},)";
  Patch(kDiscovery, stays + R"("rules":null})");
  Patch(kDiscoveryBinding, stays + R"("subjects":null})");
  StartAgain();
  EXPECT_THAT(Get(kDiscovery), Not(HasSubstr("/openapi")));
  EXPECT_THAT(Get(kDiscoveryBinding), Not(HasSubstr("system:authenticated")));
}

TEST_F(DefaultRoleUpkeepTest, ABindingForAnotherRoleIsMadeAnew) {
  ASSERT_EQ(Do("DELETE", Path(kDiscoveryBinding)).status, 200);
  const http::Response made =
      Do("POST", Path("clusterrolebindings"),
         R"({"metadata":{"name":"system:discovery"},"roleRef":)"
         R"({"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"other"}})");
  ASSERT_EQ(made.status, 201) << made.body;
  StartAgain();
  const JsonTree binding = Json(Do("GET", Path(kDiscoveryBinding)));
  EXPECT_EQ(At(binding, {"roleRef", "name"}), "system:discovery");
  EXPECT_EQ(At(binding, {"subjects", "0", "name"}), "system:authenticated");
}

}  // namespace
}  // namespace kubexx::apiserver
