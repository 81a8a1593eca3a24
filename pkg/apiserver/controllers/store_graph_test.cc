#include "kubexx/apiserver/controllers/store_graph.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "kubexx/apiserver/endpoints/testing/forwarding_storage.h"
#include "kubexx/apiserver/storage/memory.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::apiserver::controllers {
namespace {

/// A storage like an etcd that has compacted the state before each change.
class ForgetfulStorage final : public apiserver::testing::ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;

  Result<void> Watch(std::string_view prefix, const storage::WatchOptions& options, EventSink sink,
                     std::stop_token stop) override {
    return ForwardingStorage::Watch(
        prefix, options,
        [&sink](const std::shared_ptr<const storage::Event>& event) {
          auto forgetful = std::make_shared<storage::Event>(*event);
          forgetful->prev = {};
          return sink(std::move(forgetful));
        },
        std::move(stop));
  }
};

TEST(StoreGraphTest, WhatWasDeletedUnseenIsGone) {
  const auto memory = *storage::NewMemoryStorage({});
  ForgetfulStorage forgetful(*memory);
  base::testing::FakeClock clock;
  StoreGraph graph(forgetful, clock);
  const std::string key = "/registry/configmaps/ns/a";
  ASSERT_TRUE(memory->Create(key,
                             R"({"apiVersion":"v1","kind":"ConfigMap",
                                 "metadata":{"name":"a","namespace":"ns","uid":"uid-a"}})",
                             {}));
  const std::jthread follower(
      [&graph](const std::stop_token& stop) { graph.Follow([](const std::string&) {}, stop); });
  ASSERT_TRUE(graph.WaitForSync(base::testing::PatienceEnd().token()));
  ASSERT_TRUE(graph.Find("uid-a").value().has_value());
  ASSERT_TRUE(memory->Delete(key, 0, {}));
  KX_UNTIL(!graph.Find("uid-a").value().has_value()) {
    clock.Advance(std::chrono::seconds(1));
  }
}

/// Counts how often the definitions are read, and keeps the stop of the last read.
class CountingStorage final : public apiserver::testing::ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;

  Result<storage::ListResult> GetList(std::string_view prefix, const storage::ListOptions& options,
                                      ItemSink sink, std::stop_token stop) override {
    ++lists;
    last = stop;
    return ForwardingStorage::GetList(prefix, options, sink, std::move(stop));
  }

  int lists = 0;
  std::stop_token last{};
};

class KindsTest : public ::testing::Test {
 protected:
  using GroupKind = StoreGraph::GroupKind;
  using Scope = StoreGraph::Scope;

  void Define(const std::string& plural, const std::string& rest) {
    ASSERT_TRUE(memory_->Create(
        "/registry/apiextensions.k8s.io/customresourcedefinitions/" + plural + ".example.com",
        R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
            "metadata":{"name":")" +
            plural + R"(.example.com"},)" + rest + "}",
        {}));
  }
  Scope ScopeOf(const std::string& api_version, const std::string& kind) {
    const GroupKind asked = StoreGraph::GroupKindOf(api_version, kind);
    const auto scopes = graph_.ScopesOf({asked}, {});
    EXPECT_TRUE(scopes.has_value());
    return scopes ? scopes->at(asked) : Scope::kNone;
  }

  std::unique_ptr<storage::MemoryStorage> memory_ = *storage::NewMemoryStorage({});
  CountingStorage counting_{*memory_};
  base::testing::FakeClock clock_;
  StoreGraph graph_{counting_, clock_};
};

TEST_F(KindsTest, OnlyAKindThatIsServedHasAScope) {
  Define("as", R"("spec":{"scope":"Cluster","names":{"kind":"A"}})");
  Define("bs", R"("spec":{"scope":"Namespaced","names":{"kind":"A"}},
                  "status":{"acceptedNames":{"kind":"B"}})");
  EXPECT_EQ(ScopeOf("example.com/v1", "A"), Scope::kCluster);
  EXPECT_EQ(ScopeOf("example.com/v1", "B"), Scope::kNamespace);
  EXPECT_EQ(ScopeOf("example.com/v1", "C"), Scope::kNone);
  EXPECT_EQ(ScopeOf("v1", "Node"), Scope::kCluster);
  EXPECT_EQ(ScopeOf("apps/v1beta1", "Deployment"), Scope::kNamespace);
  EXPECT_EQ(ScopeOf("extensions/v1beta1", "Deployment"), Scope::kNone);
  EXPECT_EQ(ScopeOf("storagemigration.k8s.io/v1alpha1", "StorageVersionMigration"), Scope::kNone);
  EXPECT_EQ(ScopeOf("authentication.k8s.io/v1", "TokenReview"), Scope::kNone);
}

TEST_F(KindsTest, TheDefinitionsAreReadOnceForAllKinds) {
  Define("as", R"("spec":{"scope":"Cluster","names":{"kind":"A"}})");
  std::set<GroupKind> kinds{{"", "Pod"}, {"apps", "Deployment"}};
  const std::stop_source stop;
  ASSERT_TRUE(graph_.ScopesOf(kinds, stop.get_token()));
  EXPECT_EQ(counting_.lists, 0);
  for (int i = 0; i < 100; ++i) {
    kinds.insert(StoreGraph::GroupKindOf("example.com/v" + std::to_string(i), "A"));
    kinds.insert({"example.com", "K" + std::to_string(i)});
  }
  const auto scopes = graph_.ScopesOf(kinds, stop.get_token());
  ASSERT_TRUE(scopes);
  EXPECT_EQ(scopes->size(), 103U);
  EXPECT_EQ(counting_.lists, 1);
  EXPECT_EQ(counting_.last, stop.get_token());
}

}  // namespace
}  // namespace kubexx::apiserver::controllers
