// Tests the ways around the rule that nobody can give rights that they do not have.
#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/authn/token_file.h"
#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

using ::testing::HasSubstr;

constexpr const char* kRbac = "/apis/rbac.authorization.k8s.io/v1";
constexpr const char* kClusterRoles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
constexpr const char* kClusterBindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
constexpr const char* kLocalReviews =
    "/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews";
constexpr const char* kApply = "application/apply-patch+yaml";

ApiOptions WithJane() {
  ApiOptions options;
  options.token = apimachinery::Bytes(std::string("admin-token"));
  options.tokens = *ParseTokenFile("jane-token,jane,1\n");
  options.rbac = true;
  return options;
}

/// Jane may write everything of RBAC, and read ConfigMaps.
class EscalationTest : public testing::ApiFixture {
 protected:
  EscalationTest() : ApiFixture(WithJane()) {
    As("admin");
    MakeRole("writer", R"([{"verbs":["get","create","update","patch"],
                            "apiGroups":["rbac.authorization.k8s.io"],"resources":["*"]},
                           {"verbs":["get"],"apiGroups":[""],"resources":["configmaps"]}])");
    MakeRole("secrets", R"([{"verbs":["get"],"apiGroups":[""],"resources":["secrets"]}])");
    MakeRole("maps", R"([{"verbs":["get"],"apiGroups":[""],"resources":["configmaps"]}])");
    EXPECT_EQ(Bind("jane", "jane", "writer").status, 201);
    As("jane");
  }
  void As(const std::string& user) { headers_ = {{"Authorization", "Bearer " + user + "-token"}}; }
  void MakeRole(const std::string& name, const std::string& rules) {
    const http::Response made = Do(
        "POST", kClusterRoles, R"({"metadata":{"name":")" + name + R"("},"rules":)" + rules + "}");
    EXPECT_EQ(made.status, 201) << made.body;
  }
  http::Response Bind(const std::string& name, const std::string& user, const std::string& role) {
    return Do("POST", kClusterBindings,
              R"({"metadata":{"name":")" + name + R"("},"subjects":[{"kind":"User","name":")" +
                  user + R"("}],"roleRef":{"apiGroup":"rbac.authorization.k8s.io",)" +
                  R"("kind":"ClusterRole","name":")" + role + R"("}})");
  }
  static std::string Role(const std::string& name) {
    return std::string(kClusterRoles) + "/" + name;
  }
  static constexpr const char* kLabels = R"({"metadata":{"labels":{"a":"b"}}})";
};

TEST_F(EscalationTest, LabelsMakeARolePartOfOthers) {
  const http::Response refused = Do("PATCH", Role("secrets"), kLabels, kMergePatch);
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(Message(refused),
            "clusterroles.rbac.authorization.k8s.io \"secrets\" is forbidden: user \"jane\" "
            "(groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not "
            "currently held:\n{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\"]}");
  codec::JsonTree role = Json(Do("GET", Role("secrets")));
  role["metadata"]["labels"]["a"] = "b";
  EXPECT_EQ(Do("PUT", Role("secrets"), role.ToJson()).status, 403);
  EXPECT_EQ(Do("PATCH", Role("secrets") + "?fieldManager=f",
               R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole",
                   "metadata":{"name":"secrets","labels":{"a":"b"}}})",
               kApply)
                .status,
            403);
  EXPECT_EQ(Do("PATCH", Role("maps"), kLabels, kMergePatch).status, 200);
}

TEST_F(EscalationTest, TheGarbageCollectorNeedsNoRights) {
  EXPECT_EQ(
      Do("PATCH", Role("secrets"), R"({"metadata":{"finalizers":["example.com/f"]}})", kMergePatch)
          .status,
      200);
}

TEST_F(EscalationTest, AggregationNeedsEverything) {
  const http::Response refused =
      Do("POST", kClusterRoles,
         R"({"metadata":{"name":"all"},"aggregationRule":{"clusterRoleSelectors":[{}]}})");
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(Message(refused),
            "clusterroles.rbac.authorization.k8s.io \"all\" is forbidden: must have cluster-admin "
            "privileges to use the aggregationRule");
  // The rule holds for ending the aggregation, too.
  EXPECT_EQ(Do("PATCH", Role("view"), R"({"aggregationRule":null})", kMergePatch).status, 403);
}

