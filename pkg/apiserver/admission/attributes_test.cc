#include "kubexx/apiserver/admission/attributes.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>

namespace kubexx::apiserver::admission {
namespace {

using codec::JsonTree;

Attributes ForPods(std::string subresource = {}) {
  return {.operation = "CREATE",
          .target = {.resource = {.group = "", .version = "v1", .resource = "pods"},
                     .kind = {.group = "", .version = "v1", .kind = "Pod"}},
          .subresource = std::move(subresource),
          .namespace_ = "default",
          .name = "p"};
}

struct RuleCase {
  const char* name;
  Rule rule;
  std::string subresource{};
  bool matches = true;
};
void PrintTo(const RuleCase& one, std::ostream* out) { *out << one.name; }

class RuleTest : public ::testing::TestWithParam<RuleCase> {};

TEST_P(RuleTest, Matches) {
  const RuleCase& one = GetParam();
  const Attributes attributes = ForPods(one.subresource);
  EXPECT_EQ(MatchesRules({one.rule}, attributes, attributes.target), one.matches);
}

Rule Of(std::vector<std::string> resources) {
  return {.operations = {"CREATE"},
          .groups = {""},
          .versions = {"v1"},
          .resources = std::move(resources)};
}
Rule With(Rule rule, void (*change)(Rule&)) {
  change(rule);
  return rule;
}

INSTANTIATE_TEST_SUITE_P(
    All, RuleTest,
    ::testing::Values(
        RuleCase{"exact", Of({"pods"})}, RuleCase{"one of several", Of({"services", "pods"})},
        RuleCase{"another", Of({"services"}), "", false}, RuleCase{"all", Of({"*"})},
        RuleCase{"all are not their subresources", Of({"*"}), "status", false},
        RuleCase{"nor is one", Of({"pods"}), "status", false},
        RuleCase{"a subresource", Of({"pods/status"}), "status"},
        RuleCase{"a subresource is not the object", Of({"pods/status"}), "", false},
        RuleCase{"all of one", Of({"pods/*"}), "status"},
        RuleCase{"all of one has the object", Of({"pods/*"})},
        RuleCase{"one of all", Of({"*/status"}), "status"},
        RuleCase{"everything", Of({"*/*"}), "eviction"},
        RuleCase{"all operations", With(Of({"pods"}), [](Rule& r) { r.operations = {"*"}; })},
        RuleCase{"another operation",
                 With(Of({"pods"}), [](Rule& r) { r.operations = {"UPDATE", "DELETE"}; }), "",
                 false},
        RuleCase{"all groups", With(Of({"pods"}), [](Rule& r) { r.groups = {"*"}; })},
        RuleCase{"another group", With(Of({"pods"}), [](Rule& r) { r.groups = {"apps"}; }), "",
                 false},
        RuleCase{"another version", With(Of({"pods"}), [](Rule& r) { r.versions = {"v2"}; }), "",
                 false},
        RuleCase{"in a namespace", With(Of({"pods"}), [](Rule& r) { r.scope = "Namespaced"; })},
        RuleCase{"not in the cluster", With(Of({"pods"}), [](Rule& r) { r.scope = "Cluster"; }), "",
                 false}));

TEST(ScopeTest, ANamespaceIsInTheCluster) {
  Attributes attributes = ForPods();
  attributes.target.resource.resource = "namespaces";
  Rule rule = Of({"namespaces"});
  rule.scope = "Cluster";
  EXPECT_TRUE(MatchesRules({rule}, attributes, attributes.target));
  rule.scope = "Namespaced";
  EXPECT_FALSE(MatchesRules({rule}, attributes, attributes.target));
}

TEST(ObjectSelectorTest, TheObjectBeforeOrAfterHasTheLabels) {
  Webhook webhook;
  webhook.object_selector = *JsonTree::Parse(R"({"matchLabels":{"a":"b"}})");
  const JsonTree with = *JsonTree::Parse(R"({"metadata":{"labels":{"a":"b"}}})");
  const JsonTree without = *JsonTree::Parse(R"({"metadata":{}})");
  EXPECT_TRUE(MatchesObjectSelector(webhook, {.object = &with}));
  EXPECT_TRUE(MatchesObjectSelector(webhook, {.object = &without, .old_object = &with}));
  EXPECT_FALSE(MatchesObjectSelector(webhook, {.object = &without, .old_object = &without}));
  EXPECT_FALSE(MatchesObjectSelector(webhook, {}));
  webhook.object_selector =
      *JsonTree::Parse(R"({"matchExpressions":[{"key":"a","operator":"NotIn","values":["b"]}]})");
  EXPECT_FALSE(MatchesObjectSelector(webhook, {.object = &with}));
  EXPECT_TRUE(MatchesObjectSelector(webhook, {.object = &without}));
  webhook.object_selector = JsonTree::Object();
  EXPECT_TRUE(MatchesObjectSelector(webhook, {}));
}

}  // namespace
}  // namespace kubexx::apiserver::admission
