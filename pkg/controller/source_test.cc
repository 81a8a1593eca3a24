#include "kubexx/controller/source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/codec/codec.h"
#include "kubexx/logging/testing/capture.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::controller {
namespace {

using api::core::v1::ConfigMap;
using cache::testing::FakeSource;
using ::testing::ElementsAre;
using ::testing::Pair;

/// An informer over a fake API server, and the queue that its sources fill.
class SourceTest : public ::testing::Test {
 protected:
  void Put(const ConfigMap& object) {
    cache::Object raw;
    raw.encoding = codec::Encoding::kJson;
    raw.bytes = codec::EncodeJson(object);
    raw.key = {object.metadata.namespace_, object.metadata.name};
    server_->PutObject(std::move(raw));
  }
  static ConfigMap Make(const std::string& name) {
    ConfigMap object;
    object.metadata.namespace_ = "ns";
    object.metadata.name = name;
    return object;
  }
  void Start(const Source& source) {
    subscription_ = source.start(queue_);
    ASSERT_TRUE(source.wait_for_sync({}));
  }
  void StartWith(std::vector<Predicate<ConfigMap>> predicates, int priority = 0) {
    Start(NewObjectSource<ConfigMap>(informer_, "test", std::move(predicates), priority));
  }
  /// Waits until so many keys are in the queue, so that the result of Take depends only on their
  /// order.
  void AwaitKeys(std::size_t n) { KX_AWAIT_GE(queue_.Len(), n); }
  std::pair<std::string, int> Take() {
    const workqueue::Queue::Item item = queue_.Get();
    return {item->object.name, item.priority()};
  }