TEST_F(EscalationTest, ABindingWaitsForNoRole) {
  const http::Response refused = Bind("b", "jane", "later");
  EXPECT_EQ(refused.status, 404);
  EXPECT_EQ(Message(refused), "clusterrolebindings.rbac.authorization.k8s.io \"later\" not found");
  EXPECT_EQ(Do("POST", std::string(kRbac) + "/namespaces/default/rolebindings",
               R"({"metadata":{"name":"b"},"subjects":[{"kind":"User","name":"jane"}],
                   "roleRef":{"kind":"Role","name":"later"}})")
                .status,
            404);
  As("admin");
  EXPECT_EQ(Bind("b", "jane", "later").status, 201);
}

TEST_F(EscalationTest, TheRightToBindIsOfTheGroupAndKindThatABindingNames) {
  As("admin");
  MakeRole("binder", R"([{"verbs":["bind"],"apiGroups":["rbac.authorization.k8s.io"],
                          "resources":["clusterroles"]}])");
  ASSERT_EQ(Bind("binder", "jane", "binder").status, 201);
  As("jane");
  EXPECT_EQ(Bind("b", "bob", "secrets").status, 201);
  const auto bind = [this](const std::string& role) {
    return Do("POST", std::string(kRbac) + "/namespaces/default/rolebindings",
              R"({"metadata":{"name":"b"},"roleRef":)" + role + "}")
        .status;
  };
  EXPECT_EQ(bind(R"({"apiGroup":"example.com","kind":"ClusterRole","name":"secrets"})"), 403);
  EXPECT_EQ(bind(R"({"kind":"Foo","name":"secrets"})"), 404);
  EXPECT_EQ(bind(R"({"kind":"Role","name":""})"), 400);
  EXPECT_EQ(bind(R"({"kind":"Role","name":"a/b"})"), 400);
}

TEST_F(EscalationTest, RefusalsTellOfRolesThatAreNotThere) {
  As("admin");
  ASSERT_EQ(Bind("old", "jane", "gone").status, 201);
  As("jane");
  EXPECT_THAT(Message(Bind("b", "bob", "secrets")),
              HasSubstr("Verbs:[\"get\"]}; resolution errors: "
                        "[clusterrolebindings.rbac.authorization.k8s.io \"gone\" not found]"));
}

TEST_F(EscalationTest, AnObjectOfAnotherNamespaceIsNoAttempt) {
  EXPECT_EQ(Do("POST", std::string(kRbac) + "/namespaces/default/roles",
               R"({"metadata":{"name":"r","namespace":"kube-system"},
                   "rules":[{"verbs":["get"],"apiGroups":[""],"resources":["secrets"]}]})")
                .status,
            400);
}

TEST_F(EscalationTest, WhatABindingRefersToStays) {
  As("admin");
  const http::Response refused = Do("PATCH", std::string(kClusterBindings) + "/jane",
                                    R"({"roleRef":{"name":"cluster-admin"}})", kMergePatch);
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(Message(refused),
            "ClusterRoleBinding.rbac.authorization.k8s.io \"jane\" is invalid: roleRef: Invalid "
            "value: {\"APIGroup\":\"rbac.authorization.k8s.io\",\"Kind\":\"ClusterRole\",\"Name\":"
            "\"cluster-admin\"}: cannot change roleRef");
}

TEST_F(EscalationTest, ALabelOnABindingIsAGrantToo) {
  As("admin");
  ASSERT_EQ(Bind("b", "bob", "secrets").status, 201);
  As("jane");
  EXPECT_EQ(Do("PATCH", std::string(kClusterBindings) + "/b", kLabels, kMergePatch).status, 403);
}

