#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/cache/shared_informer_base.h"
#include "kubexx/cache/testing/auto_clock.h"
#include "kubexx/cache/testing/chaos.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/cache/testing/recorder.h"
#include "kubexx/logging/testing/capture.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::cache {
namespace {

using apimachinery::ObjectKey;
using apimachinery::Reason;
using testing::AutoClock;
using ::testing::ElementsAre;
using testing::FakeSource;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using Content = testing::Recorder::Content;
using testing::Gate;
using testing::Recorder;

class SharedInformerTest : public ::testing::Test {
 protected:
  InformerOptions Options() {
    return {
        .name = "things", .clock = clock_, .registry = &registry_, .seed = 1, .resource = "things"};
  }
  void Make() { Make(Options()); }
  void Make(InformerOptions options) {
    informer_ = std::make_unique<SharedInformerBase>(source_, std::move(options));
  }
  void StartAndSync() {
    informer_->Start();
    ASSERT_TRUE(informer_->WaitForSync(base::testing::PatienceEnd().token()));
  }
  Content Expected() const {
    Content content;
    for (const auto& [key, object] : source_->objects()) {
      content[key] = object.bytes;
    }
    return content;
  }
  Content Stored() const {
    Content content;
    informer_->ForEachRaw([&content](const Object& object) { content[object.key] = object.bytes; });
    return content;
  }
  static metrics::Labels InformerLabels() {
    return {{"name", "things"}, {"group", ""}, {"version", ""}, {"resource", "things"}};
  }
  double Gauge(const std::string& name, const metrics::Labels& labels = InformerLabels()) {
    return registry_.Gauge(name, "", labels).Value();
  }

