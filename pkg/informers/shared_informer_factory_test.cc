#include "kubexx/informers/shared_informer_factory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <map>
#include <memory>
#include <semaphore>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/logging/testing/capture.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::informers {
namespace {

using api::core::v1::ConfigMap;
using api::core::v1::Node;
using api::core::v1::Secret;
using rest::testing::FakeConnection;
using rest::testing::FakeServer;
using ::testing::Contains;
using ::testing::HasSubstr;

// Serves one object of each type, and then a quiet watch.
class SharedInformerFactoryTest : public ::testing::Test {
 protected:
  void Serve(FakeConnection& connection) {
    while (auto request = connection.ReadRequest()) {
      {
        base::MutexLock lock(mu_);
        targets_.insert(request->target);
        accepts_.insert(request->headers["accept"]);
      }
      if (!forbidden_.empty() && NamespaceIn(request->target) == forbidden_) {
        connection.Respond(403, "application/json",
                           R"({"kind":"Status","reason":"Forbidden","code":403})");
      } else if (request->target.find("sendInitialEvents") != std::string::npos) {
        connection.Respond(422, "application/json",
                           R"({"kind":"Status","reason":"Invalid","code":422})");
      } else if (request->target.find("watch=true") != std::string::npos) {
        connection.RespondChunked(200, "application/json;stream=watch");
        connection.AwaitPeer();
        return;
      } else {
        connection.Respond(
            200, "application/json",
            R"({"kind":")" + ListKindOf(request->target) +
                R"(","metadata":{"resourceVersion":"9"},"items":[{"metadata":{"namespace":")" +
                NamespaceIn(request->target) + R"(","name":"one","resourceVersion":"3"}}]})");
      }
    }
  }
  static std::string ListKindOf(const std::string& target) {
    return target.contains("/nodes")     ? "NodeList"
           : target.contains("/secrets") ? "SecretList"
                                         : "ConfigMapList";
  }
  // Returns the namespace in the path, or "ns" when the path has none.
  static std::string NamespaceIn(const std::string& target) {
    const std::string mark = "/namespaces/";
    const std::size_t at = target.find(mark);
    return at == std::string::npos
               ? "ns"
               : target.substr(at + mark.size(),
                               target.find('/', at + mark.size()) - at - mark.size());
  }
  std::set<std::string> targets() const {
    base::MutexLock lock(mu_);
    return targets_;
  }

  std::string forbidden_;  ///< a namespace; set before requests come
  mutable base::Mutex mu_;
  std::set<std::string> targets_ KX_GUARDED_BY(mu_);
  std::set<std::string> accepts_ KX_GUARDED_BY(mu_);
  FakeServer server_{[this](FakeConnection& connection) { Serve(connection); }};
};

TEST_F(SharedInformerFactoryTest, OneInformerATypeOverOneClient) {
  SharedInformerFactory factory(
      rest::testing::NewClient(server_.Url()),
      {.namespace_ = "ns", .tweak = [](const auto& resource, cache::ListWatchOptions& options) {
         if (resource.plural == "configmaps") {
           options.label_selector = "app=web";
         }
       }});
  const auto configmaps = factory.InformerFor<ConfigMap>();
  EXPECT_EQ(configmaps, factory.InformerFor<ConfigMap>());
  const auto nodes = factory.InformerFor<Node>();
  factory.Start();
  ASSERT_TRUE(factory.WaitForCacheSync(base::testing::PatienceEnd().token()));
  EXPECT_EQ(configmaps->Size(), 1U);
  EXPECT_EQ(factory.ListerFor<ConfigMap>().Get("ns", "one").value()->metadata.resource_version,
            "3");
  EXPECT_EQ(nodes->LastSyncResourceVersion(), "9");
  factory.Shutdown();
  EXPECT_THAT(targets(), Contains(::testing::AllOf(HasSubstr("/api/v1/namespaces/ns/configmaps?"),
                                                   HasSubstr("labelSelector=app%3Dweb"),
                                                   HasSubstr("limit=500"))));
  EXPECT_THAT(targets(), Contains(::testing::AllOf(HasSubstr("/api/v1/nodes?"),
                                                   ::testing::Not(HasSubstr("labelSelector")))));
}

