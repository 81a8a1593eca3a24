#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
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
#include "kubexx/metrics/registry.h"

namespace kubexx::cache {
namespace {

using apimachinery::ObjectKey;
using apimachinery::Reason;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::FakeSource;
using testing::Gate;
using testing::Recorder;
using ::testing::UnorderedElementsAre;

Recorder::Content ContentOf(const std::vector<std::shared_ptr<FakeSource>>& sources) {
  Recorder::Content content;
  for (const auto& source : sources) {
    for (const auto& [key, object] : source->objects()) {
      content[key] = object.bytes;
    }
  }
  return content;
}

class InformerHandlersTest : public ::testing::Test {
 protected:
  void Make(InformerOptions options) {
    options.name = "things";
    options.registry = &registry_;
    options.seed = 1;
    informer_ = std::make_unique<SharedInformerBase>(source_, std::move(options));
  }
  void Make() { Make({.clock = auto_clock_}); }
  void StartAndSync() {
    informer_->Start();
    ASSERT_TRUE(informer_->WaitForSync(base::testing::PatienceEnd().token()));
  }
  SharedInformerBase::RawHandler Gated(Gate& gate, Recorder& recorder) {
    return [&gate, handler = recorder.Handler()](const RawEvent& event) {
      gate.Wait();
      handler(event);
    };
  }