  AutoClock clock_;
  metrics::Registry registry_;
  std::shared_ptr<FakeSource> source_ = std::make_shared<FakeSource>();
  std::unique_ptr<SharedInformerBase> informer_;
};

TEST_F(SharedInformerTest, ANamespaceThatIsListedByItselfIsReplacedAlone) {
  source_->Put({"a", "1"}, "x");
  source_->Put({"a", "2"}, "x");
  source_->Put({"b", "1"}, "x");
  Make();
  base::Mutex mu;
  std::vector<std::string> events;
  const HandlerRegistration handler = informer_->AddRawHandler("h", [&](const RawEvent& event) {
    const base::MutexLock lock(mu);
    if (!event.is_in_initial_list) {
      events.push_back(std::to_string(static_cast<int>(event.type)) + " " + event.key().ToString() +
                       (event.is_single_change ? " watched" : ""));
    }
  });
  StartAndSync();
  ASSERT_TRUE(handler.WaitForSync(base::testing::PatienceEnd().token()));
  const std::string version = informer_->LastSyncResourceVersion();
  Object changed = source_->objects().at({"a", "1"});
  changed.bytes = R"({"metadata":{"namespace":"a","name":"1"},"data":"y"})";
  changed.resource_version = "99";
  const auto replace = [&](const std::string& namespace_, std::vector<Object> objects) {
    const auto applied = informer_->ReplaceNamespace(namespace_, std::move(objects));
    ASSERT_TRUE(applied);
    KX_AWAIT(**applied);
  };
  replace("a", {changed});
  Object added = changed;
  added.key = {"c", "1"};
  replace("c", {added});
  EXPECT_THAT(informer_->Keys(),
              UnorderedElementsAre(ObjectKey{"a", "1"}, ObjectKey{"b", "1"}, ObjectKey{"c", "1"}));
  EXPECT_EQ(informer_->GetRaw({"a", "1"})->bytes, changed.bytes);
  EXPECT_EQ(informer_->LastSyncResourceVersion(), version);
  const auto count = [&] {
    const base::MutexLock lock(mu);
    return events.size();
  };
  KX_AWAIT_GE(count(), 3);
  const auto text = [](RawEvent::Type type, const char* key) {
    return std::to_string(static_cast<int>(type)) + " " + key;
  };
  const base::MutexLock lock(mu);
  EXPECT_THAT(events,
              ElementsAre(text(RawEvent::Type::kDelete, "a/2"),
                          text(RawEvent::Type::kUpdate, "a/1"), text(RawEvent::Type::kAdd, "c/1")));
}

TEST_F(SharedInformerTest, DeliversTheInitialListThenChanges) {
  source_->Put({"a", "1"}, "x");
  Make();
  Recorder recorder;
  const auto subscription = informer_->AddRawHandler("recorder", recorder.Handler());
  EXPECT_FALSE(informer_->HasSynced());
  StartAndSync();
  recorder.AwaitEvents(1);
  source_->Put({"a", "1"}, "y");
  source_->Put({"a", "2"}, "x");
  source_->Delete({"a", "1"});
  recorder.AwaitEvents(4);
  EXPECT_THAT(recorder.log(), ElementsAre("initial a/1", "update a/1", "add a/2", "delete a/1"));
  EXPECT_EQ(Stored(), Expected());
  EXPECT_EQ(informer_->LastSyncResourceVersion(), source_->resource_version());
  EXPECT_TRUE(informer_->HandlerHasSynced("recorder"));
  EXPECT_FALSE(informer_->HandlerHasSynced("nobody"));
}

TEST_F(SharedInformerTest, TheStoreHasAChangeBeforeAHandlerIsTold) {
  Make();
  Gate told;
  std::string seen;
  const auto subscription = informer_->AddRawHandler("reader", [&](const RawEvent& event) {
    seen = informer_->GetRaw(event.key()).value().resource_version;
    told.Open();
  });
  StartAndSync();
  const std::string version = source_->Put({"a", "1"}, "x");
  told.Wait();
  EXPECT_EQ(seen, version);
}

TEST_F(SharedInformerTest, ALateHandlerIsGivenTheStoreFirst) {
  source_->Put({"a", "1"}, "x");
  source_->Put({"a", "2"}, "x");
  Make();
  StartAndSync();
  Recorder late;
  const auto subscription = informer_->AddRawHandler("late", late.Handler());
  late.AwaitEvents(2);
  source_->Put({"a", "3"}, "x");
  late.AwaitEvents(3);
  EXPECT_THAT(late.log(), UnorderedElementsAre("initial a/1", "initial a/2", "add a/3"));
  EXPECT_TRUE(informer_->HandlerHasSynced("late"));
}

TEST_F(SharedInformerTest, AHandlerHasSyncedOnceItHandledTheInitialList) {
  source_->Put({"a", "1"}, "x");
  Make();
  Gate gate;
  const auto subscription = informer_->AddRawHandler("slow", [&](const RawEvent&) { gate.Wait(); });
  StartAndSync();
  EXPECT_FALSE(informer_->HandlerHasSynced("slow"));
  gate.Open();
  EXPECT_TRUE(subscription.WaitForSync(base::testing::PatienceEnd().token()));
  EXPECT_TRUE(informer_->HandlerHasSynced("slow"));
}

TEST_F(SharedInformerTest, ARemovedHandlerIsNotCalledAgain) {
  Make();
  Recorder removed;
  Recorder kept;
  auto subscription = informer_->AddRawHandler("removed", removed.Handler());
  const auto other = informer_->AddRawHandler("kept", kept.Handler());
  StartAndSync();
  source_->Put({"a", "1"}, "x");
  removed.AwaitEvents(1);
  subscription.Reset();
  source_->Put({"a", "2"}, "x");
  kept.AwaitEvents(2);
  EXPECT_EQ(removed.log().size(), 1U);
}

TEST_F(SharedInformerTest, ASubscriptionMayOutliveTheInformer) {
  Make();
  Recorder recorder;
  auto subscription = informer_->AddRawHandler("recorder", recorder.Handler());
  StartAndSync();
  informer_.reset();
  subscription.Reset();
}

TEST_F(SharedInformerTest, AThrowingHandlerLosesOneEventOnly) {
  Make();
  Recorder recorder;
  const auto subscription = informer_->AddRawHandler("thrower", [&](const RawEvent& event) {
    if (event.key().name == "bad") {
      throw std::runtime_error("handler bug");
    }
    recorder.Handler()(event);
  });
  StartAndSync();
  source_->Put({"a", "bad"}, "x");
  source_->Put({"a", "good"}, "x");
  recorder.AwaitEvents(1);
  EXPECT_THAT(recorder.log(), ElementsAre("add a/good"));
  EXPECT_EQ(registry_
                .Counter("informer_handler_exceptions_total", "",
                         {{"name", "things"}, {"handler", "thrower"}})
                .Value(),
            1);
}

TEST_F(SharedInformerTest, AHandlerMayHoldTheInformerBackInsteadOfGrowing) {
  InformerOptions options = Options();
  options.handler_buffer = 4;
  Make(std::move(options));
  Gate gate;
  Recorder recorder;
  const auto subscription = informer_->AddRawHandler("slow",
                                                     [&](const RawEvent& event) {
                                                       gate.Wait();
                                                       recorder.Handler()(event);
                                                     },
                                                     {.overflow = Overflow::kHoldBack});
  StartAndSync();
  constexpr int kChanges = 3000;
  for (int i = 0; i < kChanges; ++i) {
    source_->Put({"a", "1"}, std::to_string(i));
  }
  // Four events wait for the handler. The others wait in the informer's queue, up to its bound, or
  // in the source.
  const metrics::Labels slow{{"name", "things"}, {"handler", "slow"}};
  KX_AWAIT(Gauge("informer_queued_items") >= 1000 &&
           Gauge("informer_handler_queued_items", slow) >= 4);
  EXPECT_EQ(Gauge("informer_handler_queued_items", slow), 4);
  EXPECT_EQ(Gauge("informer_queued_items"), 1000);
  gate.Open();
  recorder.AwaitContent(Expected());
  EXPECT_EQ(recorder.log().size(), static_cast<std::size_t>(kChanges));
}

TEST_F(SharedInformerTest, ARelistTellsTheDifferenceOnly) {
  source_->Put({"a", "same"}, "x");
  source_->Put({"a", "changed"}, "x");
  source_->Put({"a", "gone"}, "x");
  Make();
  Recorder recorder;
  const auto subscription = informer_->AddRawHandler("recorder", recorder.Handler());
  StartAndSync();
  recorder.AwaitEvents(3);
  source_->AwaitCaughtUp();
  // The source changes while no watch is open and forgets its history, so only a full state can
  // bring the changes.
  source_->FailWatches({Reason::kUnavailable, "down"}, 1000000);
  source_->FailLists({Reason::kUnavailable, "down"}, 1000000);
  source_->DropWatches();
  source_->Put({"a", "changed"}, "y");
  source_->Delete({"a", "gone"});
  source_->Put({"a", "new"}, "x");
  source_->Compact();
  source_->FailLists({}, 0);
  source_->FailWatches({}, 0);
  recorder.AwaitEvents(6);
  const auto log = recorder.log();
  EXPECT_THAT(std::vector<std::string>(log.begin() + 3, log.end()),
              UnorderedElementsAre("lost a/gone", "update a/changed", "add a/new"));
  EXPECT_EQ(Stored(), Expected());
}

TEST_F(SharedInformerTest, RestartsAndDeliversWhatChangedMeanwhile) {
  source_->Put({"a", "1"}, "x");
  Make();
  Recorder recorder;
  const auto subscription = informer_->AddRawHandler("recorder", recorder.Handler());
  StartAndSync();
  recorder.AwaitEvents(1);
  informer_->Stop();
  EXPECT_EQ(informer_->Size(), 1U);
  source_->Delete({"a", "1"});
  source_->Put({"a", "2"}, "x");
  Recorder added_while_stopped;
  const auto other = informer_->AddRawHandler("other", added_while_stopped.Handler());
  StartAndSync();
  recorder.AwaitContent(Expected());
  added_while_stopped.AwaitContent(Expected());
  EXPECT_THAT(recorder.log(), ElementsAre("initial a/1", "lost a/1", "add a/2"));
}

TEST_F(SharedInformerTest, AStopKeepsWhatAHandlerHasNotBeenGiven) {
  InformerOptions options = Options();
  options.handler_buffer = 2;
  Make(std::move(options));
  Gate entered;
  Gate gate;
  Recorder recorder;
  const auto subscription = informer_->AddRawHandler("slow", [&](const RawEvent& event) {
    entered.Open();
    gate.Wait();
    recorder.Handler()(event);
  });
  for (int i = 0; i < 50; ++i) {
    source_->Put({"a", std::to_string(i)}, "x");
  }
  informer_->Start();
  entered.Wait();
  std::jthread stopper([this] { informer_->Stop(); });
  gate.Open();
  stopper.join();
  StartAndSync();
  recorder.AwaitContent(Expected());
}

TEST_F(SharedInformerTest, FaultyFunctionsDoNotFillTheLog) {
  const logging::testing::Capture log;
  for (int i = 0; i < 100; ++i) {
    source_->Put({"a", std::to_string(i)}, "x");
    source_->Put({"refused", std::to_string(i)}, "x");
  }
  InformerOptions options = Options();
  options.transform = [](Object& object) -> apimachinery::Result<void> {
    return object.key.namespace_ == "refused" ? apimachinery::Fail(Reason::kInvalid, "not this one")
                                              : apimachinery::Result<void>();
  };
  Make(std::move(options));
  const auto registration = informer_->AddRawHandler(
      "thrower", [](const RawEvent&) { throw std::runtime_error("handler bug"); });
  StartAndSync();
  KX_AWAIT(registry_
               .Counter("informer_handler_exceptions_total", "",
                        {{"name", "things"}, {"handler", "thrower"}})
               .Value() == 100);
  // The log takes five messages a minute for each handler. The clock moves when all threads wait.
  EXPECT_GE(log.Count("An event handler threw"), 5U);
  EXPECT_LT(log.Count("An event handler threw"), 50U);
  EXPECT_GE(log.Count("transform refused an object"), 5U);
  EXPECT_LT(log.Count("transform refused an object"), 50U);
}

TEST_F(SharedInformerTest, TransformsBeforeAnythingElse) {
  InformerOptions options = Options();
  options.transform = [](Object& object) -> apimachinery::Result<void> {
    if (object.key.name.starts_with("refused")) {
      return apimachinery::Fail(Reason::kInvalid, "not this one");
    }
    object.bytes = "transformed " + object.key.name;
    return {};
  };
  source_->Put({"a", "1"}, "secret");
  source_->Put({"a", "refused"}, "secret");
  Make(std::move(options));
  Recorder recorder;
  const auto subscription = informer_->AddRawHandler("recorder", recorder.Handler());
  StartAndSync();
  source_->Put({"a", "2"}, "secret");
  recorder.AwaitContent({{{"a", "1"}, "transformed 1"}, {{"a", "2"}, "transformed 2"}});
  EXPECT_EQ(registry_.Counter("informer_transform_errors_total", "", InformerLabels()).Value(), 1);
  // A caller that waits for the write of an object that is dropped does not have to wait until
  // something else changes.
  const std::string dropped = source_->Put({"a", "refused, too"}, "secret");
  KX_AWAIT_EQ(informer_->LastSyncResourceVersion(), dropped);
  EXPECT_EQ(informer_->LastSyncResourceVersion(), dropped) << "waited 30 s for it";
  EXPECT_FALSE(informer_->Contains({"a", "refused, too"}));
}

TEST_F(SharedInformerTest, ResyncDeliversEverythingAgain) {
  base::testing::FakeClock clock;
  InformerOptions options{
      .name = "things", .clock = clock, .resync_period = std::chrono::minutes(5), .seed = 1};
  source_->Put({"a", "1"}, "x");
  source_->Put({"a", "2"}, "x");
  Make(std::move(options));
  Recorder recorder;
  const auto subscription = informer_->AddRawHandler("recorder", recorder.Handler());
  StartAndSync();
  recorder.AwaitEvents(2);
  clock.AwaitSleepers(1);
  clock.Advance(std::chrono::minutes(5));
  recorder.AwaitEvents(4);
  const auto log = recorder.log();
  EXPECT_THAT(std::vector<std::string>(log.begin() + 2, log.end()),
              UnorderedElementsAre("update a/1", "update a/2"));
  informer_.reset();
}

TEST_F(SharedInformerTest, EventsAreDecodedOnceForAllHandlers) {
  Make();
  std::atomic<int> decodes = 0;
  const auto decode = [&decodes](const Object& object) -> RawEvent::DecodeResult {
    ++decodes;
    return std::make_shared<const std::string>(object.bytes);
  };
  Recorder last;
  std::vector<base::Subscription> subscriptions;
  std::array<std::atomic<const void*>, 3> seen{};
  for (std::size_t i = 0; i < seen.size(); ++i) {
    subscriptions.push_back(informer_->AddRawHandler(
        std::to_string(i),
        [&, i](const RawEvent& event) { seen[i] = event.Decoded(decode).value().get(); }));
  }
  StartAndSync();
  source_->Put({"a", "1"}, "x");
  for (const auto& pointer : seen) {
    KX_AWAIT_NE(pointer, nullptr);
  }
  EXPECT_EQ(decodes, 1);
}

TEST_F(SharedInformerTest, IndexesAreServed) {
  Make();
  informer_->AddIndexer(
      [](const Object& object) { return IndexTerms{{"namespace", object.key.namespace_}}; });
  source_->Put({"a", "1"}, "x");
  source_->Put({"b", "1"}, "x");
  StartAndSync();
  EXPECT_THAT(informer_->KeysByIndex("namespace", "b"), ElementsAre(ObjectKey{"b", "1"}));
  EXPECT_THAT(informer_->KeysByIndex("namespace", "c"), IsEmpty());
  EXPECT_THAT(informer_->Keys(), UnorderedElementsAre(ObjectKey{"a", "1"}, ObjectKey{"b", "1"}));
  EXPECT_EQ(informer_->GetRaw({"c", "1"}).error().reason, Reason::kNotFound);
}

TEST_F(SharedInformerTest, WaitForSyncEndsWithItsToken) {
  source_->FailLists({Reason::kUnavailable, "down"}, 1000000000);
  source_->FailWatches({Reason::kUnavailable, "down"}, 1000000000);
  Make();
  informer_->Start();
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(informer_->WaitForSync(stop.get_token()));
}

// Whatever happens to the source, a handler that only knows its events ends with the same objects
// as the source. So does the store, and so does a handler that was added in the middle. All of this
// holds across restarts, too.
TEST_F(SharedInformerTest, LosesNoChangeUnderRandomFaults) {
  const auto first_seed = std::random_device{}();
  for (std::uint64_t seed = first_seed; seed < first_seed + 20ULL; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    source_ = std::make_shared<FakeSource>();
    testing::Chaos chaos(*source_, seed);
    chaos.Run(30);
    InformerOptions options = Options();
    options.seed = seed;
    options.handler_buffer = 1 + seed % 5;
    options.use_watch_list = seed % 2 == 0;
    Make(std::move(options));
    Recorder early;
    Recorder late;
    const auto first = informer_->AddRawHandler("early", early.Handler());
    informer_->Start();
    chaos.Run(150);
    const auto second = informer_->AddRawHandler("late", late.Handler());
    chaos.Run(100);
    if (seed % 3 == 0) {
      informer_->Stop();
      chaos.Run(20);
      informer_->Start();
    }
    chaos.Run(50);
    // This is a last state that was not there before.
    source_->Put({"last", "one"}, "x");
    early.AwaitContent(Expected());
    late.AwaitContent(Expected());
    EXPECT_EQ(Stored(), Expected());
    informer_.reset();
  }
}

}  // namespace
}  // namespace kubexx::cache
