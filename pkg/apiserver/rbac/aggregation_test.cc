// ClusterRoles that aggregate others: what they give, and what a write costs where there are many.
#include <gmock/gmock.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/apiserver/rbac/policy.h"

namespace kubexx::apiserver::rbac {
namespace {

using codec::JsonTree;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

/// A user to whom all ClusterRoles are bound.
class AggregationTest : public ::testing::Test {
 protected:
  static JsonTree TreeOf(std::string_view json) {
    auto tree = JsonTree::Parse(json);
    EXPECT_TRUE(tree) << json;
    return tree ? std::move(*tree) : JsonTree();
  }
  /// One that gives a resource, and has a label "to".
  void Write(const std::string& name, const std::string& to, const std::string& resource) {
    Set(PartKind::kClusterRole, name,
        R"({"metadata":{"name":")" + name + R"(","labels":{"to":")" + to +
            R"("}},"rules":[{"verbs":["get"],"apiGroups":[""],"resources":[")" + resource +
            R"("]}]})");
  }
  /// One that aggregates those with a label, and has one itself.
  void Aggregate(const std::string& name, const std::string& of, const std::string& to = "none") {
    Set(PartKind::kClusterRole, name,
        R"({"metadata":{"name":")" + name + R"(","labels":{"to":")" + to +
            R"("}},"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"to":")" + of +
            R"("}}]}})");
  }
  void Bind(const std::string& role, const std::string& kind = "ClusterRole") {
    const std::string name = kind + " " + role;
    Set(PartKind::kClusterRoleBinding, name,
        R"({"metadata":{"name":")" + name + R"("},"roleRef":{"kind":")" + kind + R"(","name":")" +
            role + R"("},"subjects":[{"kind":"User","name":"u"}]})");
  }
  void Remove(const std::string& role) {
    objects_[PartKind::kClusterRole].erase(role);
    Publish(PartKind::kClusterRole);
  }
  std::vector<std::string> Resources() const {
    std::vector<std::string> resources;
    for (const Rule& rule : policy_->RulesOf({.name = "u"}, "").rules) {
      resources.push_back(rule.resources.at(0));
    }
    return resources;
  }
  bool MayGet(const std::string& resource) const {
    Request request;
    request.verb = "get";
    request.resource = resource;
    return policy_->Decide({.name = "u"}, request).allowed;
  }

  void Set(PartKind kind, const std::string& name, const std::string& json) {
    objects_[kind].insert_or_assign(name, ReadPart(kind, TreeOf(json)));
    if (publishes_) {
      Publish(kind);
    }
  }
  /// As the server does it: with a copy that others may still have.
  void Publish(PartKind kind) {
    auto parts = std::make_shared<Parts>();
    for (const auto& [name, part] : objects_[kind]) {
      parts->push_back(part);
    }
    auto next = std::make_shared<Policy>(*policy_);
    next->Take(kind, std::move(parts));
    policy_ = std::move(next);
  }

  std::map<PartKind, std::map<std::string, Part>> objects_;
  std::shared_ptr<const Policy> policy_ = std::make_shared<Policy>();
  bool publishes_ = true;
};

TEST_F(AggregationTest, WhatIsWrittenLaterCounts) {
  Write("pods", "all", "pods");
  Aggregate("all", "all");
  Bind("all");
  EXPECT_THAT(Resources(), ElementsAre("pods"));
  Write("nodes", "all", "nodes");
  EXPECT_THAT(Resources(), ElementsAre("nodes", "pods"));
  Write("pods", "all", "pods/log");
  EXPECT_THAT(Resources(), ElementsAre("nodes", "pods/log"));
  Write("pods", "others", "pods/log");
  EXPECT_THAT(Resources(), ElementsAre("nodes"));
  Remove("nodes");
  EXPECT_THAT(Resources(), IsEmpty());
  Aggregate("all", "others");
  EXPECT_THAT(Resources(), ElementsAre("pods/log"));
  Remove("all");
  EXPECT_THAT(Resources(), IsEmpty());
  EXPECT_FALSE(MayGet("pods/log"));
}

TEST_F(AggregationTest, AChainMayBeLongAndARing) {
  for (int i = 0; i < 500; ++i) {
    Aggregate("c" + std::to_string(1000 + i), "l" + std::to_string(i + 1), "l" + std::to_string(i));
  }
  Write("leaf", "l500", "pods");
  Bind("c1000");
  EXPECT_THAT(Resources(), ElementsAre("pods"));
  Write("leaf", "l500", "nodes");
  EXPECT_THAT(Resources(), ElementsAre("nodes"));
  Aggregate("back", "l0", "l500");
  EXPECT_THAT(Resources(), ElementsAre("nodes"));
  Bind("back");
  EXPECT_THAT(Resources(), ElementsAre("nodes", "nodes")) << "by two bindings";
  Write("more", "l250", "pods");
  EXPECT_THAT(Resources(), UnorderedElementsAre("nodes", "pods", "nodes", "pods"));
}

TEST_F(AggregationTest, ARoleOfAnotherKindHidesNone) {
  Write("a", "all", "pods");
  Bind("a", "AnotherKind");
  Bind("a", "Role");
  Bind("a");
  EXPECT_TRUE(MayGet("pods"));
}

TEST_F(AggregationTest, AWriteCostsWhatItChanges) {
  constexpr std::size_t kMany = 300;
  publishes_ = false;
  for (std::size_t i = 0; i < kMany; ++i) {
    const std::string n = std::to_string(i);
    Write("r" + n, "to" + n, "things" + n);
    Aggregate("a" + n, "to" + n);
    Bind("a" + n);
  }
  publishes_ = true;
  Publish(PartKind::kClusterRole);
  Publish(PartKind::kClusterRoleBinding);
  EXPECT_FALSE(MayGet("nothing"));
  const std::size_t first = policy_->ComparedForTest();
  Write("r7", "to7", "things");
  EXPECT_TRUE(MayGet("things"));
  EXPECT_FALSE(MayGet("things7"));
  Write("r8", "to9", "things8");
  EXPECT_TRUE(MayGet("things8"));
  // Twice: each selector with what has changed, and few with all roles.
  EXPECT_LT(policy_->ComparedForTest() - first, 15 * kMany);
}

TEST_F(AggregationTest, WhatNobodyAsksForIsNotFoundOut) {
  for (int i = 0; i < 20; ++i) {
    Write("r" + std::to_string(i), "all", "things");
    Aggregate("a" + std::to_string(i), "all");
  }
  EXPECT_FALSE(MayGet("things"));
  EXPECT_EQ(policy_->ComparedForTest(), 0U);
}

TEST_F(AggregationTest, SeveralMayAskAtATime) {
  for (int i = 0; i < 20; ++i) {
    Write("r" + std::to_string(i), "all", "things" + std::to_string(i));
  }
  Aggregate("all", "all");
  Bind("all");
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this] { EXPECT_TRUE(MayGet("things19")); });
  }
  Policy(*policy_).Take(PartKind::kClusterRole, std::make_shared<const Parts>());
}

}  // namespace
}  // namespace kubexx::apiserver::rbac
