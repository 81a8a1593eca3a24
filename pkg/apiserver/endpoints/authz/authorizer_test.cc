#include "kubexx/apiserver/endpoints/authz/authorizer.h"

#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/authn/token_file.h"
#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;
using ::testing::HasSubstr;
using testing::kBindings;
using testing::kRoles;

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kAccessReviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

ApiOptions WithTokens() {
  ApiOptions options;
  options.token = apimachinery::Bytes(std::string("admin-token"));
  options.tokens = *ParseTokenFile("jane-token,jane,1,\"devs,ops\"\nbob-token,bob,2\n");
  options.rbac = true;
  return options;
}

class AuthorizerTest : public testing::ApiFixture {
 protected:
  AuthorizerTest() : ApiFixture(WithTokens()) { As("admin"); }

  void As(const std::string& user) { headers_ = {{"Authorization", "Bearer " + user + "-token"}}; }
  /// Binds a role with these rules to a subject.
  void Allow(const std::string& rules, const std::string& subject) {
    As("admin");
    ASSERT_EQ(Do("POST", kRoles, R"({"metadata":{"name":"r"},"rules":)" + rules + "}").status, 201);
    ASSERT_EQ(
        Do("POST", kBindings,
           R"({"metadata":{"name":"b"},"subjects":[)" + subject +
               R"(],"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"}})")
            .status,
        201);
  }
  static constexpr const char* kJane = R"({"kind":"User","name":"jane"})";
};

TEST_F(AuthorizerTest, NobodyMayDoWhatNoRoleAllows) {
  As("jane");
  const http::Response refused = Do("GET", kMaps);
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(
      Message(refused),
      "configmaps is forbidden: User \"jane\" cannot list resource \"configmaps\" in API group "
      "\"\" in the namespace \"default\"");
  EXPECT_EQ(At(Json(refused), {"reason"}), "Forbidden");
  EXPECT_EQ(At(Json(refused), {"details", "kind"}), "configmaps");
  EXPECT_EQ(
      Message(Do("DELETE", "/apis/apps/v1/namespaces/x/deployments/d")),
      "deployments.apps \"d\" is forbidden: User \"jane\" cannot delete resource \"deployments\" "
      "in API group \"apps\" in the namespace \"x\"");
  EXPECT_EQ(
      Message(Do("GET", "/api/v1/nodes")),
      "nodes is forbidden: User \"jane\" cannot list resource \"nodes\" in API group \"\" at the "
      "cluster scope");
  EXPECT_EQ(Message(Do("GET", "/metrics")),
            "forbidden: User \"jane\" cannot get path \"/metrics\"");
  EXPECT_EQ(Do("GET", "/apis").status, 200);
  As("nobody");
  EXPECT_EQ(Do("GET", kMaps).status, 401);
}

TEST_F(AuthorizerTest, RolesCountAtOnce) {
  Allow(R"([{"verbs":["get","create"],"apiGroups":[""],"resources":["configmaps"]}])", kJane);
  As("jane");
  EXPECT_EQ(Do("POST", kMaps, R"({"metadata":{"name":"m"}})").status, 201);
  EXPECT_EQ(Do("GET", std::string(kMaps) + "/m").status, 200);
  EXPECT_EQ(Do("GET", kMaps).status, 403);
  EXPECT_EQ(Do("GET", "/api/v1/namespaces/kube-system/configmaps/m").status, 403);
  As("bob");
  EXPECT_EQ(Do("GET", std::string(kMaps) + "/m").status, 403);
}

/// A write of one namespace's Roles does not make the server read all other Roles again.
TEST_F(AuthorizerTest, WhatHasNotChangedIsReadOnce) {
  TypeRegistry types(*storage_, Patient({}).cacher);
  Authorizer authorizer(types, true);
  const User jane{.name = "jane"};
  rbac::Request wanted;
  wanted.verb = "get";
  wanted.resource = "pods";
  wanted.namespace_ = "default";
  EXPECT_FALSE(authorizer.Decide(jane, wanted, {})->allowed);
  const std::size_t before = authorizer.PartsReadForTest();
  Allow(R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}])", kJane);
  EXPECT_TRUE(authorizer.Decide(jane, wanted, {})->allowed);
  EXPECT_EQ(authorizer.PartsReadForTest(), before + 2);
  ASSERT_EQ(Do("PATCH", std::string(kRoles) + "/r", R"({"rules":[]})", kMergePatch).status, 200);
  EXPECT_TRUE(authorizer.RulesOf(jane, "default", {})->rules.empty());
  EXPECT_FALSE(authorizer.Decide(jane, wanted, {})->allowed);
  EXPECT_EQ(authorizer.PartsReadForTest(), before + 3);
}