TEST_F(EscalationTest, BadBindingsAndRulesAreRefused) {
  As("admin");
  EXPECT_EQ(
      Message(Do("POST", kClusterBindings,
                 R"({"metadata":{"name":"m"},"subjects":[{"kind":"Foo","name":"jane"},
                     {"kind":"User","apiGroup":"x","name":""},{"kind":"ServiceAccount","name":"a"}],
                     "roleRef":{"apiGroup":"x","kind":"Role","name":""}})")),
      "ClusterRoleBinding.rbac.authorization.k8s.io \"m\" is invalid: [roleRef.apiGroup: "
      "Unsupported value: \"x\": supported values: \"rbac.authorization.k8s.io\", roleRef.kind: "
      "Unsupported value: \"Role\": supported values: \"ClusterRole\", roleRef.name: Required "
      "value, subjects[0].kind: Unsupported value: \"Foo\": supported values: "
      "\"ServiceAccount\", \"User\", \"Group\", subjects[1].name: Required value, "
      "subjects[1].apiGroup: Unsupported value: \"x\": supported values: "
      "\"rbac.authorization.k8s.io\", subjects[2].namespace: Required value]");
  EXPECT_EQ(Message(Do("POST", kClusterRoles,
                       R"({"metadata":{"name":"m"},"rules":[{"resources":["a"]},{"verbs":["get"]},
                           {"verbs":["get"],"nonResourceURLs":["/a"],"resources":["b"]}]})")),
            "ClusterRole.rbac.authorization.k8s.io \"m\" is invalid: [rules[0].verbs: Required "
            "value: verbs must contain at least one value, rules[0].apiGroups: Required value: "
            "resource rules must supply at least one api group, rules[1].apiGroups: Required "
            "value: resource rules must supply at least one api group, rules[1].resources: "
            "Required value: resource rules must supply at least one resource, "
            "rules[2].nonResourceURLs: Invalid value: [\"/a\"]: rules cannot apply to both regular "
            "resources and non-resource URLs]");
}

TEST_F(EscalationTest, AccountsAndRolesHaveNames) {
  As("admin");
  EXPECT_THAT(
      Message(Do("POST", kClusterBindings,
                 R"({"metadata":{"name":"m"},"roleRef":{"kind":"ClusterRole","name":"a/b"}})")),
      HasSubstr("roleRef.name: Invalid value: \"a/b\": may not contain '/'"));
  EXPECT_THAT(Message(Do("POST", kClusterBindings,
                         R"({"metadata":{"name":"m"},"roleRef":{"kind":"ClusterRole","name":"a"},
                             "subjects":[{"kind":"ServiceAccount","name":"Not Good",
                                          "namespace":"a"}]})")),
              HasSubstr("subjects[0].name: Invalid value: \"Not Good\": a lowercase RFC 1123 "));
}

TEST_F(EscalationTest, ApplyCreatesWithTheRightToCreateOnly) {
  As("admin");
  MakeRole("patcher", R"([{"verbs":["get","patch"],"apiGroups":[""],"resources":["configmaps"]}])");
  ASSERT_EQ(Bind("patcher", "jane", "patcher").status, 201);
  As("jane");
  const std::string path = "/api/v1/namespaces/default/configmaps/m";
  const std::string config = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"}})";
  const http::Response refused = Do("PATCH", path + "?fieldManager=f", config, kApply);
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(Message(refused),
            "configmaps \"m\" is forbidden: User \"jane\" cannot create resource \"configmaps\" in "
            "API group \"\" in the namespace \"default\"");
  As("admin");
  EXPECT_EQ(Do("PATCH", path + "?fieldManager=f", config, kApply).status, 201);
  As("jane");
  EXPECT_EQ(Do("PATCH", path + "?fieldManager=f", config, kApply).status, 200);
}

TEST_F(EscalationTest, ASelectorNamesNothingButWhatIsRead) {
  As("admin");
  MakeRole("own", R"([{"verbs":["*"],"apiGroups":[""],"resources":["configmaps"],
                       "resourceNames":["mine"]}])");
  ASSERT_EQ(Bind("own", "jane", "own").status, 201);
  const std::string maps = "/api/v1/namespaces/default/configmaps";
  ASSERT_EQ(Do("POST", maps, R"({"metadata":{"name":"mine"}})").status, 201);
  As("jane");
  const std::string selected = maps + "?fieldSelector=metadata.name%3Dmine";
  EXPECT_EQ(Do("GET", selected).status, 200);
  EXPECT_EQ(Do("POST", selected, R"({"metadata":{"name":"other"}})").status, 403);
  const http::Response refused = Do("DELETE", selected);
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(Message(refused),
            "configmaps is forbidden: User \"jane\" cannot deletecollection resource "
            "\"configmaps\" in API group \"\" in the namespace \"default\"");
}

