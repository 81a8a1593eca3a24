#include "kubexx/cache/lister.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/logging/testing/capture.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::cache {
namespace {

using api::core::v1::ConfigMap;
using apimachinery::LabelSelector;
using apimachinery::Reason;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ListerTest : public ::testing::Test {
 protected:
  void Put(const std::string& namespace_, const std::string& name, const std::string& app,
           codec::Encoding encoding = codec::Encoding::kJson) {
    ConfigMap object;
    object.metadata.namespace_ = namespace_;
    object.metadata.name = name;
    object.metadata.labels["app"] = app;
    source_->PutObject({.encoding = encoding,
                        .bytes = encoding == codec::Encoding::kJson ? codec::EncodeJson(object)
                                                                    : codec::EncodeProtobuf(object),
                        .key = {namespace_, name}});
  }
  void Start() {
    informer_->Start();
    ASSERT_TRUE(informer_->WaitForSync(base::testing::PatienceEnd().token()));
  }
  std::vector<std::string> Names(const std::string& namespace_, const std::string& selector) {
    std::vector<std::string> names;
    const auto listed =
        Lister<ConfigMap>(informer_).List(namespace_, LabelSelector::Parse(selector).value());
    for (const auto& object : listed.value()) {
      names.push_back(object->metadata.name);
    }
    std::ranges::sort(names);
    return names;
  }

  metrics::Registry registry_;
  std::shared_ptr<testing::FakeSource> source_ = std::make_shared<testing::FakeSource>();
  std::shared_ptr<SharedInformer<ConfigMap>> informer_ =
      std::make_shared<SharedInformer<ConfigMap>>(
          source_,
          InformerOptions{.name = "configmaps",
                          .registry = &registry_,
                          .use_watch_list = false,
                          .tuning = {.backoff = {.initial = std::chrono::milliseconds(1)}}});
};

TEST_F(ListerTest, ReadsByNamespaceAndSelector) {
  Put("n1", "a", "web");
  Put("n1", "b", "db", codec::Encoding::kProtobuf);
  Put("n2", "c", "web", codec::Encoding::kProtobuf);
  Start();
  EXPECT_THAT(Names("", ""), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Names("n1", ""), ElementsAre("a", "b"));
  EXPECT_THAT(Names("", "app in (web,none)"), ElementsAre("a", "c"));
  EXPECT_THAT(Names("n2", "app!=web"), ElementsAre());
  const Lister<ConfigMap> lister(informer_);
  EXPECT_EQ(lister.Get("n2", "c").value()->metadata.labels.at("app"), "web");
  EXPECT_EQ(lister.Get("n2", "a").error().reason, Reason::kNotFound);
}

TEST_F(ListerTest, ReadsBySeveralIndexTerms) {
  ASSERT_TRUE(informer_->AddIndexers(NamespaceIndexer()));
  Put("n1", "a", "web");
  Put("n1", "b", "db");
  Put("n2", "c", "web");
  Start();
  ASSERT_TRUE(informer_->AddIndexers({{"app", [](const Object& raw) {
                                         const auto object = DecodeShared<ConfigMap>(raw).value();
                                         return std::vector{object->metadata.labels.at("app")};
                                       }}}));
  const auto found =
      Lister<ConfigMap>(informer_).ByIndex({{"namespace", "n1"}, {"app", "web"}}).value();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0]->metadata.name, "a");
  EXPECT_EQ(informer_->CountByIndex("app", "web"), 2U);
  EXPECT_THAT(informer_->IndexValues("app"), ::testing::UnorderedElementsAre("web", "db"));
  EXPECT_TRUE(informer_->Contains({"n2", "c"}));
  EXPECT_THAT(Names("n1", ""), ElementsAre("a", "b"));
}

TEST_F(ListerTest, HandlersShareOneDecodedObject) {
  base::Mutex mu;
  base::CondVar changed;
  std::vector<Ref<ConfigMap>> seen;
  const auto record = [&](const Ref<ConfigMap>& object, bool) {
    base::MutexLock lock(mu);
    seen.push_back(object);
    changed.notify_all();
  };
  const auto first = informer_->AddEventHandler("first", {.on_add = record});
  const auto second = informer_->AddEventHandler("second", {.on_add = record});
  Start();
  Put("n1", "a", "web");
  base::MutexLock lock(mu);
  KX_AWAIT_CHANGE(changed, mu, seen.size() >= 2);
  EXPECT_EQ(seen[0]->metadata.name, "a");
  EXPECT_EQ(seen[0], seen[1]);
}