  testing::AutoClock auto_clock_;
  base::testing::FakeClock clock_;
  metrics::Registry registry_;
  std::shared_ptr<FakeSource> source_ = std::make_shared<FakeSource>();
  std::unique_ptr<SharedInformerBase> informer_;
};

TEST_F(InformerHandlersTest, ASlowHandlerHoldsNobodyBackAndMissesNoLastState) {
  Make({.clock = auto_clock_, .handler_buffer = 4});
  Gate gate;
  Recorder slow;
  Recorder quick;
  const auto slow_registration = informer_->AddRawHandler("slow", Gated(gate, slow));
  const auto quick_registration =
      informer_->AddRawHandler("quick", quick.Handler(), {.buffer = 100000});
  StartAndSync();
  constexpr std::size_t kChanges = 3000;
  for (std::size_t i = 0; i < kChanges; ++i) {
    source_->Put({"a", std::to_string(i % 10)}, std::to_string(i));
    if (i % 50 == 49) {
      source_->Delete({"a", "9"});
    }
  }
  quick.AwaitContent(ContentOf({source_}));
  gate.Open();
  slow.AwaitContent(ContentOf({source_}));
  EXPECT_EQ(quick.log().size(), kChanges + kChanges / 50);
  // One event was being handled and four waited. After them there was at most one change per
  // object.
  EXPECT_LE(slow.log().size(), 1U + 4 + 10);
  EXPECT_GT(registry_
                .Counter("informer_handler_merged_events_total", "",
                         {{"name", "things"}, {"handler", "slow"}})
                .Value(),
            1000);
}

TEST_F(InformerHandlersTest, ARegistrationKnowsWhenItsHandlerHasSynced) {
  source_->Put({"a", "1"}, "x");
  Make();
  Gate gate;
  Recorder recorder;
  auto registration = informer_->AddRawHandler("one", Gated(gate, recorder));
  EXPECT_FALSE(registration.HasSynced());
  StartAndSync();
  EXPECT_FALSE(registration.HasSynced());
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(registration.WaitForSync(stop.get_token()));
  gate.Open();
  EXPECT_TRUE(registration.WaitForSync(base::testing::PatienceEnd().token()));
  EXPECT_EQ(recorder.log().size(), 1U);
  registration.Reset();
  EXPECT_FALSE(HandlerRegistration().HasSynced());
}

TEST_F(InformerHandlersTest, WaitingForAHandlerEndsWithItsRemoval) {
  Make();
  auto registration = informer_->AddRawHandler("one", [](const RawEvent&) {});
  bool synced = true;
  std::jthread waiter([&registration, &synced] {
    synced = registration.WaitForSync(base::testing::PatienceEnd().token());
  });
  registration.Reset();  // never started
  waiter.join();
  EXPECT_FALSE(synced);
}

TEST_F(InformerHandlersTest, ADrainedHandlerIsGivenWhatWaitsAndNoMore) {
  Make();
  Gate gate;
  Recorder drained;
  Recorder other;
  auto registration = informer_->AddRawHandler("drained", Gated(gate, drained));
  const auto other_registration = informer_->AddRawHandler("other", other.Handler());
  StartAndSync();
  for (int i = 0; i < 5; ++i) {
    source_->Put({"a", std::to_string(i)}, "x");
  }
  other.AwaitEvents(5);
  std::stop_source stop;
  std::jthread drainer([&registration] { EXPECT_TRUE(registration.Drain({}).has_value()); });
  gate.Open();
  drainer.join();
  EXPECT_EQ(drained.log().size(), 5U);
  source_->Put({"a", "later"}, "x");
  other.AwaitEvents(6);
  EXPECT_EQ(drained.log().size(), 5U);
  EXPECT_TRUE(registration.Drain({}).has_value()) << "again";
}

TEST_F(InformerHandlersTest, ADrainCanBeGivenUpAndIsRefusedToTheHandlerItself) {
  source_->Put({"a", "1"}, "x");
  Make();
  Gate entered;
  Gate gate;
  Reason own = Reason::kUnknown;
  HandlerRegistration registration;
  registration = informer_->AddRawHandler("one", [&](const RawEvent&) {
    own = registration.Drain({}).error().reason;
    entered.Open();
    gate.Wait();
  });
  StartAndSync();
  entered.Wait();
  EXPECT_EQ(own, Reason::kInvalid);
  std::stop_source stop;
  stop.request_stop();
  // The removal waits for the running call, which ends once the handler counts as removed.
  std::jthread opener([&] {
    const base::testing::PatienceEnd end;
    EXPECT_FALSE(registration.WaitForSync(end.token()));
    EXPECT_FALSE(end.expired()) << "it waits on";
    gate.Open();
  });
  EXPECT_EQ(registration.Drain(stop.get_token()).error().reason, Reason::kCancelled);
}

TEST_F(InformerHandlersTest, HandlersResyncAtTheirOwnPeriods) {
  source_->Put({"a", "1"}, "x");
  Make({.clock = clock_, .resync_period = minutes(10)});
  Recorder often;
  Recorder seldom;
  Recorder never;
  const auto r1 = informer_->AddRawHandler("often", often.Handler(), {.resync_period = minutes(5)});
  const auto r2 = informer_->AddRawHandler("seldom", seldom.Handler());
  const auto r3 = informer_->AddRawHandler("never", never.Handler(), {.resync_period = seconds(0)});
  StartAndSync();
  // Its handler asks for a shorter resync than the running informer has, and gets five minutes.
  Recorder late;
  const auto r4 = informer_->AddRawHandler("late", late.Handler(), {.resync_period = minutes(1)});
  ASSERT_TRUE(r4.WaitForSync(base::testing::PatienceEnd().token()));
  for (std::size_t i = 1; i <= 4; ++i) {
    clock_.AwaitSleepers(1);
    clock_.Advance(minutes(5));
    often.AwaitEvents(1 + i);
    late.AwaitEvents(1 + i);
    seldom.AwaitEvents(1 + i / 2);
  }
  never.AwaitEvents(1);  // Nobody else waits for its thread.
  informer_->Stop();
  EXPECT_EQ(often.log().size(), 5U);
  EXPECT_EQ(late.log().size(), 5U);
  EXPECT_EQ(seldom.log().size(), 3U);
  EXPECT_EQ(never.log().size(), 1U);
  EXPECT_EQ(registry_.Counter("reflector_resyncs_total", "", {{"name", "things"}}).Value(), 4);
}

TEST_F(InformerHandlersTest, AHandlerKnowsWhichEventIsASingleChange) {
  source_->Put({"a", "1"}, "x");
  Make({.clock = auto_clock_, .handler_buffer = 1});
  StartAndSync();
  // The events that one handler has recorded. Only its own calls touch them.
  using Seen = std::vector<std::pair<std::string, bool>>;
  const auto noting = [](Seen& seen, Recorder& recorder) {
    return [&seen, record = recorder.Handler()](const RawEvent& event) {
      seen.emplace_back(event.object().bytes, event.is_single_change);
      record(event);
    };
  };
  Seen quick;
  Recorder recorder;
  const auto registration = informer_->AddRawHandler("quick", noting(quick, recorder));
  recorder.AwaitEvents(1);
  source_->Put({"a", "1"}, "told by a watch");
  recorder.AwaitEvents(2);
  source_->AwaitCaughtUp();
  // Neither a list nor a watch that begins with one succeeds before there is an object to find.
  source_->FailLists({Reason::kUnavailable, "not now", 503}, 1000000);
  source_->FailWatches({Reason::kExpired, "too old", 410}, 1000000);
  source_->DropWatches();
  source_->Put({"a", "1"}, "told by a list");
  source_->Compact();
  source_->FailLists({}, 0);
  source_->FailWatches({}, 0);
  recorder.AwaitEvents(3);
  Seen slow;
  Gate gate;
  Recorder last;
  const auto late =
      informer_->AddRawHandler("slow", [&gate, note = noting(slow, last)](const RawEvent& event) {
        gate.Wait();
        note(event);
      });
  Recorder witness;  // is told of each event after the slow handler
  const auto other = informer_->AddRawHandler("witness", witness.Handler());
  for (const char* text : {"merged 1", "merged 2", "merged 3", "merged 4", "merged 5"}) {
    source_->Put({"a", "1"}, text);
  }
  witness.AwaitContent(ContentOf({source_}));
  gate.Open();
  last.AwaitContent(ContentOf({source_}));
  recorder.AwaitContent(ContentOf({source_}));  // after that its handler adds no more to `quick`
  ASSERT_GE(quick.size(), 3U);
  EXPECT_THAT(quick[0], ::testing::Pair(::testing::HasSubstr("\"x\""), false)) << "the first list";
  EXPECT_THAT(quick[1], ::testing::Pair(::testing::HasSubstr("\"told by a watch\""), true));
  EXPECT_THAT(quick[2], ::testing::Pair(::testing::HasSubstr("\"told by a list\""), false));
  EXPECT_THAT(slow.back(), ::testing::Pair(::testing::HasSubstr("\"merged 5\""), false));
}

TEST_F(InformerHandlersTest, IndexesCanBeAddedWhileItRuns) {
  source_->Put({"a", "1"}, "x");
  source_->Put({"b", "1"}, "x");
  Make();
  StartAndSync();
  ASSERT_TRUE(informer_->AddIndexers(NamespaceIndexer()));
  EXPECT_EQ(informer_->AddIndexers(NamespaceIndexer()).error().reason, Reason::kAlreadyExists);
  EXPECT_THAT(informer_->KeysByIndex("namespace", "b"), UnorderedElementsAre(ObjectKey{"b", "1"}));
  Recorder recorder;
  const auto registration = informer_->AddRawHandler("one", recorder.Handler());
  source_->Put({"b", "2"}, "x");
  recorder.AwaitEvents(3);
  EXPECT_EQ(informer_->CountByIndex("namespace", "b"), 2U);
}

class NamespacesTest : public InformerHandlersTest {
 protected:
  void MakeOver(std::vector<std::string> namespaces, InformerOptions options) {
    std::vector<NamespacedSource> sources;
    for (std::string& namespace_ : namespaces) {
      sources_.push_back(std::make_shared<FakeSource>());
      NamespacedSource& source = sources.emplace_back();
      source.namespace_ = std::move(namespace_);
      source.lister_watcher = sources_.back();
    }
    options.name = "things";
    options.seed = 1;
    informer_ = std::make_unique<SharedInformerBase>(std::move(sources), std::move(options));
  }