TEST_F(SharedInformerFactoryTest, OneInformerOverSeveralNamespaces) {
  forbidden_ = "secret";
  SharedInformerFactory factory(rest::testing::NewClient(server_.Url()),
                                {.namespaces = {"one", "secret", "two", "one"}});
  const auto configmaps = factory.InformerFor<ConfigMap>();
  const auto nodes = factory.InformerFor<Node>();
  factory.Start();
  ASSERT_TRUE(factory.WaitForCacheSync(base::testing::PatienceEnd().token()))
      << "the forbidden one holds nobody up";
  EXPECT_THAT(configmaps->Keys(),
              ::testing::UnorderedElementsAre(apimachinery::ObjectKey{"one", "one"},
                                              apimachinery::ObjectKey{"two", "one"}));
  EXPECT_EQ(factory.ListerFor<ConfigMap>().List("two").value().size(), 1U);
  EXPECT_EQ(configmaps->CountByIndex(cache::kNamespaceIndex, "one"), 1U);
  EXPECT_EQ(configmaps->LastSyncResourceVersion("two"), "9");
  EXPECT_EQ(nodes->Size(), 1U);
  factory.Shutdown();
}

TEST_F(SharedInformerFactoryTest, ATypeHasNamespacesAndSelectorsOfItsOwn) {
  using Scope = SharedInformerFactory::Scope;
  SharedInformerFactory factory(
      rest::testing::NewClient(server_.Url()),
      {.namespace_ = "ns",
       .list_watch = {.label_selector = "for=all"},
       .by_type = {ForType<ConfigMap>(
           {.namespaces = {{"one", "two"}},
            .label_selector = "app=web",
            .transform = [](cache::Object& object) -> apimachinery::Result<void> {
              object.resource_version = "own";
              return {};
            }})}});
  const auto configmaps = factory.InformerFor<ConfigMap>();
  const auto secrets = factory.InformerFor<Secret>();
  factory.Start();
  ASSERT_TRUE(factory.WaitForCacheSync(base::testing::PatienceEnd().token()));
  EXPECT_EQ(configmaps->Size(), 2U);
  EXPECT_EQ(configmaps->GetRaw({"one", "one"}).value().resource_version, "own");
  EXPECT_EQ(secrets->GetRaw({"ns", "one"}).value().resource_version, "3");
  factory.Shutdown();
  EXPECT_THAT(targets(), Contains(::testing::AllOf(HasSubstr("/namespaces/two/configmaps?"),
                                                   HasSubstr("labelSelector=app%3Dweb"))));
  EXPECT_THAT(targets(), Contains(::testing::AllOf(HasSubstr("/namespaces/ns/secrets?"),
                                                   HasSubstr("labelSelector=for%3Dall"))));
  EXPECT_EQ(factory.ScopeOf(api::ResourceOf<ConfigMap>(), "two"), Scope::kSelected);
  EXPECT_EQ(factory.ScopeOf(api::ResourceOf<ConfigMap>(), "ns"), Scope::kNone);
  EXPECT_EQ(factory.ScopeOf(api::ResourceOf<Secret>(), "ns"), Scope::kSelected);

  const SharedInformerFactory wide(
      rest::testing::NewClient(server_.Url()),
      {.namespace_ = "ns",
       .by_type = {ForType<Secret>({.namespaces = std::vector<std::string>()})}});
  EXPECT_EQ(wide.ScopeOf(api::ResourceOf<Secret>(), "any"), Scope::kAll);
  EXPECT_EQ(wide.ScopeOf(api::ResourceOf<ConfigMap>(), "any"), Scope::kNone);
}

TEST_F(SharedInformerFactoryTest, TheMetadataOfATypeHasAnInformerOfItsOwn) {
  SharedInformerFactory factory(rest::testing::NewClient(server_.Url()));
  const auto metadata = factory.MetadataInformerFor<ConfigMap>();
  EXPECT_EQ(metadata, factory.MetadataInformerFor<ConfigMap>());
  EXPECT_EQ(factory.FindInformer<ConfigMap>(), nullptr);
  EXPECT_EQ(factory.FindUntyped(SharedInformerFactory::MetadataTypeOf<ConfigMap>()), metadata);
  EXPECT_EQ(metadata->name(), "configmaps/metadata");
  factory.Start();
  ASSERT_TRUE(factory.WaitForCacheSync(base::testing::PatienceEnd().token()));
  EXPECT_EQ(metadata->Get({"ns", "one"}).value()->metadata.resource_version, "3");
  factory.Shutdown();
  const base::MutexLock lock(mu_);
  EXPECT_THAT(accepts_, Contains(HasSubstr("as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")));
}