TEST_F(ListerTest, AHandlerOfChangesGetsNewStatesOnly) {
  base::Mutex mu;
  base::CondVar changed;
  std::vector<std::string> seen;
  const auto note = [&](const Ref<ConfigMap>& object) {
    base::MutexLock lock(mu);
    seen.push_back(object->metadata.name + " " + object->metadata.labels.at("app"));
    changed.notify_all();
  };
  const auto handler = informer_->AddEventHandler("changes", {.on_change = note});
  Start();
  Put("n", "a", "web");
  Put("n", "a", "db");
  source_->PutObject({.encoding = codec::Encoding::kJson, .bytes = "{broken", .key = {"n", "a"}});
  Put("n", "a", "queue");
  base::MutexLock lock(mu);
  KX_AWAIT_CHANGE(changed, mu, seen.size() >= 2);
  EXPECT_THAT(seen, ElementsAre("a db", "a queue"));
}

TEST_F(ListerTest, AnUndecodableObjectReachesNoHandlerAndDoesNotStopTheOthers) {
  base::Mutex mu;
  base::CondVar changed;
  std::vector<std::string> seen;
  const auto subscription =
      informer_->AddEventHandler("names", {.on_add = [&](const Ref<ConfigMap>& object, bool) {
                                   base::MutexLock lock(mu);
                                   seen.push_back(object->metadata.name);
                                   changed.notify_all();
                                 }});
  Start();
  source_->PutObject({.encoding = codec::Encoding::kJson, .bytes = "{broken", .key = {"n", "bad"}});
  Put("n", "good", "web");
  base::MutexLock lock(mu);
  KX_AWAIT_CHANGE(changed, mu, std::ranges::find(seen, "good") != seen.end());
  EXPECT_THAT(seen, ElementsAre("good"));
  const auto bad = informer_->Get({"n", "bad"});
  EXPECT_EQ(bad.error().reason, Reason::kMalformed);
  EXPECT_THAT(bad.error().message, HasSubstr("the cache of configmaps: \"n/bad\""));
}

TEST_F(ListerTest, AListThatCannotBeWholeSaysWhichObjectIsTheReason) {
  ASSERT_TRUE(informer_->AddIndexers(NamespaceIndexer()));
  Put("n1", "good", "web");
  source_->PutObject(
      {.encoding = codec::Encoding::kJson, .bytes = "{broken", .key = {"n2", "bad"}});
  Start();
  const Lister<ConfigMap> lister(informer_);
  for (const auto& listed :
       {lister.List(), lister.List("n2"), lister.ByIndex({{"namespace", "n2"}})}) {
    EXPECT_EQ(listed.error().reason, Reason::kMalformed);
    EXPECT_THAT(listed.error().message, HasSubstr("n2/bad"));
  }
  EXPECT_EQ(lister.List("n1").value().size(), 1U) << "the others can be read";
  EXPECT_EQ(registry_
                .Counter("informer_undecodable_objects_total", "",
                         {{"name", "configmaps"}, {"group", ""}, {"version", ""}, {"resource", ""}})
                .Value(),
            3);
}

// A tenant may store such an object where a custom resource preserves unknown fields. A ConfigMap,
// which this test uses, has only one place where JSON is kept as it is.
TEST_F(ListerTest, AnObjectThatNestsDeeperThanDecodersGoConcernsNobodyElse) {
  const std::string bytes = R"({"metadata":{"managedFields":[{"fieldsV1":)" +
                            std::string(5000, '[') + std::string(5000, ']') +
                            R"(}],"namespace":"n2","name":"deep"}})";
  const auto made = MakeObject(codec::Encoding::kJson, bytes);
  ASSERT_TRUE(made) << made.error().ToString();
  EXPECT_EQ(made->key.ToString(), "n2/deep");
  ASSERT_TRUE(informer_->AddIndexers(NamespaceIndexer()));
  source_->PutObject(*made);
  Put("n1", "good", "web");
  Start();
  const Lister<ConfigMap> lister(informer_);
  EXPECT_EQ(lister.List("n1").value().size(), 1U);
  EXPECT_EQ(lister.Get("n2", "gone").error().reason, Reason::kNotFound);
  EXPECT_THAT(lister.List("n2").error().message, HasSubstr("n2/deep"));
}