  std::vector<std::shared_ptr<FakeSource>> sources_;
};

TEST_F(NamespacesTest, OneViewOverSeveralNamespaces) {
  MakeOver({"a", "b"}, {.clock = auto_clock_});
  sources_[0]->Put({"a", "1"}, "x");
  sources_[1]->Put({"b", "1"}, "x");
  Recorder recorder;
  const auto registration = informer_->AddRawHandler("one", recorder.Handler());
  StartAndSync();
  EXPECT_TRUE(registration.WaitForSync(base::testing::PatienceEnd().token()));
  EXPECT_THAT(recorder.log(), UnorderedElementsAre("initial a/1", "initial b/1"));
  for (int i = 0; i < 5; ++i) {
    sources_[1]->Put({"b", "2"}, std::to_string(i));
  }
  recorder.AwaitContent(ContentOf(sources_));
  EXPECT_EQ(informer_->LastSyncResourceVersion("b"), sources_[1]->resource_version());
  EXPECT_EQ(informer_->LastSyncResourceVersion(), sources_[0]->resource_version()) << "the older";
  // A relist of one source does not affect the other source.
  sources_[0]->AwaitCaughtUp();
  sources_[0]->FailWatches({Reason::kExpired, "too old", 410}, 1);
  sources_[0]->DropWatches();
  sources_[0]->Delete({"a", "1"});
  sources_[0]->Put({"a", "9"}, "x");
  sources_[0]->Compact();
  recorder.AwaitContent(ContentOf(sources_));
  EXPECT_EQ(informer_->Size(), 3U);
}

TEST_F(NamespacesTest, AForbiddenNamespaceStopsNoOtherAndComesWhenItMay) {
  MakeOver({"a", "forbidden"}, {.clock = auto_clock_});
  sources_[0]->Put({"a", "1"}, "x");
  sources_[1]->Put({"forbidden", "1"}, "x");
  sources_[1]->FailWatches({Reason::kForbidden, "no", 403}, 1000000);
  sources_[1]->FailLists({Reason::kForbidden, "no", 403}, 1000000);
  Recorder recorder;
  const auto registration = informer_->AddRawHandler("one", recorder.Handler());
  StartAndSync();
  EXPECT_TRUE(registration.WaitForSync(base::testing::PatienceEnd().token()));
  EXPECT_EQ(informer_->Size(), 1U);
  EXPECT_EQ(informer_->LastSyncResourceVersion("forbidden"), "");
  sources_[0]->Put({"a", "2"}, "x");
  recorder.AwaitEvents(2);
  sources_[1]->FailWatches({}, 0);
  sources_[1]->FailLists({}, 0);
  recorder.AwaitContent(ContentOf(sources_));
}

TEST_F(NamespacesTest, LosesNoChangeUnderRandomFaults) {
  const auto first_seed = std::random_device{}();
  for (std::uint64_t seed = first_seed; seed < first_seed + 5ULL; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    // The fake has objects in "ns0" and "ns1". Each namespace sees the objects of its own source.
    sources_.clear();
    MakeOver({"ns0", "ns1"}, {.clock = auto_clock_, .handler_buffer = 1 + seed % 5});
    Recorder recorder;
    const auto registration = informer_->AddRawHandler("one", recorder.Handler());
    informer_->Start();
    std::mt19937_64 random(seed);
    for (int i = 0; i < 300; ++i) {
      const std::size_t n = random() % 2;
      FakeSource& source = *sources_[n];
      const ObjectKey key{"ns" + std::to_string(n), std::to_string(random() % 10)};
      switch (random() % 8) {
        case 0:
          source.Delete(key);
          break;
        case 1:
          source.DropWatches();
          break;
        case 2:
          source.Compact();
          source.BreakWatches({Reason::kExpired, "too old", 410});
          break;
        case 3:
          source.FailLists({Reason::kForbidden, "no", 403}, 2);
          break;
        default:
          source.Put(key, std::to_string(i));
      }
    }
    sources_[0]->Put({"ns0", "last"}, "x");
    sources_[1]->Put({"ns1", "last"}, "x");
    recorder.AwaitContent(ContentOf(sources_));
    informer_.reset();
  }
}

}  // namespace
}  // namespace kubexx::cache