TEST_F(AuthorizerTest, NamesRestrictListsBySelector) {
  Allow(R"([{"verbs":["list"],"apiGroups":[""],"resources":["configmaps"],"resourceNames":["m"]}])",
        R"({"kind":"Group","name":"devs"})");
  As("jane");
  EXPECT_EQ(Do("GET", kMaps).status, 403);
  const std::string maps = std::string(kMaps) + "?fieldSelector=";
  for (const char* const one :
       {"metadata.name%3Dm", "metadata.name%3D%3Dm", "metadata.namespace!%3Dx,metadata.name%3Dm",
        "metadata.name%3Dm,metadata.name%3Dn"}) {
    EXPECT_EQ(Do("GET", maps + one).status, 200) << one;
  }
  for (const char* const other : {"metadata.name!%3Dm", "metadata.name%3Dn,metadata.name%3Dm"}) {
    EXPECT_EQ(Do("GET", maps + other).status, 403) << other;
  }
  EXPECT_THAT(Message(Do("GET", maps + "metadata.name%3Da/b")),
              ::testing::StartsWith("configmaps is forbidden"));
}

TEST_F(AuthorizerTest, WhatFollowsASubresourceNeedsNoRight) {
  Allow(R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods/proxy"]}])", kJane);
  As("jane");
  EXPECT_EQ(Do("GET", "/api/v1/namespaces/default/pods/p/proxy/a/b").status, 404);
  EXPECT_THAT(Message(Do("POST", "/api/v1/namespaces/default/pods/p/proxy/a/b")),
              HasSubstr("resource \"pods/proxy\" in"));
}

TEST_F(AuthorizerTest, ReviewsAnswerTruly) {
  Allow(R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}])", kJane);
  As("jane");
  const auto may = [&](const std::string& verb) {
    const JsonTree answer =
        Json(Do("POST", kAccessReviews,
                R"({"spec":{"resourceAttributes":{"namespace":"default","verb":")" + verb +
                    R"(","resource":"pods"}}})"));
    return At(answer, {"status", "allowed"});
  };
  EXPECT_EQ(may("get"), "true");
  EXPECT_EQ(may("delete"), "false");
  const JsonTree rules = Json(Do("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
                                 R"({"spec":{"namespace":"default"}})"));
  EXPECT_THAT(At(rules, {"status", "resourceRules"}), HasSubstr(R"("resources":["pods"])"));
  EXPECT_EQ(Do("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
               R"({"spec":{"user":"bob","resourceAttributes":{"verb":"get","resource":"pods"}}})")
                .status,
            403);
  As("admin");
  const JsonTree bob =
      Json(Do("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
              R"({"spec":{"user":"bob","resourceAttributes":{"verb":"get","resource":"pods"}}})"));
  EXPECT_EQ(At(bob, {"status", "allowed"}), "false");
}

TEST_F(AuthorizerTest, ImpersonationIsChecked) {
  Allow(R"([{"verbs":["get"],"apiGroups":[""],"resources":["configmaps"]}])", kJane);
  headers_.emplace_back("Impersonate-User", "jane");
  headers_.emplace_back("Impersonate-Group", "ops");
  EXPECT_EQ(Do("GET", std::string(kMaps) + "/m").status, 404);
  EXPECT_EQ(Do("GET", kMaps).status, 403);
  const JsonTree self = Json(Do("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}"));
  EXPECT_EQ(At(self, {"status", "userInfo", "username"}), "jane");
  EXPECT_EQ(At(self, {"status", "userInfo", "groups"}), R"(["ops","system:authenticated"])");
  As("bob");
  headers_.emplace_back("Impersonate-User", "jane");
  EXPECT_EQ(
      Message(Do("GET", kMaps)),
      "users \"jane\" is forbidden: User \"bob\" cannot impersonate resource \"users\" in API "
      "group \"\" at the cluster scope");
}

class ImpersonationTest : public AuthorizerTest {
 protected:
  /// Returns the answer about the administrator with these additional headers.
  http::Response Self(std::vector<std::pair<std::string, std::string>> headers) {
    headers_.resize(1);
    headers_.insert(headers_.end(), headers.begin(), headers.end());
    return Do("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}");
  }
  std::string Groups(std::vector<std::pair<std::string, std::string>> headers) {
    return At(Json(Self(std::move(headers))), {"status", "userInfo", "groups"});
  }
};