/// A user who may do everything in one namespace gets no rights in another one by a path through
/// their own.
TEST_F(EscalationTest, ANamespaceIsInNoOther) {
  As("admin");
  ASSERT_EQ(Do("POST", "/api/v1/namespaces", R"({"metadata":{"name":"other"}})").status, 201);
  ASSERT_EQ(Do("POST", std::string(kRbac) + "/namespaces/default/rolebindings",
               R"({"metadata":{"name":"all"},"subjects":[{"kind":"User","name":"jane"}],
                   "roleRef":{"kind":"ClusterRole","name":"cluster-admin"}})")
                .status,
            201);
  const std::string within = "/api/v1/namespaces/default/namespaces";
  const std::string object =
      R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"other"},"spec":{}})";
  for (const char* const user : {"jane", "admin"}) {
    As(user);
    for (const auto& [method, path] : {std::pair("GET", within),
                                       {"GET", within + "?watch=true"},
                                       {"POST", within},
                                       {"DELETE", within},
                                       {"GET", within + "/other"},
                                       {"PUT", within + "/other"},
                                       {"PUT", within + "/other/status"},
                                       {"PUT", within + "/other/finalize"},
                                       {"GET", within + "/default"},
                                       {"DELETE", within + "/other"}}) {
      EXPECT_EQ(Do(method, path, object).status, 404) << user << ": " << method << " " << path;
    }
  }
  const codec::JsonTree other = Json(Do("GET", "/api/v1/namespaces/other"));
  EXPECT_EQ(At(other, {"status", "phase"}), "Active");
  EXPECT_EQ(At(other, {"spec", "finalizers"}), R"(["kubernetes"])");
  As("jane");
  EXPECT_EQ(Do("GET", "/api/v1/namespaces/default").status, 200);
  EXPECT_EQ(Do("GET", "/api/v1/namespaces/other").status, 403);
}

TEST_F(EscalationTest, AnUpdateCreatesWithTheRightToCreateOnly) {
  As("admin");
  MakeRole("updater", R"([{"verbs":["update"],"apiGroups":["coordination.k8s.io"],
                           "resources":["leases"]}])");
  ASSERT_EQ(Bind("updater", "jane", "updater").status, 201);
  const std::string path = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l";
  As("jane");
  const http::Response refused = Do("PUT", path, R"({"metadata":{"name":"l"}})");
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(Message(refused), HasSubstr("cannot create resource \"leases\""));
  As("admin");
  EXPECT_EQ(Do("PUT", path, R"({"metadata":{"name":"l"}})").status, 201);
}

/// A user who may get every resource may not therefore get an unknown path.
TEST_F(EscalationTest, AReviewOfNoPathIsAboutNoResource) {
  As("admin");
  MakeRole("all", R"([{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}])");
  ASSERT_EQ(Bind("all", "jane", "all").status, 201);
  const auto may = [this](const std::string& attributes) {
    const http::Response answer = Do("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
                                     R"({"spec":{"user":"jane",)" + attributes + "}}");
    return At(Json(answer), {"status", "allowed"});
  };
  EXPECT_EQ(may(R"("nonResourceAttributes":{"verb":"get"})"), "false");
  EXPECT_EQ(may(R"("nonResourceAttributes":{"verb":"get","path":"/a"})"), "false");
  EXPECT_EQ(may(R"("resourceAttributes":{"verb":"get"})"), "true");
}

TEST_F(EscalationTest, ALocalReviewIsAboutItsNamespace) {
  As("admin");
  const auto ask = [this](const std::string& attributes) {
    return Message(Do("POST", kLocalReviews, R"({"spec":{"user":"jane",)" + attributes + "}}"));
  };
  EXPECT_EQ(
      ask(R"("resourceAttributes":{"verb":"get","resource":"pods","namespace":"kube-system"})"),
      ".authorization.k8s.io \"\" is invalid: spec.resourceAttributes.namespace: Invalid "
      "value: \"kube-system\": must match metadata.namespace");
  EXPECT_THAT(ask(R"("resourceAttributes":{"verb":"get","resource":"pods"})"),
              HasSubstr("must match metadata.namespace"));
  EXPECT_THAT(ask(R"("nonResourceAttributes":{"verb":"get","path":"/a"})"),
              HasSubstr("disallowed on this kind of request"));
  EXPECT_EQ(ask(R"("resourceAttributes":{"verb":"get","resource":"pods","namespace":"default"})"),
            "");
}

}  // namespace
}  // namespace kubexx::apiserver
