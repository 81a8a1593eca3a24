#include "kubexx/apiserver/rbac/policy.h"

#include <gmock/gmock.h>

#include <string>

namespace kubexx::apiserver::rbac {
namespace {

using codec::JsonTree;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

JsonTree Tree(std::string_view json) {
  auto tree = JsonTree::Parse(json);
  EXPECT_TRUE(tree) << json;
  return tree ? std::move(*tree) : JsonTree();
}

Request Wants(std::string verb, std::string resource, std::string name = {}) {
  Request request;
  request.verb = std::move(verb);
  request.resource = std::move(resource);
  request.namespace_ = "a";
  request.name = std::move(name);
  return request;
}

std::vector<Rule> Rules(std::string_view json) {
  return ReadRules(Tree(R"({"rules":)" + std::string(json) + "}"));
}

TEST(Rule, MatchesVerbsGroupsResourcesAndNames) {
  const Rule rule = Rules(
      R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods","*/scale"],"resourceNames":["x"]}])")
      [0];
  EXPECT_TRUE(rule.Allows(Wants("get", "pods", "x")));
  EXPECT_FALSE(rule.Allows(Wants("get", "pods", "y")));
  EXPECT_FALSE(rule.Allows(Wants("get", "pods")));
  EXPECT_FALSE(rule.Allows(Wants("list", "pods", "x")));
  EXPECT_FALSE(rule.Allows(Wants("get", "secrets", "x")));
  Request sub = Wants("get", "pods", "x");
  sub.subresource = "log";
  EXPECT_FALSE(rule.Allows(sub));
  sub.subresource = "scale";
  EXPECT_TRUE(rule.Allows(sub));
  Request grouped = Wants("get", "pods", "x");
  grouped.group = "apps";
  EXPECT_FALSE(rule.Allows(grouped));
  EXPECT_EQ(
      rule.ToString(),
      R"({APIGroups:[""], Resources:["pods" "*/scale"], ResourceNames:["x"], Verbs:["get"]})");
}

TEST(Rule, PathsMayEndInAStar) {
  const Rule rule =
      Rules(R"([{"verbs":["get"],"nonResourceURLs":["/healthz","/apis/*","/logs/**"]}])")[0];
  Request request;
  request.verb = "get";
  for (const auto& [path, allowed] : {std::pair("/healthz", true),
                                      {"/apis/apps", true},
                                      {"/logs/a", true},
                                      {"/healthz/x", false},
                                      {"/api", false}}) {
    request.path = path;
    EXPECT_EQ(rule.Allows(request), allowed) << path;
  }
}

class PolicyTest : public ::testing::Test {
 protected:
  PolicyTest() {
    policy_.Add(ReadPart(PartKind::kRole, Tree(R"({"metadata":{"name":"reader","namespace":"a"},
        "rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]})")));
    policy_.Add(ReadPart(PartKind::kClusterRole,
                         Tree(R"({"metadata":{"name":"secrets","labels":{"to":"all"}},
        "rules":[{"verbs":["get"],"apiGroups":[""],"resources":["secrets"]}]})")));
    policy_.Add(ReadPart(PartKind::kClusterRole, Tree(R"({"metadata":{"name":"all"},
        "aggregationRule":{"clusterRoleSelectors":[{"matchExpressions":[{"key":"to","operator":"In","values":["all"]}]}]}})")));
    policy_.Add(ReadPart(PartKind::kRoleBinding, Tree(R"({"metadata":{"name":"b","namespace":"a"},
        "roleRef":{"kind":"Role","name":"reader"},
        "subjects":[{"kind":"User","name":"jane"},{"kind":"ServiceAccount","name":"bot"}]})")));
    policy_.Add(ReadPart(PartKind::kRoleBinding, Tree(R"({"metadata":{"name":"c","namespace":"a"},
        "roleRef":{"kind":"ClusterRole","name":"all"},"subjects":[{"kind":"Group","name":"ops"}]})")));
    policy_.Add(ReadPart(PartKind::kClusterRoleBinding, Tree(R"({"metadata":{"name":"d"},
        "roleRef":{"kind":"ClusterRole","name":"gone"},"subjects":[{"kind":"Group","name":"ops"}]})")));
    policy_.Aggregate();
  }
  Policy policy_;
};

TEST_F(PolicyTest, BindingsGiveRolesToSubjects) {
  const User jane{.name = "jane"};
  EXPECT_TRUE(policy_.Decide(jane, Wants("get", "pods")).allowed);
  EXPECT_EQ(policy_.Decide(jane, Wants("get", "pods")).reason,
            "RBAC: allowed by RoleBinding \"b/a\" of Role \"reader\" to User \"jane\"");
  EXPECT_FALSE(policy_.Decide(jane, Wants("get", "secrets")).allowed);
  Request elsewhere = Wants("get", "pods");
  elsewhere.namespace_ = "b";
  EXPECT_FALSE(policy_.Decide(jane, elsewhere).allowed);
  elsewhere.namespace_ = "";
  EXPECT_FALSE(policy_.Decide(jane, elsewhere).allowed);
  EXPECT_TRUE(
      policy_.Decide({.name = "system:serviceaccount:a:bot"}, Wants("get", "pods")).allowed);
  EXPECT_FALSE(
      policy_.Decide({.name = "system:serviceaccount:b:bot"}, Wants("get", "pods")).allowed);
}

TEST_F(PolicyTest, AggregatesHaveTheRulesOfWhatTheySelect) {
  EXPECT_TRUE(policy_.Decide({.name = "x", .groups = {"ops"}}, Wants("get", "secrets")).allowed);
  EXPECT_THAT(policy_.RulesOf({.name = "x", .groups = {"ops"}}, "a").rules, SizeIs(1));
  EXPECT_THAT(policy_.RulesOf({.name = "x", .groups = {"ops"}}, "").rules, IsEmpty());
}

TEST_F(PolicyTest, AggregatesTakeRulesInTheOrderOfTheirSelectors) {
  policy_.Add(
      ReadPart(PartKind::kClusterRole, Tree(R"({"metadata":{"name":"a-role","labels":{"to":"last"}},
      "rules":[{"verbs":["get"],"apiGroups":[""],"resources":["nodes"]}]})")));
  policy_.Add(
      ReadPart(PartKind::kClusterRole,
               Tree(R"({"metadata":{"name":"both"},"aggregationRule":{"clusterRoleSelectors":[
      {"matchLabels":{"to":"all"}},{"matchLabels":{"to":"last"}}]}})")));
  policy_.Aggregate();
  const auto rules =
      policy_.RulesOfReference(Tree(R"({"roleRef":{"kind":"ClusterRole","name":"both"}})"), "");
  ASSERT_TRUE(rules);
  ASSERT_THAT(*rules, SizeIs(2));
  EXPECT_THAT(rules->front().resources, ElementsAre("secrets"));
}

TEST_F(PolicyTest, RefusalsTellOfRolesThatAreNotThere) {
  const User user{.name = "x", .groups = {"ops"}};
  constexpr const char* kGone = "clusterrole.rbac.authorization.k8s.io \"gone\" not found";
  EXPECT_EQ(policy_.Decide(user, Wants("list", "secrets")).reason, std::string("RBAC: ") + kGone);
  EXPECT_EQ(policy_.RulesOf(user, "a").error, kGone);
  EXPECT_EQ(policy_.Decide({.name = "y"}, Wants("list", "secrets")).reason, "");
  policy_.Add(ReadPart(PartKind::kRoleBinding, Tree(R"({"metadata":{"name":"e","namespace":"a"},
      "roleRef":{"kind":"Role","name":"old"},"subjects":[{"kind":"Group","name":"ops"}]})")));
  EXPECT_EQ(policy_.RulesOf(user, "a").error,
            "[" + std::string(kGone) + ", role.rbac.authorization.k8s.io \"old\" not found]");
}

TEST_F(PolicyTest, MastersMayDoEverything) {
  EXPECT_TRUE(
      policy_.Decide({.name = "x", .groups = {"system:masters"}}, Wants("any", "thing")).allowed);
}

}  // namespace
}  // namespace kubexx::apiserver::rbac