TEST_F(ImpersonationTest, GivesTheGroupsOfTheUser) {
  EXPECT_EQ(Groups({{"Impersonate-User", "system:serviceaccount:a:b"}}),
            R"(["system:serviceaccounts","system:serviceaccounts:a","system:authenticated"])");
  EXPECT_EQ(Groups({{"Impersonate-User", "system:serviceaccount:A:b"}}),
            R"(["system:authenticated"])");
  EXPECT_EQ(Groups({{"Impersonate-User", ""}}), R"(["system:masters","system:authenticated"])");
  // This user may not ask about itself, so the refusal shows the groups.
  EXPECT_EQ(Self({{"Impersonate-User", "system:anonymous"}}).status, 403);
  EXPECT_EQ(
      Self({{"Impersonate-User", "jane"}, {"Impersonate-Group", "system:unauthenticated"}}).status,
      403);
  EXPECT_EQ(Self({{"Impersonate-Group", "ops"}}).status, 400);
  EXPECT_EQ(Self({{"Impersonate-User", ""}, {"Impersonate-Uid", "1"}}).status, 400);
}

TEST_F(ImpersonationTest, AsksForTheUserFirst) {
  As("bob");
  EXPECT_THAT(Message(Self({{"Impersonate-Group", "ops"},
                            {"Impersonate-Extra-Scopes", "x"},
                            {"Impersonate-User", "j<n>"}})),
              ::testing::StartsWith("users \"j<n>\" is forbidden"));
}

TEST_F(ImpersonationTest, KeysOfExtraAreDecoded) {
  Allow(R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}])", kJane);
  ASSERT_EQ(Do("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles",
               R"({"metadata":{"name":"act"},"rules":[
                   {"verbs":["impersonate"],"apiGroups":[""],"resources":["users"]}]})")
                .status,
            201);
  ASSERT_EQ(Do("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
               R"({"metadata":{"name":"act"},"subjects":[{"kind":"User","name":"bob"}],
                   "roleRef":{"kind":"ClusterRole","name":"act"}})")
                .status,
            201);
  As("bob");
  EXPECT_THAT(Message(Self(
                  {{"Impersonate-User", "jane"}, {"Impersonate-Extra-Example.com%2fScopes", "x"}})),
              HasSubstr("resource \"userextras/example.com/scopes\" in"));
}

TEST_F(AuthorizerTest, RefusalsTellOfRolesThatAreNotThere) {
  ASSERT_EQ(Do("POST", kBindings,
               R"({"metadata":{"name":"b"},"subjects":[{"kind":"User","name":"j<n>"}],
                   "roleRef":{"kind":"Role","name":"gone"}})")
                .status,
            201);
  headers_.emplace_back("Impersonate-User", "j<n>");
  EXPECT_EQ(Message(Do("GET", kMaps)),
            "configmaps is forbidden: User \"j&lt;n&gt;\" cannot list resource \"configmaps\" in "
            "API group \"\" in the namespace \"default\": RBAC: "
            "role.rbac.authorization.k8s.io \"gone\" not found");
  const auto rules = [this](const std::string& spec) {
    return Do("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
              R"({"spec":)" + spec + "}");
  };
  EXPECT_EQ(At(Json(rules(R"({"namespace":"default"})")), {"status", "evaluationError"}),
            "role.rbac.authorization.k8s.io \"gone\" not found");
  EXPECT_EQ(rules("{}").status, 400);
}

TEST_F(AuthorizerTest, OneCheckOfHealthNeedsARight) {
  EXPECT_EQ(Do("GET", "/readyz/ping").status, 200);
  As("jane");
  EXPECT_EQ(Do("GET", "/readyz/ping").status, 403);
  EXPECT_EQ(Do("GET", "/readyz").status, 200);
  EXPECT_EQ(Do("GET", "/version/").body, Do("GET", "/version").body);
}