TEST_F(ListerTest, AnIndexThatCannotReadAnObjectSaysSoHoweverItsFunctionTakesIt) {
  const logging::testing::Capture log;
  ASSERT_TRUE(informer_->AddIndexers(NamespaceIndexer()));
  ASSERT_TRUE(informer_->AddIndexers(
      {{"throws",
        [](const Object& raw) {
          const auto object = DecodeShared<ConfigMap>(raw).value();
          return std::vector{object->metadata.labels.at("app")};  // also throws without the label
        }},
       {"gives nothing",
        [](const Object& raw) {
          const auto object = DecodeShared<ConfigMap>(raw);
          return object && (*object)->metadata.labels.contains("app")
                     ? std::vector{(*object)->metadata.labels.at("app")}
                     : std::vector<std::string>();
        }},
       {"reads no more than the key",
        [](const Object& raw) { return std::vector{raw.key.name}; }}}));
  Put("n1", "a", "web");
  source_->PutObject({.encoding = codec::Encoding::kJson,
                      .bytes = R"({"metadata":{"namespace":"n1","name":"plain"}})",
                      .key = {"n1", "plain"}});
  Start();
  const Lister<ConfigMap> lister(informer_);
  EXPECT_EQ(lister.ByIndex({{"throws", "web"}}).value().size(), 1U) << "the other has no value";
  EXPECT_EQ(lister.ByIndex({{"gives nothing", "web"}}).value().size(), 1U);
  source_->PutObject(
      {.encoding = codec::Encoding::kJson, .bytes = "{broken", .key = {"n2", "bad"}});
  source_->AwaitCaughtUp();
  KX_AWAIT(informer_->Contains({"n2", "bad"}));
  ASSERT_TRUE(informer_->Contains({"n2", "bad"})) << "waited 60 s for the object";
  for (const char* index : {"throws", "gives nothing"}) {
    for (const IndexTerms& terms :
         {IndexTerms{{index, "web"}}, {{index, "db"}}, {{index, "web"}, {"namespace", "n2"}}}) {
      const auto listed = lister.ByIndex(terms);
      ASSERT_FALSE(listed) << index << ": " << listed->size();
      EXPECT_EQ(listed.error().reason, Reason::kMalformed);
      EXPECT_THAT(listed.error().message, HasSubstr("n2/bad"));
    }
    EXPECT_EQ(lister.ByIndex({{index, "web"}, {"namespace", "n1"}}).value().size(), 1U)
        << "it is not in that namespace";
  }
  EXPECT_EQ(lister.ByIndex({{"reads no more than the key", "a"}}).value().size(), 1U);
  Put("n2", "bad", "web");
  source_->AwaitCaughtUp();
  KX_AWAIT_GE(informer_->KeysByIndex("throws", "web").size(), 2);
  EXPECT_EQ(lister.ByIndex({{"throws", "web"}}).value().size(), 2U) << "mended";
}

TEST_F(ListerTest, TermsThatCouldNotBeReadMayBeOfAnyIndex) {
  const logging::testing::Capture log;
  informer_->AddIndexer([](const Object& raw) {
    return IndexTerms{{"app", DecodeShared<ConfigMap>(raw).value()->metadata.labels.at("app")}};
  });
  source_->PutObject({.encoding = codec::Encoding::kJson, .bytes = "{broken", .key = {"n", "bad"}});
  Start();
  const auto listed = Lister<ConfigMap>(informer_).ByIndex({{"app", "web"}});
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().reason, Reason::kMalformed);
  EXPECT_THAT(listed.error().message, HasSubstr("n/bad"));
}

// The answer "not found" would be taken for a deletion, and an empty list for a full list.
TEST_F(ListerTest, BeforeTheFirstListItSaysSo) {
  Put("n", "a", "web");
  const Lister<ConfigMap> lister(informer_);
  for (const auto& status :
       {lister.Get("n", "a").error(), lister.List().error(), lister.List("n").error(),
        lister.ByIndex({{"namespace", "n"}}).error(), informer_->GetRaw({"n", "a"}).error()}) {
    EXPECT_EQ(status.reason, Reason::kUnavailable) << status.ToString();
    EXPECT_THAT(status.message, HasSubstr("configmaps: the cache has no first list"));
    EXPECT_THAT(status.message, HasSubstr("has not been started"));
  }
  source_->FailLists(apimachinery::Status(Reason::kForbidden, "may not list", 403), 1000);
  informer_->Start();
  source_->AwaitLists(1);
  EXPECT_EQ(lister.Get("n", "a").error().reason, Reason::kUnavailable);
  EXPECT_EQ(lister.List().error().reason, Reason::kUnavailable);
  source_->FailLists({}, 0);
  ASSERT_TRUE(informer_->WaitForSync(base::testing::PatienceEnd().token()));
  EXPECT_TRUE(lister.Get("n", "a"));
  EXPECT_EQ(lister.Get("n", "b").error().reason, Reason::kNotFound);
  EXPECT_EQ(lister.List().value().size(), 1U);
  informer_->Stop();
  EXPECT_EQ(lister.List().value().size(), 1U) << "what it has it keeps";
}

