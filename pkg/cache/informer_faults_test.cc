// Tests an informer with objects that cannot be read, and with namespaces that it may not read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/cache/internal/informer/distributor.h"
#include "kubexx/cache/internal/informer/informer_store.h"
#include "kubexx/cache/lister.h"
#include "kubexx/cache/testing/auto_clock.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/cache/testing/recorder.h"

namespace kubexx::cache {
namespace {

using api::core::v1::ConfigMap;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;
using ::testing::ElementsAre;
using testing::FakeSource;
using ::testing::HasSubstr;
using testing::Recorder;
using ::testing::UnorderedElementsAre;

/// A place where one thread waits until another has found it there and lets it go on.
class Meeting {
 public:
  void Arrive() {
    there_.Open();
    on_.Wait();
  }
  void Await() { there_.Wait(); }
  void LetGoOn() { on_.Open(); }

 private:
  testing::Gate there_;
  testing::Gate on_;
};

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
  // While the watches fail, only a full state can bring the following changes.
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
  EXPECT_EQ(informer.GetRaw({"a", "other"}).error().reason, Reason::kMalformed);
  source->AwaitCaughtUp();
  source->MendUnreadable();
  source->DropWatches();
  recorder.AwaitEvents(4);
  EXPECT_EQ(recorder.log().back(), "lost a/garbled") << "once it is certain";
  EXPECT_FALSE(informer.Contains({"a", "garbled"}));
  EXPECT_EQ(recorder.log().size(), 4U);
}

TEST(InformerFaultsTest, AnObjectWhoseKeyIsTooLongIsNamedAndTheOthersAreThere) {
  const std::string name = "long-" + std::string(70'000, 'x');
  for (const bool use_watch_list : {false, true}) {
    testing::AutoClock clock;
    const auto source = std::make_shared<FakeSource>();
    source->Put({"a", "before"}, "x");
    source->Put({"a", name}, "x");
    source->Put({"a", "z"}, "x");
    SharedInformerBase informer(
        source, {.name = "things", .clock = clock, .use_watch_list = use_watch_list, .seed = 1});
    Recorder recorder;
    const auto registration = informer.AddRawHandler("recorder", recorder.Handler());
    informer.Start();
    recorder.AwaitEvents(2);
    source->AwaitCaughtUp();
    source->Put({"b", name}, "x");
    source->Put({"a", "after"}, "x");
    recorder.AwaitEvents(3);
    EXPECT_THAT(recorder.log(),
                UnorderedElementsAre("initial a/before", "initial a/z", "add a/after"));
    const Status missing = informer.GetRaw({"a", "other"}).error();
    EXPECT_EQ(missing.reason, Reason::kMalformed);
    EXPECT_THAT(missing.message, HasSubstr("lacks 2"));
    EXPECT_THAT(missing.message, HasSubstr("a/long-xxx"));
    EXPECT_LT(missing.message.size(), 2000U);
  }
}

TEST(InformerFaultsTest, WhatATransformMakesTooLongIsNamedAndTheOthersAreThere) {
  testing::AutoClock clock;
  const auto source = std::make_shared<FakeSource>();
  source->Put({"a", "long"}, "x");
  source->Put({"a", "short"}, "x");
  InformerOptions options{.name = "things", .clock = clock, .use_watch_list = false, .seed = 1};
  options.transform = [](Object& object) -> Result<void> {
    object.key.name.append(object.key.name == "short" ? 0 : 70'000, 'x');
    return {};
  };
  SharedInformerBase informer(source, std::move(options));
  Recorder recorder;
  const auto registration = informer.AddRawHandler("recorder", recorder.Handler());
  informer.Start();
  recorder.AwaitEvents(1);
  EXPECT_THAT(recorder.log(), ElementsAre("initial a/short"));
  source->AwaitCaughtUp();
  source->Put({"a", "long2"}, "x");
  source->Put({"b", "short"}, "x");
  recorder.AwaitEvents(2);
  EXPECT_THAT(informer.GetRaw({"a", "other"}).error().message, HasSubstr("lacks 2"));
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
  ASSERT_TRUE(informer->WaitForSync(base::testing::PatienceEnd().token()));
  const Lister<ConfigMap> lister(informer);
  EXPECT_TRUE(lister.List("open"));
  EXPECT_TRUE(lister.ByIndex({{std::string(kNamespaceIndex), "open"}}));
  EXPECT_EQ(lister.Get("open", "a").error().reason, Reason::kNotFound);
  for (const auto& status :
       {lister.List().error(), lister.List("closed").error(),
        lister.ByIndex({{"other", "x"}}).error(),
        lister.ByIndex({{std::string(kNamespaceIndex), "closed"}}).error(),
        lister.Get("closed", "a").error(), informer->GetRaw({"closed", "a"}).error()}) {
    EXPECT_EQ(status.reason, Reason::kForbidden) << "a part is not to be taken for all there is";
    EXPECT_THAT(status.message, HasSubstr("namespace closed"));
  }
  closed->FailLists({}, 0);
  closed->AwaitCaughtUp();
  KX_AWAIT(lister.List());
  EXPECT_TRUE(lister.List()) << "waited 60 s for the list of the other namespace";
}

TEST(InformerFaultsTest, ARefusalCountsUntilTheStoreHasTheFirstList) {
  testing::AutoClock clock;
  const auto closed = std::make_shared<FakeSource>();
  closed->Put({"closed", "1"}, "x");
  closed->Put({"closed", "2"}, "x");
  closed->FailLists({Reason::kForbidden, "no", 403}, 1000000);
  std::vector<NamespacedSource> sources;
  sources.push_back({.namespace_ = "closed", .lister_watcher = closed});
  Meeting packed;   // reached when the first object has been packed and the second one has not
  Meeting storing;  // reached when the first object is about to be stored
  const auto informer = std::make_shared<SharedInformer<ConfigMap>>(
      std::move(sources), InformerOptions{.name = "things",
                                          .clock = clock,
                                          .transform = [&packed](Object& object) -> Result<void> {
                                            if (object.key.name == "2") {
                                              packed.Arrive();
                                            }
                                            return {};
                                          },
                                          .use_watch_list = false,
                                          .on_error = [](const Status&) {},
                                          .seed = 1});
  std::vector<Reason> told;
  testing::Gate told_all;
  const auto registration = informer->AddRawHandler("asks back", [&](const RawEvent&) {
    told.push_back(informer->GetRaw({"closed", "none"}).error().reason);
    if (told.size() == 2) {
      told_all.Open();
    }
  });
  informer->Start();
  ASSERT_TRUE(informer->WaitForSync(base::testing::PatienceEnd().token()));
  closed->FailLists({}, 0);
  packed.Await();
  // The objects that were packed before there was this index get their terms on the thread that
  // stores them.
  EXPECT_TRUE(informer->AddIndexers({{"name", [&storing](const Object& object) {
                                        if (object.key.name == "1") {
                                          storing.Arrive();
                                        }
                                        return std::vector<std::string>{object.key.name};
                                      }}}));
  packed.LetGoOn();
  storing.Await();
  const Lister<ConfigMap> lister(informer);
  EXPECT_FALSE(informer->SyncError("closed"));
  EXPECT_EQ(lister.Get("closed", "1").error().reason, Reason::kForbidden) << "it exists";
  EXPECT_FALSE(lister.List("closed")) << "there are two";
  storing.LetGoOn();
  told_all.Wait();
  EXPECT_THAT(told, ElementsAre(Reason::kNotFound, Reason::kNotFound)) << "handlers may read";
  EXPECT_TRUE(lister.Get("closed", "1"));
}

// The object's fields get other types than this program knows, and stay so until it is deleted.
TEST(InformerFaultsTest, AHandlerThatKnowsAnObjectIsToldOfItsEndWhateverItBecame) {
  testing::AutoClock clock;
  const auto source = std::make_shared<FakeSource>();
  const auto put = [&source](const std::string& data) {
    source->PutObject({.encoding = codec::Encoding::kJson,
                       .bytes = R"({"metadata":{"name":"x","namespace":"a"},"data":)" + data + "}",
                       .key = {"a", "x"}});
  };
  put(R"({"key":"first"})");
  SharedInformer<ConfigMap> informer(source,
                                     {.name = "things", .clock = clock, .use_watch_list = false});
  std::vector<std::string> told;
  const auto state = [](const Ref<ConfigMap>& object) { return object->data.at("key"); };
  testing::Gate over;
  const auto registration = informer.AddEventHandler(
      "things",
      {.on_add = [&](const auto& object, bool) { told.push_back("add " + state(object)); },
       .on_update = [&](const auto&,
                        const auto& object) { told.push_back("update " + state(object)); },
       .on_delete =
           [&](const auto& object, bool final_state_unknown) {
             told.push_back((final_state_unknown ? "lost " : "delete ") + state(object));
             over.Open();
           },
       .on_undecodable =
           [&](const RawEvent& event, const Status&) {
             told.emplace_back("undecodable");
             if (event.type == RawEvent::Type::kDelete) {
               over.Open();
             }
           }});
  informer.Start();
  source->AwaitCaughtUp();
  put("1");
  put("2");
  source->Delete({"a", "x"});
  over.Wait();
  informer.Stop();
  EXPECT_THAT(told, ElementsAre("add first", "undecodable", "undecodable", "lost first"));
}

TEST(InformerFaultsTest, WhoWaitsWithoutALimitGetsTheFirstListHoweverLateItComes) {
  testing::AutoClock clock;
  const auto source = std::make_shared<FakeSource>();
  source->Put({"a", "1"}, "x");
  source->FailLists({Reason::kUnavailable, "down"}, 20);
  SharedInformerBase informer(source, {.name = "things",
                                       .clock = clock,
                                       .use_watch_list = false,
                                       .on_error = [](const Status&) {},
                                       .seed = 1});
  informer.Start();
  EXPECT_TRUE(informer.AwaitSync(base::testing::PatienceEnd().token(), base::Duration::max()));
  EXPECT_EQ(informer.Size(), 1U);
}

}  // namespace
}  // namespace kubexx::cache