TEST_F(AuthorizerTest, RolesForPeopleHaveEachOthersRules) {
  ASSERT_EQ(Do("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles",
               R"({"metadata":{"name":"bolts","labels":{
                     "rbac.authorization.k8s.io/aggregate-to-view":"true"}},
                   "rules":[{"verbs":["get"],"apiGroups":["example.com"],"resources":["bolts"]}]})")
                .status,
            201);
  for (const char* const role : {"view", "edit", "admin"}) {
    ASSERT_EQ(Do("POST", kBindings,
                 R"({"metadata":{"name":")" + std::string(role) +
                     R"("},"subjects":[{"kind":"User","name":")" + role +
                     R"("}],"roleRef":{"kind":"ClusterRole","name":")" + role + R"("}})")
                  .status,
              201);
  }
  const auto may = [this](const std::string& user, const std::string& verb,
                          const std::string& group, const std::string& resource) {
    return At(Json(Do("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
                      R"({"spec":{"user":")" + user + R"(","resourceAttributes":{"verb":")" + verb +
                          R"(","group":")" + group + R"(","resource":")" + resource +
                          R"(","namespace":"default","name":"x"}}})")),
              {"status", "allowed"}) == "true";
  };
  for (const char* const role : {"view", "edit", "admin"}) {
    EXPECT_TRUE(may(role, "get", "example.com", "bolts")) << role;
    EXPECT_FALSE(may(role, "update", "", "resourcequotas")) << role;
    EXPECT_FALSE(may(role, "create", "discovery.k8s.io", "endpointslices")) << role;
  }
  EXPECT_TRUE(may("edit", "create", "", "secrets"));
  EXPECT_FALSE(may("view", "get", "", "secrets"));
  EXPECT_TRUE(may("admin", "create", "rbac.authorization.k8s.io", "roles"));
  EXPECT_FALSE(may("edit", "create", "rbac.authorization.k8s.io", "roles"));
}

TEST_F(AuthorizerTest, NobodyGrantsWhatTheyDoNotHave) {
  Allow(R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"]},
            {"verbs":["create","update","get"],"apiGroups":["rbac.authorization.k8s.io"],"resources":["roles","rolebindings"]}])",
        kJane);
  As("jane");
  const auto make = [&](const std::string& name, const std::string& resource) {
    return Do("POST", kRoles,
              R"({"metadata":{"name":")" + name +
                  R"("},"rules":[{"verbs":["get"],"apiGroups":[""],"resources":[")" + resource +
                  R"("]}]})");
  };
  EXPECT_EQ(make("p", "pods").status, 201);
  const http::Response refused = make("s", "secrets");
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(Message(refused),
            "roles.rbac.authorization.k8s.io \"s\" is forbidden: user \"jane\" "
            "(groups=[\"devs\" \"ops\" \"system:authenticated\"]) is attempting to grant RBAC "
            "permissions not currently held:\n{APIGroups:[\"\"], Resources:[\"secrets\"], "
            "Verbs:[\"get\"]}");
  EXPECT_EQ(
      Do("PUT", std::string(kRoles) + "/p",
         R"({"metadata":{"name":"p"},"rules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]})")
          .status,
      403);
  const auto bind = [&](const std::string& role) {
    return Do("POST", kBindings,
              R"({"metadata":{"name":")" + role +
                  R"("},"subjects":[{"kind":"User","name":"bob"}],)" +
                  R"("roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":")" +
                  role + R"("}})")
        .status;
  };
  EXPECT_EQ(bind("cluster-admin"), 403);
  EXPECT_EQ(bind("view"), 403);
  As("admin");
  EXPECT_EQ(bind("view"), 201);
  As("bob");
  EXPECT_EQ(Do("GET", kMaps).status, 200);
  EXPECT_EQ(Do("GET", "/api/v1/namespaces/default/secrets").status, 403);
}

/// Other people's manifests bind to these roles, even where everybody may do everything.
class WithoutRolesTest : public testing::ApiFixture {};

TEST_F(WithoutRolesTest, TheRolesOfEveryClusterAreThere) {
  for (const char* const name : {"cluster-admin", "admin", "edit", "view"}) {
    EXPECT_EQ(
        Do("GET", std::string("/apis/rbac.authorization.k8s.io/v1/clusterroles/") + name).status,
        200)
        << name;
  }
  EXPECT_EQ(
      Do("GET", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/cluster-admin").status,
      200);
}

TEST(ParseTokenFile, ReadsTokensUsersAndGroups) {
  const auto tokens = ParseTokenFile("# tokens\n\na,jane,1,\"x, y\"\r\nb,bob,2");
  ASSERT_TRUE(tokens);
  ASSERT_EQ(tokens->size(), 2U);
  EXPECT_EQ((*tokens)[0].user, (User{.name = "jane", .groups = {"x", "y"}, .uid = "1"}));
  EXPECT_EQ((*tokens)[1].token.view(), "b");
  const auto bad = ParseTokenFile("a,jane,1\nsecret,bob\n");
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message, HasSubstr("line 2"));
  EXPECT_THAT(bad.error().message, ::testing::Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace kubexx::apiserver
