// What an informer makes of items that cannot be read, and of namespaces that may not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/cache/distributor.h"
#include "kubexx/cache/informer_store.h"
#include "kubexx/cache/lister.h"
#include "kubexx/cache/testing/auto_clock.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/cache/testing/recorder.h"

namespace kubexx::cache {
namespace {

using api::core::v1::ConfigMap;
using apimachinery::Reason;
using apimachinery::Status;
using ::testing::ElementsAre;
using testing::FakeSource;
using ::testing::HasSubstr;
using testing::Recorder;
using ::testing::UnorderedElementsAre;

Object Faulty(const std::string& name, const std::string& version) {
  return {.encoding = codec::Encoding::kJson,
          .bytes = testing::FakeJson({"a", name}, version, "x"),
          .key = {"a", name},
          .resource_version = version};
}

TEST(InformerFaultsTest, ARelistThatCannotBeReadInWholeTellsOfNoDeletes) {
  testing::AutoClock clock;
  const auto source = std::make_shared<FakeSource>();
  source->Put({"a", "garbled"}, "x");
  source->Put({"a", "same"}, "x");
  SharedInformerBase informer(
      source, {.name = "things", .clock = clock, .use_watch_list = false, .seed = 1});
  Recorder recorder;
  const auto registration = informer.AddRawHandler("recorder", recorder.Handler());
  informer.Start();
  recorder.AwaitEvents(2);
  source->AwaitCaughtUp();
  // Only a full state can tell of what changes now.
  source->FailLists({Reason::kUnavailable, "down"}, 1000000);
  source->BreakWatches({Reason::kExpired, "too old resource version", 410});
  source->Delete({"a", "garbled"});
  source->PutUnreadable("it has no name");
  source->Put({"a", "new"}, "x");
  source->Compact();
  source->FailLists({}, 0);
  recorder.AwaitEvents(3);
  EXPECT_EQ(recorder.log().back(), "add a/new");
  EXPECT_TRUE(informer.Contains({"a", "garbled"})) << "what handlers know of";
  EXPECT_TRUE(informer.GetRaw({"a", "garbled"}));
  EXPECT_EQ(informer.GetRaw({"a", "other"}).status().reason, Reason::kMalformed);
  source->AwaitCaughtUp();
  source->MendUnreadable();
  source->DropWatches();
  recorder.AwaitEvents(4);
  EXPECT_EQ(recorder.log().back(), "lost a/garbled") << "once it is certain";
  EXPECT_FALSE(informer.Contains({"a", "garbled"}));
  EXPECT_EQ(recorder.log().size(), 4U);
}

TEST(InformerFaultsTest, WhatAFullStateSaysIsGoneIsGoneThoughSomethingElseCannotBeRead) {
  const auto store = std::make_shared<PackedStore>();
  DeltaQueue queue({});
  InformerStore feed({.name = "things"}, *store, queue);
  ListenerSet listeners;
  Distributor distributor(store, listeners);
  auto first = feed.BeginReplace();
  for (const char* name : {"kept", "deleted", "back"}) {
    ASSERT_TRUE(first->Add(Faulty(name, "1")));
  }
  ASSERT_TRUE(first->Commit("1"));
  distributor.Apply(std::move(*queue.Pop()));
  auto second = feed.BeginReplace();
  ASSERT_TRUE(second->Unreadable(Status(Reason::kMalformed, "it has no name")));
  ASSERT_TRUE(second->Add(Faulty("deleted", "1")));
  ASSERT_TRUE(second->Delete({"a", "deleted"}));
  ASSERT_TRUE(second->Delete({"a", "back"}));
  ASSERT_TRUE(second->Add(Faulty("back", "2")));
  ASSERT_TRUE(second->Commit("2"));
  distributor.Apply(std::move(*queue.Pop()));
  EXPECT_THAT(store->Keys(), UnorderedElementsAre(apimachinery::ObjectKey{"a", "kept"},
                                                  apimachinery::ObjectKey{"a", "back"}));
  EXPECT_EQ(store->Find("a", "back")->resource_version(), "2");
}

TEST(InformerFaultsTest, ReadsOverSeveralNamespacesFailWhileOneOfThemIsRefused) {
  testing::AutoClock clock;
  const auto open = std::make_shared<FakeSource>();
  const auto closed = std::make_shared<FakeSource>();
  closed->FailLists({Reason::kForbidden, "no", 403}, 1000000);
  std::vector<NamespacedSource> sources;
  sources.push_back({.namespace_ = "open", .lister_watcher = open});
  sources.push_back({.namespace_ = "closed", .lister_watcher = closed});
  const auto informer = std::make_shared<SharedInformer<ConfigMap>>(
      std::move(sources),
      InformerOptions{.name = "things", .clock = clock, .use_watch_list = false, .seed = 1});
  ASSERT_TRUE(informer->AddIndexers(NamespaceIndexer()));
  informer->Start();
  ASSERT_TRUE(informer->WaitForSync({}));
  const Lister<ConfigMap> lister(informer);
  EXPECT_TRUE(lister.List("open"));
  EXPECT_TRUE(lister.ByIndex({{std::string(kNamespaceIndex), "open"}}));
  EXPECT_EQ(lister.Get("open", "a").status().reason, Reason::kNotFound);
  for (const auto& status :
       {lister.List().status(), lister.List("closed").status(),
        lister.ByIndex({{"other", "x"}}).status(),
        lister.ByIndex({{std::string(kNamespaceIndex), "closed"}}).status(),
        lister.Get("closed", "a").status(), informer->GetRaw({"closed", "a"}).status()}) {
    EXPECT_EQ(status.reason, Reason::kForbidden) << "a part is not to be taken for all there is";
    EXPECT_THAT(status.message, HasSubstr("namespace closed"));
  }
  closed->FailLists({}, 0);
  closed->AwaitCaughtUp();
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!lister.List() && std::chrono::steady_clock::now() < give_up) {
    std::this_thread::yield();
  }
  EXPECT_TRUE(lister.List()) << "waited 60 s for the list of the other namespace";
}

}  // namespace
}  // namespace kubexx::cache
