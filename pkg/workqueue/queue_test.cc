#include "kubexx/workqueue/queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::workqueue {
namespace {

using base::testing::FakeClock;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

Key NamedKey(std::string name) { return {"pod", {"ns", std::move(name)}}; }

/// Lets other threads run until `condition` holds; the test's own time limit ends it otherwise.
template <class Condition>
void Await(Condition condition) {
  KX_AWAIT(condition());
}

class QueueTest : public ::testing::Test {
 protected:
  FakeClock clock_;
  metrics::Registry registry_;
  Queue queue_{{.name = "q", .clock = clock_, .registry = &registry_}};
  std::map<std::string, Queue::Item> working_;

  /// Takes a key and keeps its item until Done.
  std::string Take() {
    Queue::Item item = queue_.Get();
    if (!item) {
      return "nothing";
    }
    std::string name = item->object.name;
    working_[name] = std::move(item);
    return name;
  }
  void Done(const std::string& name) { working_.erase(name); }
  void TakeAndFinish(const std::string& name) {
    const Queue::Item item = queue_.Get();
    EXPECT_EQ(item ? item->object.name : "nothing", name);
  }
  double Value(const std::string& gauge) {
    registry_.Serialize();
    return registry_.Gauge(gauge, "", {{"name", "q"}}).Value();
  }
  double Count(const std::string& counter) {
    return registry_.Counter(counter, "", {{"name", "q"}}).Value();
  }
};

TEST_F(QueueTest, KeysComeInOrderOfArrival) {
  for (const char* name : {"c", "a", "b"}) {
    queue_.Add(NamedKey(name));
  }
  EXPECT_EQ(queue_.Len(), 3U);
  TakeAndFinish("c");
  TakeAndFinish("a");
  TakeAndFinish("b");
  EXPECT_EQ(queue_.Len(), 0U);
}

TEST_F(QueueTest, WaitingKeyIsQueuedOnce) {
  queue_.Add(NamedKey("a"));
  queue_.Add(NamedKey("b"));
  queue_.Add(NamedKey("a"));
  EXPECT_EQ(queue_.Len(), 2U);
  TakeAndFinish("a");
  TakeAndFinish("b");
}

TEST_F(QueueTest, KindsAreDifferentKeys) {
  queue_.Add({"pod", {"ns", "a"}});
  queue_.Add({"node", {"ns", "a"}});
  EXPECT_EQ(queue_.Len(), 2U);
}

TEST_F(QueueTest, KeyAddedDuringItsWorkComesAgainAfterDone) {
  queue_.Add(NamedKey("a"));
  EXPECT_EQ(Take(), "a");
  queue_.Add(NamedKey("a"));
  queue_.Add(NamedKey("a"));
  EXPECT_EQ(queue_.Len(), 0U) << "not while it is worked on";
  queue_.Add(NamedKey("b"));
  Done("a");
  EXPECT_EQ(queue_.Len(), 2U);
  TakeAndFinish("b");
  TakeAndFinish("a");
  EXPECT_EQ(queue_.Len(), 0U);
}

TEST_F(QueueTest, WorkEndsOnceHoweverOftenItIsDone) {
  queue_.Add(NamedKey("a"));
  Queue::Item item = queue_.Get();
  queue_.Add(NamedKey("a"));
  item.Done();
  Queue::Item again = queue_.Get();
  EXPECT_FALSE(item);
  item.Done();
  item = Queue::Item();
  queue_.Add(NamedKey("a"));
  EXPECT_EQ(queue_.Len(), 0U) << "the second work is not done";
  item = std::move(again);
  EXPECT_EQ(*item, NamedKey("a"));
  item = queue_.Next(std::move(item));
  EXPECT_EQ(*item, NamedKey("a"));
  EXPECT_EQ(queue_.Len(), 0U);
}

TEST_F(QueueTest, GetWaitsForAnAdd) {
  std::jthread worker([this] { TakeAndFinish("a"); });
  queue_.Add(NamedKey("a"));
}

TEST_F(QueueTest, StopEndsAWaitingGet) {
  std::jthread worker([this](std::stop_token stop) { EXPECT_FALSE(queue_.Get(stop)); });
  worker.request_stop();
  worker.join();
  EXPECT_FALSE(queue_.shutting_down());
}

TEST_F(QueueTest, RequestedStopGoesBeforeKeys) {
  queue_.Add(NamedKey("a"));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(queue_.Get(stop.get_token()));
  EXPECT_EQ(queue_.Len(), 1U);
}

TEST_F(QueueTest, StoppedWorkerDoesNotTakeAnothersWakeUp) {
  for (int round = 0; round < 200; ++round) {
    std::jthread stopped([this](std::stop_token stop) {
      if (const auto item = queue_.Get(stop)) {
        queue_.Add(*item);
      }
    });
    std::jthread worker([this] { TakeAndFinish("a"); });
    std::jthread stopper([&stopped] { stopped.request_stop(); });
    queue_.Add(NamedKey("a"));
  }
}

TEST_F(QueueTest, ShutDownLetsWorkersTakeWhatIsQueued) {
  queue_.Add(NamedKey("a"));
  queue_.Add(NamedKey("b"));
  EXPECT_EQ(Take(), "a");
  queue_.Add(NamedKey("a"));
  queue_.ShutDown();
  EXPECT_TRUE(queue_.shutting_down());
  queue_.Add(NamedKey("c"));
  TakeAndFinish("b");
  EXPECT_FALSE(queue_.Get()) << "a is still worked on";
  Done("a");
  TakeAndFinish("a");
  EXPECT_FALSE(queue_.Get());
}

TEST_F(QueueTest, ShutDownEndsAllWaitingGets) {
  std::vector<std::jthread> workers;
  for (int i = 0; i < 4; ++i) {
    workers.emplace_back([this] { EXPECT_FALSE(queue_.Get()); });
  }
  queue_.ShutDown();
}

TEST_F(QueueTest, ShutDownDropsDelayedKeys) {
  queue_.AddAfter(NamedKey("a"), seconds(1));
  queue_.ShutDown();
  queue_.AddAfter(NamedKey("b"), seconds(0));
  queue_.AddAfter(NamedKey("b"), seconds(1));
  queue_.AddRateLimited(NamedKey("c"));
  clock_.Advance(hours(1));
  EXPECT_FALSE(queue_.Get());
  EXPECT_EQ(queue_.NumRequeues(NamedKey("c")), 0);
}

TEST_F(QueueTest, DrainWaitsForQueuedAndRunningKeys) {
  queue_.Add(NamedKey("a"));
  queue_.Add(NamedKey("b"));
  EXPECT_EQ(Take(), "a");
  std::atomic<bool> drained = false;
  std::jthread drain([&] {
    queue_.ShutDownWithDrain();
    drained = true;
  });
  Await([&] { return queue_.shutting_down(); });
  EXPECT_EQ(Take(), "b");
  Done("a");
  EXPECT_FALSE(drained);
  Done("b");
  drain.join();
  EXPECT_TRUE(drained);
  EXPECT_FALSE(queue_.Get());
}

TEST_F(QueueTest, DrainWaitsForAKeyThatWasAddedDuringItsWork) {
  queue_.Add(NamedKey("a"));
  EXPECT_EQ(Take(), "a");
  queue_.Add(NamedKey("a"));
  std::jthread drain([&] { queue_.ShutDownWithDrain(); });
  Await([&] { return queue_.shutting_down(); });
  Done("a");
  EXPECT_EQ(queue_.Len(), 1U);
  TakeAndFinish("a");
}

TEST_F(QueueTest, DrainOfAnIdleQueueReturns) {
  queue_.AddAfter(NamedKey("a"), hours(1));
  queue_.ShutDownWithDrain();
  EXPECT_TRUE(queue_.shutting_down());
}

TEST_F(QueueTest, ShutDownEndsADrain) {
  queue_.Add(NamedKey("a"));
  std::jthread drain([&] { queue_.ShutDownWithDrain(); });
  Await([&] { return queue_.shutting_down(); });
  queue_.ShutDown();
  drain.join();
  EXPECT_EQ(queue_.Len(), 1U);
}

TEST_F(QueueTest, DelayedKeyComesWhenItsTimeHasCome) {
  queue_.AddAfter(NamedKey("a"), milliseconds(50));
  clock_.AwaitSleepers(1);
  clock_.Advance(milliseconds(49));
  EXPECT_EQ(queue_.Len(), 0U);
  clock_.Advance(milliseconds(1));
  TakeAndFinish("a");
}

TEST_F(QueueTest, DelayedKeysComeInOrderOfTime) {
  queue_.AddAfter(NamedKey("c"), milliseconds(30));
  queue_.AddAfter(NamedKey("a"), milliseconds(10));
  queue_.AddAfter(NamedKey("b"), milliseconds(20));
  queue_.AddAfter(NamedKey("b2"), milliseconds(20));
  clock_.Advance(milliseconds(30));
  for (const char* name : {"a", "b", "b2", "c"}) {
    TakeAndFinish(name);
  }
}

TEST_F(QueueTest, EarlierOfTwoDelaysWins) {
  queue_.AddAfter(NamedKey("a"), seconds(60));
  queue_.AddAfter(NamedKey("a"), seconds(1));
  queue_.AddAfter(NamedKey("a"), seconds(30));
  clock_.AwaitSleepers(1);
  clock_.Advance(seconds(1));
  TakeAndFinish("a");
  queue_.AddAfter(NamedKey("end"), seconds(100));
  clock_.Advance(seconds(100));
  TakeAndFinish("end");
  EXPECT_EQ(queue_.Len(), 0U) << "the later times are gone";
}

TEST_F(QueueTest, AddDoesNotTakeBackADelay) {
  queue_.AddAfter(NamedKey("a"), seconds(1));
  queue_.Add(NamedKey("a"));
  TakeAndFinish("a");
  clock_.AwaitSleepers(1);
  clock_.Advance(seconds(1));
  TakeAndFinish("a");
}

TEST_F(QueueTest, NonPositiveDelayAddsAtOnce) {
  queue_.AddAfter(NamedKey("a"), seconds(0));
  queue_.AddAfter(NamedKey("b"), seconds(-5));
  queue_.AddAfter(NamedKey("c"), base::Duration::min());
  EXPECT_EQ(queue_.Len(), 3U);
}

TEST_F(QueueTest, HugeDelayDoesNotOverflow) {
  queue_.AddAfter(NamedKey("never"), base::Duration::max());
  queue_.AddAfter(NamedKey("a"), seconds(1));
  clock_.Advance(seconds(1));
  TakeAndFinish("a");
  EXPECT_EQ(queue_.Len(), 0U);
}

TEST_F(QueueTest, RateLimitedAddsBackOffUntilForgotten) {
  for (const int expected : {5, 10, 20}) {
    queue_.AddRateLimited(NamedKey("a"));
    clock_.AwaitSleepers(1);
    clock_.Advance(milliseconds(expected - 1));
    EXPECT_EQ(queue_.Len(), 0U);
    clock_.Advance(milliseconds(1));
    TakeAndFinish("a");
  }
  EXPECT_EQ(queue_.NumRequeues(NamedKey("a")), 3);
  queue_.Forget(NamedKey("a"));
  EXPECT_EQ(queue_.NumRequeues(NamedKey("a")), 0);
  queue_.AddRateLimited(NamedKey("a"));
  clock_.AwaitSleepers(1);
  clock_.Advance(milliseconds(5));
  TakeAndFinish("a");
}

TEST_F(QueueTest, MetricsFollowAKey) {
  queue_.Add(NamedKey("a"));
  queue_.Add(NamedKey("a"));
  queue_.Add(NamedKey("b"));
  EXPECT_EQ(Value("workqueue_depth"), 2);
  EXPECT_EQ(Count("workqueue_adds_total"), 2);
  clock_.Advance(milliseconds(500));
  EXPECT_EQ(Take(), "a");
  EXPECT_EQ(Value("workqueue_depth"), 1);
  clock_.Advance(seconds(3));
  EXPECT_EQ(Take(), "b");
  clock_.Advance(seconds(1));
  EXPECT_EQ(Value("workqueue_unfinished_work_seconds"), 5);
  EXPECT_EQ(Value("workqueue_longest_running_processor_seconds"), 4);
  Done("a");
  EXPECT_EQ(Value("workqueue_unfinished_work_seconds"), 1);
  Done("b");
  EXPECT_EQ(Value("workqueue_unfinished_work_seconds"), 0);
  EXPECT_EQ(Value("workqueue_longest_running_processor_seconds"), 0);
  queue_.AddRateLimited(NamedKey("c"));
  queue_.AddAfter(NamedKey("c"), seconds(1));
  EXPECT_EQ(Count("workqueue_retries_total"), 2);

  const std::string text = registry_.Serialize();
  EXPECT_THAT(text, HasSubstr("workqueue_queue_duration_seconds_sum{name=\"q\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("workqueue_queue_duration_seconds_count{name=\"q\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("workqueue_work_duration_seconds_sum{name=\"q\"} 5\n"));
  EXPECT_THAT(text,
              HasSubstr("workqueue_work_duration_seconds_bucket{name=\"q\",le=\"1e-08\"} 0\n"));
  EXPECT_THAT(text,
              HasSubstr("workqueue_work_duration_seconds_bucket{name=\"q\",le=\"+Inf\"} 2\n"));
}

TEST_F(QueueTest, MetricsExistBeforeTheFirstKey) {
  const std::string text = registry_.Serialize();
  for (const char* line :
       {"workqueue_depth{name=\"q\"} 0\n", "workqueue_adds_total{name=\"q\"} 0\n",
        "workqueue_retries_total{name=\"q\"} 0\n",
        "workqueue_unfinished_work_seconds{name=\"q\"} 0\n",
        "workqueue_longest_running_processor_seconds{name=\"q\"} 0\n",
        "workqueue_queue_duration_seconds_count{name=\"q\"} 0\n",
        "workqueue_work_duration_seconds_count{name=\"q\"} 0\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(QueueMetricsTest, QueueWithoutANameHasNone) {
  metrics::Registry registry;
  Queue queue({.registry = &registry});
  queue.Add(NamedKey("a"));
  EXPECT_EQ(registry.Serialize(), "");
}

TEST(QueueMetricsTest, RegistryMayBeScrapedAfterTheQueueIsGone) {
  metrics::Registry registry;
  {
    Queue queue({.name = "short", .registry = &registry});
  }
  EXPECT_THAT(registry.Serialize(), HasSubstr("workqueue_depth{name=\"short\"} 0\n"));
}

TEST(QueueLifeTest, QueueWithKeysInEveryStateIsDestroyed) {
  Queue queue({});
  queue.Add(NamedKey("running"));
  const Queue::Item item = queue.Get();
  EXPECT_TRUE(item);
  queue.Add(NamedKey("running"));
  queue.Add(NamedKey("waiting"));
  queue.AddAfter(NamedKey("delayed"), hours(1));
  queue.AddAfter(NamedKey("waiting"), hours(2));
}

TEST(QueueLifeTest, RealClockDelivers) {
  Queue queue({});
  queue.AddAfter(NamedKey("a"), hours(1));
  queue.AddAfter(NamedKey("b"), milliseconds(1));
  EXPECT_EQ(*queue.Get(), NamedKey("b"));
  EXPECT_EQ(queue.Len(), 0U);
}

// Who owns what on_ready calls destroys it after ShutDown.
TEST(QueueOnReadyTest, NoCallGoesOnWhenAShutDownHasReturned) {
  FakeClock clock;
  std::atomic<bool> is_called = false;
  std::atomic<bool> is_over = false;
  std::atomic<bool> was_late = false;
  const auto on_ready = [&] {
    if (is_called.exchange(true)) {
      return;  // the call of the ShutDown
    }
    base::testing::Patience patience("a ShutDown that can return");
    for (int i = 0; i < 200 && !is_over; ++i) {
      patience.Pause();
    }
    was_late = was_late || is_over;
  };
  const auto debounce = Debounce{};
  const std::map<std::string, std::function<void(Queue&, Queue::Item)>> calls = {
      {"Add", [](Queue& queue, Queue::Item) { queue.Add(NamedKey("b")); }},
      {"AddAfter", [](Queue& queue, Queue::Item) { queue.AddAfter(NamedKey("b"), seconds(0)); }},
      {"AddDebounced",
       [&](Queue& queue, Queue::Item) { queue.AddDebounced(NamedKey("b"), debounce); }},
      {"PutBack",
       [](Queue& queue, Queue::Item item) { queue.PutBack(std::move(item), seconds(0)); }},
  };
  for (const auto& [name, call] : calls) {
    Queue queue({.clock = clock, .on_ready = on_ready});
    is_over = true;
    queue.Add(NamedKey("a"));
    Queue::Item item = queue.TryNext({});
    is_over = false;
    is_called = false;
    was_late = false;
    std::jthread adder([&] { call(queue, std::move(item)); });
    Await([&] { return is_called.load(); });
    queue.ShutDown();
    is_over = true;
    adder.join();
    EXPECT_FALSE(was_late) << name;
  }
}

TEST(QueueOnReadyTest, IsToldOfAShutDownOnce) {
  int calls = 0;
  Queue queue({.on_ready = [&] { ++calls; }});
  queue.ShutDown();
  EXPECT_EQ(calls, 1);
  queue.ShutDown();
  queue.ShutDownAfterWindows();
  queue.ShutDownWithDrain();
  queue.Add(NamedKey("a"));
  EXPECT_EQ(calls, 1);
}

// A program may run one manager after another with the same registry.
TEST(QueueEndTest, WhatAQueueLeavesIsNotCountedAnyMore) {
  for (const Order order : {Order::kArrival, Order::kPriority, Order::kFair}) {
    FakeClock clock;
    metrics::Registry registry;
    const auto of = [&](const std::string& line) {
      EXPECT_THAT(registry.Serialize(), HasSubstr(line));
    };
    const std::string labels =
        order == Order::kPriority ? "{name=\"q\",priority=\"0\"}" : "{name=\"q\"}";
    const auto longest =
        registry.Gauge("workqueue_longest_running_processor_seconds", "", {{"name", "q"}});
    {
      Queue queue({.name = "q", .clock = clock, .registry = &registry, .order = order});
      queue.Add(NamedKey("a"));
      queue.Add(NamedKey("b"));
      queue.Add(NamedKey("c"));
      queue.AddAfter(NamedKey("d"), seconds(5));
      Queue::Item item = queue.Get();
      clock.Advance(seconds(2));
      queue.Add(*item);
      of("workqueue_depth" + labels + " 3\n");
      EXPECT_EQ(longest.Value(), 2);
    }
    EXPECT_EQ(longest.Value(), 0);
    of("workqueue_depth" + labels + " 0\n");
    Queue next({.name = "q", .clock = clock, .registry = &registry, .order = order});
    next.Add(NamedKey("a"));
    of("workqueue_depth" + labels + " 1\n");
  }
}

}  // namespace
}  // namespace kubexx::workqueue
