#include "kubexx/apiserver/rbac/policy.h"

#include <gmock/gmock.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

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
    Add(PartKind::kRole, Tree(R"({"metadata":{"name":"reader","namespace":"a"},
        "rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]})"));
    Add(PartKind::kClusterRole, Tree(R"({"metadata":{"name":"secrets","labels":{"to":"all"}},
        "rules":[{"verbs":["get"],"apiGroups":[""],"resources":["secrets"]}]})"));
    Add(PartKind::kClusterRole, Tree(R"({"metadata":{"name":"all"},
        "aggregationRule":{"clusterRoleSelectors":[{"matchExpressions":[{"key":"to","operator":"In","values":["all"]}]}]}})"));
    Add(PartKind::kRoleBinding, Tree(R"({"metadata":{"name":"b","namespace":"a"},
        "roleRef":{"kind":"Role","name":"reader"},
        "subjects":[{"kind":"User","name":"jane"},{"kind":"ServiceAccount","name":"bot"}]})"));
    Add(PartKind::kRoleBinding, Tree(R"({"metadata":{"name":"c","namespace":"a"},
        "roleRef":{"kind":"ClusterRole","name":"all"},"subjects":[{"kind":"Group","name":"ops"}]})"));
    Add(PartKind::kClusterRoleBinding, Tree(R"({"metadata":{"name":"d"},
        "roleRef":{"kind":"ClusterRole","name":"gone"},"subjects":[{"kind":"Group","name":"ops"}]})"));
  }
  void Add(PartKind kind, const codec::JsonTree& object) {
    Parts& parts = parts_[kind];
    parts.push_back(ReadPart(kind, object));
    policy_.Take(kind, std::make_shared<const Parts>(parts));
  }

  std::map<PartKind, Parts> parts_;
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

TEST_F(PolicyTest, RulesAreToldOncePerBindingUntilTheyAreMany) {
  std::string rules;
  for (int i = 0; i < 8'000; ++i) {
    rules += (i == 0 ? "" : ",") + (R"({"apiGroups":[""],"resources":["r)" + std::to_string(i) +
                                    R"("],"verbs":["get"]})");
  }
  Add(PartKind::kRole,
      Tree(R"({"metadata":{"name":"large","namespace":"many"},"rules":[)" + rules + "]}"));
  for (const char* const name : {"one", "two", "three", "four"}) {
    Add(PartKind::kRoleBinding,
        Tree(
            R"({"metadata":{"name":")" + std::string(name) +
            R"(","namespace":"many"},"roleRef":{"kind":"Role","name":"large"},"subjects":[{"kind":"User","name":"m"}]})"));
  }
  EXPECT_THAT(policy_.RulesOf({.name = "m"}, "many").rules, SizeIs(16'000));
}

TEST_F(PolicyTest, AggregatesTakeRulesInTheOrderOfTheirSelectors) {
  Add(PartKind::kClusterRole, Tree(R"({"metadata":{"name":"a-role","labels":{"to":"last"}},
      "rules":[{"verbs":["get"],"apiGroups":[""],"resources":["nodes"]}]})"));
  Add(PartKind::kClusterRole,
      Tree(R"({"metadata":{"name":"both"},"aggregationRule":{"clusterRoleSelectors":[
      {"matchLabels":{"to":"all"}},{"matchLabels":{"to":"last"}}]}})"));
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
  Add(PartKind::kRoleBinding, Tree(R"({"metadata":{"name":"e","namespace":"a"},
      "roleRef":{"kind":"Role","name":"old"},"subjects":[{"kind":"Group","name":"ops"}]})"));
  EXPECT_EQ(policy_.RulesOf(user, "a").error,
            "[" + std::string(kGone) + ", role.rbac.authorization.k8s.io \"old\" not found]");
}

TEST_F(PolicyTest, ARefusalNamesSoManyRolesThatAreNotThere) {
  for (int i = 0; i < 150; ++i) {
    const std::string number = std::to_string(1000 + i);
    Add(PartKind::kRoleBinding, Tree(R"({"metadata":{"name":"b)" + number + R"(","namespace":"a"},
        "roleRef":{"kind":"Role","name":"r)" +
                                     number + R"("},"subjects":[{"kind":"User","name":"u"}]})"));
  }
  const std::string error = policy_.RulesOf({.name = "u"}, "a").error;
  EXPECT_NE(error.find("\"r1099\" not found, and others]"), std::string::npos) << error;
  EXPECT_EQ(error.find("r1100"), std::string::npos);
}

TEST_F(PolicyTest, ACopyMayHaveOtherObjects) {
  const User jane{.name = "jane"};
  Policy other = policy_;
  other.Take(PartKind::kRole, std::make_shared<const Parts>());
  EXPECT_FALSE(other.Decide(jane, Wants("get", "pods")).allowed);
  EXPECT_TRUE(other.Decide({.name = "x", .groups = {"ops"}}, Wants("get", "secrets")).allowed);
  EXPECT_TRUE(policy_.Decide(jane, Wants("get", "pods")).allowed);
}

/// Of many in several namespaces, in whatever order they come.
TEST_F(PolicyTest, EachNamespaceHasItsOwn) {
  for (const char* const where : {"b", "a-b", "a", "a.c", "aa"}) {
    const std::string meta =
        R"({"metadata":{"name":"r","namespace":")" + std::string(where) + "\"}";
    Add(PartKind::kRole,
        Tree(meta + R"(,"rules":[{"verbs":["list"],"apiGroups":[""],"resources":["r-)" + where +
             R"("]}]})"));
    Add(PartKind::kRoleBinding,
        Tree(meta +
             R"(,"roleRef":{"kind":"Role","name":"r"},"subjects":[{"kind":"User","name":"u"}]})"));
  }
  for (const char* const where : {"b", "a-b", "a", "a.c", "aa"}) {
    const auto rules = policy_.RulesOf({.name = "u"}, where).rules;
    ASSERT_THAT(rules, SizeIs(1)) << where;
    EXPECT_THAT(rules[0].resources, ElementsAre("r-" + std::string(where)));
  }
}

TEST_F(PolicyTest, MastersMayDoEverything) {
  EXPECT_TRUE(
      policy_.Decide({.name = "x", .groups = {"system:masters"}}, Wants("any", "thing")).allowed);
}

}  // namespace
}  // namespace kubexx::apiserver::rbac