TEST_F(SharedInformerFactoryTest, KnowsWhatItsCachesHave) {
  using Scope = SharedInformerFactory::Scope;
  const apimachinery::ResourceInfo& maps = api::ResourceOf<ConfigMap>();
  const apimachinery::ResourceInfo& nodes = api::ResourceOf<Node>();
  const auto client = rest::testing::NewClient(server_.Url());
  const SharedInformerFactory all(client);
  EXPECT_EQ(all.ScopeOf(maps, "any"), Scope::kAll);
  const SharedInformerFactory one(
      client,
      {.namespace_ = "ns",
       .tweak = [](const apimachinery::ResourceInfo& resource, cache::ListWatchOptions& options) {
         options.field_selector = resource.namespaced ? "" : "metadata.name=one";
       }});
  EXPECT_EQ(one.ScopeOf(maps, "ns"), Scope::kAll);
  EXPECT_EQ(one.ScopeOf(maps, "other"), Scope::kNone);
  EXPECT_EQ(one.ScopeOf(nodes, ""), Scope::kSelected);
  const SharedInformerFactory several(
      client, {.list_watch = {.label_selector = "app=web"}, .namespaces = {"a", "b"}});
  EXPECT_EQ(several.ScopeOf(maps, "b"), Scope::kSelected);
  EXPECT_EQ(several.ScopeOf(maps, "c"), Scope::kNone);
}

// Readers and writers ask for scopes from any thread. If the function were called again and
// returned another result, they would not agree with the informer.
TEST_F(SharedInformerFactoryTest, ATweakIsAskedOnceForEachType) {
  std::map<std::string, int> asked;
  SharedInformerFactory factory(
      rest::testing::NewClient(server_.Url()),
      {.tweak = [&asked](const apimachinery::ResourceInfo& resource,
                         cache::ListWatchOptions&) { ++asked[std::string(resource.plural)]; },
       .namespaces = {"a", "b"}});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(factory.ScopeOf(api::ResourceOf<ConfigMap>(), "a"),
              SharedInformerFactory::Scope::kAll);
    (void)factory.InformerFor<ConfigMap>();
    (void)factory.InformerFor<Node>();
  }
  factory.Remove<Node>();
  (void)factory.InformerFor<Node>();
  EXPECT_THAT(asked, ::testing::ElementsAre(std::pair("configmaps", 1), std::pair("nodes", 1)));
}

TEST_F(SharedInformerFactoryTest, ATweakThatThrewIsAskedAgain) {
  int asked = 0;
  SharedInformerFactory factory(
      rest::testing::NewClient(server_.Url()),
      {.namespace_ = "ns", .tweak = [&asked](const auto&, cache::ListWatchOptions& options) {
         if (++asked == 1) {
           throw std::runtime_error("the configuration cannot be read");
         }
         options.label_selector = "app=web";
       }});
  EXPECT_THROW((void)factory.InformerFor<ConfigMap>(), std::runtime_error);
  const auto configmaps = factory.InformerFor<ConfigMap>();
  EXPECT_EQ(factory.ScopeOf(api::ResourceOf<ConfigMap>(), "ns"),
            SharedInformerFactory::Scope::kSelected);
  factory.Start();
  ASSERT_TRUE(factory.WaitForCacheSync(base::testing::PatienceEnd().token()));
  factory.Shutdown();
  EXPECT_THAT(targets(), Contains(HasSubstr("labelSelector=app%3Dweb")));
  EXPECT_EQ(asked, 2);
}

TEST_F(SharedInformerFactoryTest, ARemovedInformerEndsAlone) {
  SharedInformerFactory factory(rest::testing::NewClient(server_.Url()));
  const auto configmaps = factory.InformerFor<ConfigMap>();
  const auto nodes = factory.InformerFor<Node>();
  factory.Start();
  ASSERT_TRUE(factory.WaitForCacheSync(base::testing::PatienceEnd().token()));
  factory.Remove<Node>();
  factory.Remove<Node>();
  EXPECT_EQ(nodes->Size(), 1U) << "its store can still be read";
  EXPECT_NE(factory.InformerFor<Node>(), nodes);
  EXPECT_EQ(factory.InformerFor<ConfigMap>(), configmaps);
}