  std::shared_ptr<FakeSource> server_ = std::make_shared<FakeSource>();
  std::shared_ptr<cache::SharedInformer<ConfigMap>> informer_ =
      std::make_shared<cache::SharedInformer<ConfigMap>>(server_,
                                                         cache::InformerOptions{.name = "test"});
  workqueue::Queue queue_{{.order = workqueue::Order::kPriority}};
  base::Subscription subscription_;
};

TEST_F(SourceTest, FirstListHasLowPriorityAndNewsGoFirst) {
  Put(Make("old"));
  StartWith({}, 5);
  Put(Make("new"));
  AwaitKeys(2);
  EXPECT_THAT(Take(), Pair("new", 5));
  EXPECT_THAT(Take(), Pair("old", kLowPriority));
  server_->Delete({"ns", "old"});
  EXPECT_THAT(Take(), Pair("old", 5));
}

TEST_F(SourceTest, StoppedWaitSaysSo) {
  server_->FailLists({apimachinery::Reason::kForbidden, "no"}, 1000);
  server_->FailWatches({apimachinery::Reason::kForbidden, "no"}, 1000);
  const Source source = NewObjectSource<ConfigMap>(informer_, "test", {});
  subscription_ = source.start(queue_);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(source.wait_for_sync(stop.get_token()));
}

TEST_F(SourceTest, AWaitEndsWithTheSubscription) {
  server_->FailLists({apimachinery::Reason::kForbidden, "no"}, 1000);
  server_->FailWatches({apimachinery::Reason::kForbidden, "no"}, 1000);
  const Source source = NewObjectSource<ConfigMap>(informer_, "test", {});
  EXPECT_FALSE(source.wait_for_sync({})) << "it has not been started";
  subscription_ = source.start(queue_);
  std::atomic<bool> has_begun = false;
  std::atomic<bool> has_ended = false;
  const std::jthread waiter([&](const std::stop_token& stop) {
    has_begun = true;
    EXPECT_FALSE(source.wait_for_sync(stop));
    has_ended = true;
  });
  KX_AWAIT(has_begun);
  subscription_.Reset();
  KX_AWAIT(has_ended);
}

TEST_F(SourceTest, AWaitIsForTheHandlersOfEachCopy) {
  Put(Make("a"));
  workqueue::Queue other({});
  const Source source = NewObjectSource<ConfigMap>(informer_, "test", {});
  const Source copy = source;  // NOLINT(performance-unnecessary-copy-initialization): it is meant
  subscription_ = source.start(queue_);
  const base::Subscription second = copy.start(other);
  EXPECT_TRUE(source.wait_for_sync({}));
  EXPECT_EQ(queue_.Len(), 1U);
  EXPECT_EQ(other.Len(), 1U);
}

TEST_F(SourceTest, MappingGetsNewAndOldState) {
  ConfigMap object = Make("map");
  object.data["user"] = "a";
  Put(object);
  Start(NewMappedSource<ConfigMap>(informer_, "test",
                                   [](const ConfigMap& map) {
                                     return std::vector<workqueue::Key>{
                                         {.object = {"ns", map.data.at("user")}}};
                                   },
                                   {}));
  EXPECT_THAT(Take(), Pair("a", kLowPriority));
  object.data["user"] = "b";
  Put(object);
  EXPECT_THAT(Take(), Pair("b", 0));
  EXPECT_THAT(Take(), Pair("a", 0));
}

TEST_F(SourceTest, WhatCameAndWentWhileTheHandlerLaggedIsToldOf) {
  informer_ = std::make_shared<cache::SharedInformer<ConfigMap>>(
      server_, cache::InformerOptions{.name = "test", .handler_buffer = 1});
  std::binary_semaphore entered(0);
  std::binary_semaphore release(0);
  std::counting_semaphore<> marks(0);
  Start(NewMappedSource<ConfigMap>(informer_, "test",
                                   [&](const ConfigMap& map) {
                                     if (map.metadata.name == "slow") {
                                       entered.release();
                                       KX_AWAIT(release.try_acquire());
                                     }
                                     return std::vector<workqueue::Key>{
                                         {.object = {"ns", "owner of " + map.metadata.name}}};
                                   },
                                   {}));
  const auto other = informer_->AddRawHandler("other", [&](const cache::RawEvent& event) {
    if (event.key().name.starts_with("mark")) {
      marks.release();
    }
  });
  Put(Make("slow"));
  KX_AWAIT(entered.try_acquire());
  Put(Make("fills"));
  Put(Make("child"));
  server_->Delete({"ns", "child"});
  for (const char* mark : {"mark", "mark of what was told before"}) {
    Put(Make(mark));
    KX_AWAIT(marks.try_acquire());
  }
  release.release();
  for (const char* name : {"slow", "fills", "child"}) {
    EXPECT_THAT(Take(), Pair("owner of " + std::string(name), 0));
  }
}

TEST_F(SourceTest, ThrowingMappingLosesThatEventOnly) {
  Start(NewMappedSource<ConfigMap>(informer_, "test",
                                   [](const ConfigMap& map) {
                                     return std::vector<workqueue::Key>{
                                         {.object = {"ns", map.data.at("user")}}};
                                   },
                                   {}));
  Put(Make("without"));
  ConfigMap good = Make("with");
  good.data["user"] = "a";
  Put(good);
  EXPECT_THAT(Take(), Pair("a", 0));
}

TEST_F(SourceTest, AMappingThatThrowsForTheNewStateIsStillAskedForTheOldOne) {
  ConfigMap object = Make("map");
  object.data["user"] = "a";
  Put(object);
  Start(NewMappedSource<ConfigMap>(informer_, "test",
                                   [](const ConfigMap& map) {
                                     return std::vector<workqueue::Key>{
                                         {.object = {"ns", map.data.at("user")}}};
                                   },
                                   {}));
  EXPECT_THAT(Take(), Pair("a", kLowPriority));
  object.data.clear();
  Put(object);
  EXPECT_THAT(Take(), Pair("a", 0));
}

TEST_F(SourceTest, WhatThrowsIsCountedAndNamed) {
  const logging::testing::Capture log;
  metrics::Registry registry;
  UntypedSource untyped{informer_, "controller/v1/configmaps/1"};
  untyped.failures = registry.Counter("failures", "", {});
  untyped.predicates = {
      [](const cache::RawEvent&) -> bool { throw std::runtime_error("predicate"); }};
  Start(NewUntypedMappedSource(std::move(untyped), cache::DecodeUntyped<ConfigMap>,
                               [](const void* object) -> std::vector<workqueue::Key> {
                                 if (static_cast<const ConfigMap*>(object)->metadata.name ==
                                     "bad") {
                                   throw std::runtime_error("mapping");
                                 }
                                 return {{.object = {"ns", "good"}}};
                               }));
  Put(Make("bad"));
  Put(Make("good"));
  EXPECT_THAT(Take(), Pair("good", 0));
  EXPECT_EQ(registry.Counter("failures", "", {}).Value(), 3);
  EXPECT_EQ(log.Count("controller/v1/configmaps/1"), 3U);
  EXPECT_EQ(log.Count("ns/bad"), 2U);
}

TEST_F(SourceTest, APredicateThatThrowsLetsTheEventPass) {
  Start(NewObjectSource<ConfigMap>(informer_, "test", {[](const Event<ConfigMap>& event) {
                                     return event.object().data.at("x") == "y";
                                   }}));
  Put(Make("without"));
  ConfigMap good = Make("with");
  good.data["x"] = "y";
  Put(good);
  EXPECT_THAT(Take(), Pair("without", 0));
}

TEST_F(SourceTest, AnObjectThatDoesNotDecodeIsNoEmptyOne) {
  std::atomic<int> nameless = 0;
  Start(NewMappedSource<ConfigMap>(informer_, "test",
                                   [&nameless](const ConfigMap& map) {
                                     nameless += map.metadata.name.empty() ? 1 : 0;
                                     return std::vector<workqueue::Key>{
                                         {.object = {"ns", map.metadata.name}}};
                                   },
                                   {[&nameless](const Event<ConfigMap>& event) {
                                     nameless += event.object().metadata.name.empty() ? 1 : 0;
                                     return true;
                                   }}));
  Put(Make("good"));
  EXPECT_THAT(Take(), Pair("good", 0));
  server_->PutObject(
      {.encoding = codec::Encoding::kJson, .bytes = "{broken", .key = {"ns", "good"}});
  EXPECT_THAT(Take(), Pair("good", 0)) << "the state before says whom it concerns";
  EXPECT_EQ(nameless, 0);
}

class MappedDeleteTest : public SourceTest {
 protected:
  // Puts an object of the user `user`. Its events are for that user and for its own name.
  void PutOf(const std::string& user) {
    ConfigMap object = Make("map");
    object.data["user"] = user;
    Put(object);
  }
  void PutBroken() {
    server_->PutObject({.encoding = codec::Encoding::kJson,
                        .bytes = "{broken" + std::to_string(broken_++),
                        .key = {"ns", "map"}});
  }
  void StartMapped() {
    Start(NewMappedSource<ConfigMap>(informer_, "test",
                                     [](const ConfigMap& map) {
                                       return std::vector<workqueue::Key>{
                                           {.object = {"ns", map.data.at("user")}}};
                                     },
                                     {}));
  }
  int broken_ = 0;
};

TEST_F(MappedDeleteTest, WhoKnewTheLastReadableStateHearsOfTheDeletion) {
  PutOf("a");
  StartMapped();
  EXPECT_THAT(Take(), Pair("a", kLowPriority));
  PutBroken();
  EXPECT_THAT(Take(), Pair("a", 0)) << "the state before says whom it concerns";
  PutBroken();
  EXPECT_THAT(Take(), Pair("a", 0)) << "neither of the states does";
  server_->Delete({"ns", "map"});
  EXPECT_THAT(Take(), Pair("a", 0));
  PutOf("b");
  PutOf("c");
  EXPECT_EQ(Take().first, "b") << "what concerned a is gone";
}

TEST_F(MappedDeleteTest, AMendedStateIsToldToWhoKnewTheOneBefore) {
  PutOf("a");
  StartMapped();
  EXPECT_EQ(Take().first, "a");
  PutBroken();
  EXPECT_EQ(Take().first, "a");
  PutOf("b");
  AwaitKeys(2);
  std::vector<std::string> told{Take().first, Take().first};
  EXPECT_THAT(told, ::testing::UnorderedElementsAre("a", "b"));
}

TEST_F(MappedDeleteTest, ADeletionWhoseOwnStateDoesNotDecodeIsMappedByTheOneBefore) {
  PutOf("a");
  StartMapped();
  EXPECT_EQ(Take().first, "a");
  server_->DeleteAs({.encoding = codec::Encoding::kJson, .bytes = "{broken", .key = {"ns", "map"}});
  EXPECT_THAT(Take(), Pair("a", 0));
}

TEST_F(SourceTest, AnObjectThatDoesNotDecodeIsReconciledWhateverThePredicateAsks) {
  StartWith({[](const Event<ConfigMap>& event) { return event.object().data.contains("x"); }});
  server_->PutObject(
      {.encoding = codec::Encoding::kJson, .bytes = "{broken", .key = {"ns", "bad"}});
  Put(Make("good"));
  ConfigMap last = Make("last");
  last.data["x"] = "y";
  Put(last);
  EXPECT_THAT(Take(), Pair("bad", 0)) << "its reconcile reads it and says what is wrong";
  EXPECT_THAT(Take(), Pair("last", 0));
}

// Changes an object that already exists, and then another object, whose change always passes. So
// the first request shows whether the first change has passed.
struct Change {
  const char* name;
  Predicate<ConfigMap> predicate;
  void (*change)(ConfigMap&);
  bool passes;
};

class PredicateTest : public SourceTest, public ::testing::WithParamInterface<Change> {};

TEST_P(PredicateTest, LetsThroughWhatItShould) {
  ConfigMap object = Make("object");
  object.metadata.generation = 1;
  Put(object);
  StartWith({GetParam().predicate});
  EXPECT_EQ(Take().first, "object") << "an add passes";
  GetParam().change(object);
  Put(object);
  Put(Make("mark"));
  if (GetParam().passes) {
    EXPECT_EQ(Take().first, "object");
  }
  EXPECT_EQ(Take().first, "mark");
  server_->Delete({"ns", "object"});
  EXPECT_EQ(Take().first, "object") << "a delete passes";
}

void MakeAgain(ConfigMap& object) { object.metadata.uid = "another"; }
void ChangeSpec(ConfigMap& object) { ++object.metadata.generation; }
void ChangeLabels(ConfigMap& object) { object.metadata.labels["a"] = "b"; }
void ChangeAnnotations(ConfigMap& object) { object.metadata.annotations["a"] = "b"; }
void ChangeData(ConfigMap& object) { object.data["a"] = "b"; }

INSTANTIATE_TEST_SUITE_P(
    Updates, PredicateTest,
    ::testing::Values(
        Change{"Generation", predicates::GenerationChanged(), ChangeSpec, true},
        Change{"NotGeneration", predicates::GenerationChanged(), ChangeData, false},
        Change{"GenerationOfAnother", predicates::GenerationChanged(), MakeAgain, true},
        Change{"Labels", predicates::LabelsChanged(), ChangeLabels, true},
        Change{"LabelsOfAnother", predicates::LabelsChanged(), MakeAgain, true},
        Change{"AnnotationsOfAnother", predicates::AnnotationsChanged(), MakeAgain, true},
        Change{"NotLabels", predicates::LabelsChanged(), ChangeAnnotations, false},
        Change{"Annotations", predicates::AnnotationsChanged(), ChangeAnnotations, true},
        Change{"NotAnnotations", predicates::AnnotationsChanged(), ChangeLabels, false},
        Change{"Version", predicates::ResourceVersionChanged(), ChangeData, true},
        Change{"Or", predicates::Or{predicates::LabelsChanged(), predicates::GenerationChanged()},
               ChangeSpec, true},
        Change{"And", predicates::And{predicates::LabelsChanged(), predicates::GenerationChanged()},
               ChangeSpec, false}),
    [](const auto& param_info) { return param_info.param.name; });

}  // namespace
}  // namespace kubexx::controller
