// Tests roles of a kilobyte that have millions of combinations.
#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/authn/token_file.h"
#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::kBindings;
using testing::kRoles;
using ::testing::Lt;
using ::testing::SizeIs;

ApiOptions WithMallory() {
  ApiOptions options;
  options.token = apimachinery::Bytes(std::string("admin-token"));
  options.tokens = *ParseTokenFile("mallory-token,mallory,1\n");
  options.rbac = true;
  return options;
}

/// Mallory is the administrator of one namespace.
class RoleBombsTest : public testing::ApiFixture {
 protected:
  RoleBombsTest() : ApiFixture(WithMallory()) {
    As("admin");
    EXPECT_EQ(Bind("mallory", "ClusterRole", "admin").status, 201);
    EXPECT_EQ(Do("POST", kRoles, Role("bomb", 60)).status, 201);
    As("mallory");
  }
  void As(const std::string& user) { headers_ = {{"Authorization", "Bearer " + user + "-token"}}; }
  http::Response Bind(const std::string& name, const std::string& kind, const std::string& role) {
    return Do("POST", kBindings,
              R"({"metadata":{"name":")" + name +
                  R"("},"subjects":[{"kind":"User","name":"mallory"}],)" +
                  R"("roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":")" + kind +
                  R"(","name":")" + role + R"("}})");
  }
  /// Returns a role with `count` verbs, groups, resources and names.
  static std::string Role(const std::string& name, int count) {
    codec::JsonTree rule = codec::JsonTree::Object();
    for (const char* const list : {"verbs", "apiGroups", "resources", "resourceNames"}) {
      for (int i = 0; i < count; ++i) {
        rule[list].Append("w" + std::to_string(i));
      }
    }
    return R"({"metadata":{"name":")" + name + R"("},"rules":[)" + rule.ToJson() + "]}";
  }
};

TEST_F(RoleBombsTest, AreRefusedAtOnce) {
  const http::Response refused = Do("POST", kRoles, Role("mine", 60));
  EXPECT_EQ(refused.status, 403) << refused.body.substr(0, 1'000);
  EXPECT_THAT(Message(refused),
              AllOf(HasSubstr("is attempting to grant RBAC permissions not currently held:\n"),
                    HasSubstr("\nand more"), SizeIs(Lt(1U << 20))));
  EXPECT_EQ(Do("POST", std::string(kRoles) + "?dryRun=All", Role("mine", 60)).status, 403);
  EXPECT_EQ(Bind("b", "Role", "bomb").status, 403);
}

}  // namespace
}  // namespace kubexx::apiserver