TEST_F(SharedInformerFactoryTest, ARemovedInformerNamesWhoStillListensAndDoesNotStartAgain) {
  const logging::testing::Capture log;
  SharedInformerFactory factory(rest::testing::NewClient(server_.Url()));
  const auto nodes = factory.InformerFor<Node>();
  const auto registration = nodes->AddRawHandler("controller of racks",
                                                 [](const cache::SharedInformerBase::RawEvent&) {});
  factory.Start();
  ASSERT_TRUE(factory.WaitForCacheSync(base::testing::PatienceEnd().token()));
  factory.Remove<Node>();
  EXPECT_EQ(log.Count("controller of racks"), 1U);
  nodes->Start();
  EXPECT_TRUE(nodes->HasEnded());
  EXPECT_EQ(log.Count("cannot be started"), 1U);
  factory.InformerFor<Node>()->Start();
  EXPECT_EQ(log.Count("cannot be started"), 1U) << "that is another one";
}

TEST_F(SharedInformerFactoryTest, TheInformerOfMetadataCanBeRemoved) {
  SharedInformerFactory factory(rest::testing::NewClient(server_.Url()));
  const auto whole = factory.InformerFor<Node>();
  const auto metadata = factory.MetadataInformerFor<Node>();
  factory.Start();
  ASSERT_TRUE(factory.WaitForCacheSync(base::testing::PatienceEnd().token()));
  factory.RemoveMetadata<Node>();
  EXPECT_TRUE(metadata->HasEnded());
  EXPECT_NE(factory.MetadataInformerFor<Node>(), metadata);
  EXPECT_EQ(factory.InformerFor<Node>(), whole);
  EXPECT_FALSE(whole->HasEnded());
}

TEST_F(SharedInformerFactoryTest, WhatAHandlerRemovedIsKeptNoLongerThanItRuns) {
  SharedInformerFactory factory(rest::testing::NewClient(server_.Url()));
  std::weak_ptr<cache::SharedInformer<Node>> nodes = factory.InformerFor<Node>();
  const auto registration = nodes.lock()->AddRawHandler(
      "removes", [&](const cache::SharedInformerBase::RawEvent&) { factory.Remove<Node>(); });
  factory.Start();
  KX_AWAIT(factory.FindInformer<Node>() == nullptr);
  KX_AWAIT(nodes.lock()->HasEnded());
  EXPECT_FALSE(nodes.expired());
  (void)factory.InformerFor<ConfigMap>();  // it works, whatever informer is made or removed next
  EXPECT_TRUE(nodes.expired());
}

TEST_F(SharedInformerFactoryTest, AHandlerMayRemoveItsInformer) {
  SharedInformerFactory factory(rest::testing::NewClient(server_.Url()));
  std::weak_ptr<cache::SharedInformer<Node>> nodes = factory.InformerFor<Node>();
  std::binary_semaphore removed(0);
  const auto registration =
      nodes.lock()->AddRawHandler("removes", [&](const cache::SharedInformerBase::RawEvent&) {
        factory.Remove<Node>();
        removed.release();
      });
  factory.Start();
  KX_AWAIT(removed.try_acquire());
  EXPECT_EQ(factory.FindInformer<Node>(), nullptr);
  EXPECT_NE(factory.InformerFor<Node>(), nodes.lock());
  factory.Shutdown();
  EXPECT_TRUE(nodes.expired()) << "it is not kept for longer than its handler runs";
}

// Without this, each of the two would wait for the other.
TEST_F(SharedInformerFactoryTest, HandlersOfTwoInformersMayShutItDown) {
  SharedInformerFactory factory(rest::testing::NewClient(server_.Url()));
  std::latch both(2);
  const auto shut_down = [&](const cache::SharedInformerBase::RawEvent&) {
    both.count_down();
    KX_AWAIT(both.try_wait());
    factory.Shutdown();
  };
  const auto of_nodes = factory.InformerFor<Node>()->AddRawHandler("nodes", shut_down);
  const auto of_maps = factory.InformerFor<ConfigMap>()->AddRawHandler("maps", shut_down);
  factory.Start();
  KX_AWAIT(both.try_wait());
  factory.Shutdown();
}

TEST_F(SharedInformerFactoryTest, LaterInformersStartWithTheNextStart) {
  SharedInformerFactory factory(rest::testing::NewClient(server_.Url()));
  factory.Start();
  const auto nodes = factory.InformerFor<Node>();
  EXPECT_FALSE(nodes->HasSynced());
  factory.Start();
  EXPECT_TRUE(factory.WaitForCacheSync(base::testing::PatienceEnd().token()));
  EXPECT_TRUE(nodes->HasSynced());
}

TEST_F(SharedInformerFactoryTest, WaitingEndsWithItsToken) {
  SharedInformerFactory factory(rest::testing::NewClient(server_.Url()));
  factory.InformerFor<Node>();
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(factory.WaitForCacheSync(stop.get_token()));
}

}  // namespace
}  // namespace kubexx::informers