// Handlers are told of objects before the informer counts as synced, and the lister has these
// objects.
TEST_F(ListerTest, AHandlerOfTheFirstListReadsIt) {
  Put("n", "a", "web");
  Put("n", "b", "web");
  const Lister<ConfigMap> lister(informer_);
  std::atomic<int> told = 0;
  const auto registration = informer_->AddEventHandler(
      "reads", {.on_add = [&](const auto& object, bool) {
        EXPECT_TRUE(lister.Get("n", object->metadata.name));
        EXPECT_EQ(lister.Get("n", "c").error().reason, Reason::kNotFound);
        EXPECT_EQ(lister.List().value().size(), 2U);
        ++told;
      }});
  Start();
  ASSERT_TRUE(registration.WaitForSync(base::testing::PatienceEnd().token()));
  EXPECT_EQ(told, 2);
}

TEST_F(ListerTest, AHandlerMayAskToBeToldOfWhatDoesNotDecode) {
  const logging::testing::Capture log;
  base::Mutex mu;
  base::CondVar changed;
  std::vector<std::string> told;
  const auto note = [&](const std::string& what) {
    base::MutexLock lock(mu);
    told.push_back(what);
    changed.notify_all();
  };
  const auto registration = informer_->AddEventHandler(
      "all",
      {.on_add = [&](const Ref<ConfigMap>& object, bool) { note("add " + object->metadata.name); },
       .on_update = [&](const Ref<ConfigMap>&,
                        const Ref<ConfigMap>& object) { note("update " + object->metadata.name); },
       .on_delete =
           [&](const Ref<ConfigMap>& object, bool unknown) {
             note((unknown ? "lost " : "delete ") + object->metadata.name);
           },
       .on_undecodable =
           [&](const RawEvent& event, const apimachinery::Status& why) {
             EXPECT_EQ(why.reason, Reason::kMalformed);
             note("bad " + event.key().ToString());
           }});
  Start();
  const Object bad{.encoding = codec::Encoding::kJson, .bytes = "{broken", .key = {"n", "a"}};
  const auto await = [&](std::size_t n) {
    base::MutexLock lock(mu);
    KX_AWAIT_CHANGE(changed, mu, told.size() >= n);
  };
  source_->PutObject(bad);
  await(1);
  Put("n", "a", "web");
  await(2);
  source_->PutObject(bad);
  await(3);
  source_->Delete({"n", "a"});
  await(4);
  EXPECT_THAT(told, ElementsAre("bad n/a", "add a", "bad n/a", "lost a"));
  EXPECT_GE(log.Count("n/a"), 2U);
}

TEST_F(ListerTest, AHandlerWithoutAnUpdateOrAnAddHearsOfAMendedObject) {
  const logging::testing::Capture log;
  using Told = std::vector<std::string>;
  Told adds;
  Told updates;
  std::atomic<int> events = 0;
  auto adding = informer_->AddEventHandler(
      "adds", {.on_add = [&](const Ref<ConfigMap>& object,
                             bool) { adds.push_back("add " + object->metadata.name); },
               .on_delete = [&](const Ref<ConfigMap>& object,
                                bool) { adds.push_back("delete " + object->metadata.name); }});
  auto updating = informer_->AddEventHandler(
      "updates", {.on_update = [&](const Ref<ConfigMap>&, const Ref<ConfigMap>& object) {
        updates.push_back("update " + object->metadata.labels.at("app"));
      }});
  auto counting = informer_->AddRawHandler("counts", [&events](const RawEvent&) { ++events; });
  Start();
  const Object bad{.encoding = codec::Encoding::kJson, .bytes = "{broken", .key = {"n", "a"}};
  source_->PutObject(bad);
  Put("n", "a", "mended");
  Put("n", "a", "web");
  source_->PutObject(bad);
  Put("n", "a", "mended again");
  source_->Delete({"n", "a"});
  KX_AWAIT_GE(events, 6);
  ASSERT_EQ(events, 6) << "waited 60 s for as many events";
  for (HandlerRegistration* registration : {&adding, &updating, &counting}) {
    ASSERT_TRUE(registration->Drain({}));
  }
  EXPECT_THAT(adds, ElementsAre("add a", "delete a"));
  EXPECT_THAT(updates, ElementsAre("update mended", "update web", "update mended again"));
}

TEST_F(ListerTest, ObjectsThatDoNotDecodeDoNotFloodTheLog) {
  const logging::testing::Capture log;
  std::atomic<int> bad = 0;
  const auto registration = informer_->AddEventHandler(
      "all", {.on_add = [](const Ref<ConfigMap>&, bool) {},
              .on_undecodable = [&bad](const RawEvent&, const apimachinery::Status&) { ++bad; }});
  for (int i = 0; i < 100; ++i) {
    source_->PutObject(
        {.encoding = codec::Encoding::kJson, .bytes = "{broken", .key = {"n", std::to_string(i)}});
  }
  Start();
  ASSERT_TRUE(registration.WaitForSync(base::testing::PatienceEnd().token()));
  EXPECT_EQ(bad, 100);
  EXPECT_EQ(log.Count("Cannot decode a cached object"), 5U);
}

TEST_F(ListerTest, WhatTheServerGarblesIsLeftOutAndReadersAreToldUntilItIsMended) {
  const logging::testing::Capture log;
  Put("n", "good", "web");
  source_->PutUnreadable("it has no name");
  Start();
  const Lister<ConfigMap> lister(informer_);
  EXPECT_TRUE(lister.Get("n", "good"));
  for (const auto& status : {lister.Get("n", "other").error(), lister.List().error(),
                             lister.ByIndex({{"namespace", "n"}}).error()}) {
    EXPECT_EQ(status.reason, Reason::kMalformed) << "an object that is there is not to be missed";
    EXPECT_THAT(status.message, HasSubstr("it has no name"));
  }
  EXPECT_EQ(log.Count("it has no name"), 1U);
  EXPECT_EQ(
      registry_.Counter("reflector_unreadable_items_total", "", {{"name", "configmaps"}}).Value(),
      1);
  source_->MendUnreadable();
  source_->AwaitCaughtUp();
  source_->DropWatches();
  KX_AWAIT(lister.List());
  EXPECT_EQ(lister.List().value().size(), 1U) << "waited 30 s for another list";
  EXPECT_EQ(lister.Get("n", "other").error().reason, Reason::kNotFound);
}

TEST_F(ListerTest, AChangeThatTheServerGarblesIsSoonMadeUpForByAList) {
  Put("n", "good", "web");
  Start();
  source_->AwaitCaughtUp();
  const int watches = source_->watches();
  source_->SendUnreadable("it has no name");
  Put("n", "next", "web");
  source_->AwaitWatches(watches + 1);
  const Lister<ConfigMap> lister(informer_);
  KX_AWAIT(lister.Get("n", "next"));  // the list may have come before it, and the watch tells of it
  KX_AWAIT(lister.List());
  EXPECT_EQ(lister.List().value().size(), 2U);
  EXPECT_EQ(lister.Get("n", "other").error().reason, Reason::kNotFound);
  EXPECT_EQ(
      registry_.Counter("reflector_unreadable_items_total", "", {{"name", "configmaps"}}).Value(),
      1);
}

TEST_F(ListerTest, AnEventThatTheServerGarblesEndsNoWatchWhereListsAreGarbledToo) {
  Put("n", "good", "web");
  source_->PutUnreadable("it has no name");
  Start();
  source_->AwaitCaughtUp();
  const int watches = source_->watches();
  source_->SendUnreadable("nor has this");
  Put("n", "next", "web");
  const Lister<ConfigMap> lister(informer_);
  KX_AWAIT(lister.Get("n", "next"));
  EXPECT_TRUE(lister.Get("n", "next"));
  EXPECT_THAT(lister.List().error().message, HasSubstr("it has no name"));
  EXPECT_EQ(source_->watches(), watches);
}

}  // namespace
}  // namespace kubexx::cache
