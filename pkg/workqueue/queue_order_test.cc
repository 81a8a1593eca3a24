// Tests queues that hand out keys by priority or in turns of tenants, against models that are
// simple enough to be seen correct, and with several threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/workqueue/queue.h"

namespace kubexx::workqueue {
namespace {

using base::testing::FakeClock;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

Key K(const std::string& name, const std::string& tenant = "ns") { return {"", {tenant, name}}; }

std::string Take(Queue& queue) {
  const Queue::Item item = queue.Get();
  return item ? item->object.name : "nothing";
}

class PriorityQueueTest : public ::testing::Test {
 protected:
  void Add(const std::string& name, int priority) { queue_.Add(K(name), {.priority = priority}); }
  void ExpectOrder(const std::vector<std::string>& names) {
    EXPECT_EQ(queue_.Len(), names.size());
    for (const std::string& name : names) {
      EXPECT_EQ(Take(queue_), name);
    }
  }
  std::string Depth(const std::string& priority) {
    const std::string text = registry_.Serialize();
    const std::string line = "workqueue_depth{name=\"q\",priority=\"" + priority + "\"} ";
    const std::size_t at = text.find(line);
    return at == std::string::npos
               ? "none"
               : text.substr(at + line.size(), text.find('\n', at) - at - line.size());
  }

  FakeClock clock_;
  metrics::Registry registry_;
  Queue queue_{{.name = "q", .clock = clock_, .registry = &registry_, .order = Order::kPriority}};
};

TEST_F(PriorityQueueTest, HigherGoesFirstThenArrival) {
  Add("low-1", -100);
  Add("usual-1", 0);
  Add("high", 7);
  Add("usual-2", 0);
  Add("low-2", -100);
  ExpectOrder({"high", "usual-1", "usual-2", "low-1", "low-2"});
}

TEST_F(PriorityQueueTest, AddingAgainRaisesButNeverLowers) {
  Add("a", 0);
  Add("b", 0);
  Add("c", 5);
  Add("a", -1);
  Add("b", 5);
  ExpectOrder({"c", "b", "a"});
}

TEST_F(PriorityQueueTest, ItemTellsItsPriority) {
  Add("a", -100);
  Add("a", 3);
  const Queue::Item item = queue_.Get();
  EXPECT_EQ(item.priority(), 3);
}

TEST_F(PriorityQueueTest, PriorityEndsWithTheWork) {
  Add("a", 9);
  EXPECT_EQ(Take(queue_), "a");
  Add("a", 1);
  EXPECT_EQ(queue_.Get().priority(), 1);
}

TEST_F(PriorityQueueTest, RaisedWhileWorkedOn) {
  Add("a", 0);
  Queue::Item item = queue_.Get();
  Add("a", 1);
  Add("a", 4);
  Add("b", 2);
  item.Done();
  ExpectOrder({"a", "b"});
}

TEST_F(PriorityQueueTest, AddTakesBackADelay) {
  queue_.Add(K("a"), {.priority = 2, .after = seconds(10)});
  queue_.Add(K("a"), {.priority = 1});
  const Queue::Item item = queue_.Get();
  EXPECT_EQ(item.priority(), 2);
  clock_.Advance(seconds(20));
  queue_.Add(K("end"), {.after = milliseconds(1)});
  clock_.AwaitSleepers(1);
  clock_.Advance(milliseconds(1));
  ExpectOrder({"end"});
}

TEST_F(PriorityQueueTest, DelayedAddOfAWaitingKeyOnlyRaises) {
  Add("b", 1);
  Add("a", 0);
  queue_.Add(K("a"), {.priority = 2, .after = seconds(10)});
  ExpectOrder({"a", "b"});
  clock_.Advance(seconds(20));
  EXPECT_EQ(queue_.Len(), 0U);
}

TEST_F(PriorityQueueTest, DelayedKeyArrivesWhenItsTimeHasCome) {
  queue_.Add(K("delayed"), {.priority = 0, .after = seconds(1)});
  queue_.Add(K("delayed"), {.priority = 1, .after = seconds(2)});
  Add("usual", 1);
  clock_.AwaitSleepers(1);
  clock_.Advance(seconds(1));
  KX_AWAIT_GE(queue_.Len(), 2);
  ExpectOrder({"usual", "delayed"});
}

TEST_F(PriorityQueueTest, DepthIsCountedByPriority) {
  EXPECT_EQ(Depth("0"), "0");
  Add("a", 0);
  Add("b", 0);
  Add("c", -100);
  EXPECT_EQ(Depth("0"), "2");
  EXPECT_EQ(Depth("-100"), "1");
  Add("c", 0);
  EXPECT_EQ(Depth("0"), "3");
  EXPECT_EQ(Depth("-100"), "0");
  EXPECT_EQ(Take(queue_), "a");
  EXPECT_EQ(Depth("0"), "2");
}

TEST_F(PriorityQueueTest, DepthHasAtMost25Priorities) {
  for (int i = 1; i <= 40; ++i) {
    Add(std::to_string(i), i);
  }
  EXPECT_EQ(Depth("24"), "1");
  EXPECT_EQ(Depth("25"), "none");
  EXPECT_EQ(Depth("exceeded_cardinality_limit"), "16");
  for (int i = 40; i >= 1; --i) {
    EXPECT_EQ(Take(queue_), std::to_string(i));
  }
  EXPECT_EQ(Depth("exceeded_cardinality_limit"), "0");
}

class FairQueueTest : public ::testing::Test {
 protected:
  static void Fill(Queue& queue, const std::string& tenant, int keys) {
    for (int i = 0; i < keys; ++i) {
      queue.Add(K(tenant + std::to_string(i), tenant));
    }
  }
};

TEST_F(FairQueueTest, TenantsTakeTurns) {
  Queue queue({.order = Order::kFair});
  Fill(queue, "a", 4);
  Fill(queue, "b", 2);
  Fill(queue, "c", 1);
  for (const char* name : {"a0", "b0", "c0", "a1", "b1", "a2", "a3"}) {
    EXPECT_EQ(Take(queue), name);
  }
  EXPECT_EQ(queue.Len(), 0U);
}

TEST_F(FairQueueTest, NoisyTenantDoesNotStarveAnother) {
  Queue queue({.order = Order::kFair});
  Fill(queue, "noisy", 100000);
  for (int i = 0; i < 10; ++i) {
    Take(queue);
  }
  Fill(queue, "quiet", 1);
  Fill(queue, "noisy", 100000);
  EXPECT_THAT(Take(queue), HasSubstr("noisy"));
  EXPECT_EQ(Take(queue), "quiet0");
}

TEST_F(FairQueueTest, WeightIsKeysATurn) {
  Queue queue({.order = Order::kFair, .fair = {.weights = {{"a", 3}, {"b", -5}}}});
  Fill(queue, "a", 7);
  Fill(queue, "b", 3);
  for (const char* name : {"a0", "a1", "a2", "b0", "a3", "a4", "a5", "b1", "a6", "b2"}) {
    EXPECT_EQ(Take(queue), name);
  }
}

TEST_F(FairQueueTest, TenantMayBeAnything) {
  Queue queue({.order = Order::kFair, .fair = {.tenant = [](const Key& key) { return key.kind; }}});
  queue.Add({"x", {"ns", "1"}});
  queue.Add({"x", {"ns", "2"}});
  queue.Add({"y", {"ns", "3"}});
  for (const char* name : {"1", "3", "2"}) {
    EXPECT_EQ(Take(queue), name);
  }
}

TEST_F(FairQueueTest, LimitLeavesWorkersForOthers) {
  Queue queue({.order = Order::kFair, .fair = {.max_working_per_tenant = 2}});
  Fill(queue, "slow", 5);
  Queue::Item first = queue.Get();
  Queue::Item second = queue.Get();
  std::atomic<bool> got = false;
  std::jthread worker([&] {
    const Queue::Item item = queue.Get();
    EXPECT_EQ(item->object.name, "slow2");
    got = true;
  });
  EXPECT_EQ(queue.Len(), 3U);
  EXPECT_FALSE(got);
  first.Done();
  worker.join();
  Fill(queue, "other", 1);
  first = queue.Get();
  EXPECT_EQ(queue.Len(), 2U);
}

TEST_F(FairQueueTest, EachEndWakesAWorkerThatWaitsForIt) {
  // Nobody outside of the queue can see whether a worker already waits when the work ends. In most
  // rounds it does.
  constexpr int kRounds = 20;
  for (int i = 0; i < kRounds; ++i) {
    Queue queue({.order = Order::kFair, .fair = {.max_working_per_tenant = 2}});
    Fill(queue, "slow", 4);
    Queue::Item first = queue.Get();
    Queue::Item second = queue.Get();
    std::vector<std::string> taken(2);
    std::atomic<int> asking = 0;
    {
      std::vector<std::jthread> workers;
      for (std::string& name : taken) {
        workers.emplace_back([&queue, &asking, &name] {
          ++asking;
          const Queue::Item item = queue.Get();  // neither worker comes back for another key
          name = item->object.name;
          KX_AWAIT_EQ(asking, 0);
        });
      }
      KX_AWAIT_GE(asking, 2);
      first.Done();
      second.Done();
      KX_AWAIT_EQ(queue.Len(), 0);
      asking = 0;
    }
    EXPECT_THAT(taken, ::testing::UnorderedElementsAre("slow2", "slow3"));
  }
}

TEST_F(FairQueueTest, AKeyThatIsAddedAgainDuringItsWorkLeavesAllWorkersAwake) {
  for (const int limit : {0, 1}) {
    Queue queue({.order = Order::kFair, .fair = {.max_working_per_tenant = limit}});
    constexpr int kWorkers = 4;
    std::atomic<int> running = 0;
    std::atomic<bool> all_ran = false;
    Fill(queue, "busy", 2);
    Queue::Item item = queue.Get();
    std::vector<std::jthread> workers;
    for (int i = 0; i < kWorkers; ++i) {
      workers.emplace_back([&queue, &running, &all_ran] {
        for (Queue::Item work = queue.Get(); work; work = queue.Next(std::move(work))) {
          if (work->object.namespace_ != "busy") {
            ++running;
            KX_AWAIT(all_ran);
          }
        }
      });
    }
    for (int i = 0; i < 100 && item; ++i) {
      queue.Add(*item);
      item = queue.Next(std::move(item));
      base::testing::LetOthersRun();  // a worker that was woken without a key sleeps again
    }
    item.Done();
    for (int i = 0; i < kWorkers; ++i) {
      Fill(queue, "tenant" + std::to_string(i), 1);
    }
    KX_AWAIT_GE(running, kWorkers);
    all_ran = true;
    queue.ShutDown();
  }
}

TEST_F(FairQueueTest, ShutDownHandsOutWhatALimitHeldBack) {
  Queue queue({.order = Order::kFair, .fair = {.max_working_per_tenant = 1}});
  Fill(queue, "slow", 2);
  Queue::Item first = queue.Get();
  std::jthread drain([&] { queue.ShutDownWithDrain(); });
  std::jthread worker([&] {
    EXPECT_EQ(Take(queue), "slow1");
    EXPECT_EQ(Take(queue), "nothing");
  });
  KX_AWAIT(queue.shutting_down());
  first.Done();
}

TEST_F(FairQueueTest, DelayedAndRateLimitedKeysTakeTurnsToo) {
  FakeClock clock;
  Queue queue({.clock = clock,
               .rate_limiter = NewExponentialFailureRateLimiter(seconds(1), seconds(1)),
               .order = Order::kFair});
  for (const char* name : {"a0", "a1", "a2"}) {
    queue.AddAfter(K(name, "a"), seconds(1));
  }
  queue.AddRateLimited(K("b0", "b"));
  clock.AwaitSleepers(1);
  clock.Advance(seconds(1));
  KX_AWAIT_GE(queue.Len(), 4);
  for (const char* name : {"a0", "b0", "a1", "a2"}) {
    EXPECT_EQ(Take(queue), name);
  }
}

/// Does what both kinds of queue promise, without any optimisation.
class OrderModel {
 public:
  OrderModel(Order order, int max_working) : order_(order), max_working_(max_working) {}

  void Add(const Key& key, int priority) {
    if (order_ == Order::kPriority && delayed_.contains(key)) {
      priority = std::max(priority, delayed_.at(key).priority);
      delayed_.erase(key);
    }
    const auto found = std::ranges::find(ready_, key, &Waiting::key);
    if (found != ready_.end()) {
      if (priority > found->priority) {
        *found = {key, priority, next_++};
      }
    } else if (dirty_.contains(key)) {
      dirty_[key] = std::max(dirty_[key], priority);
    } else if (working_.contains(key)) {
      dirty_[key] = priority;
    } else {
      Push(key, priority);
    }
  }
  void AddAfter(const Key& key, milliseconds delay, int priority) {
    if (delay <= milliseconds(0)) {
      Add(key, priority);
      return;
    }
    const bool waits = dirty_.contains(key) || std::ranges::count(ready_, key, &Waiting::key) > 0;
    if (order_ == Order::kPriority && waits) {
      Add(key, priority);
      return;
    }
    const auto found = delayed_.find(key);
    if (found == delayed_.end()) {
      delayed_[key] = {now_ + delay, next_++, priority};
      return;
    }
    found->second.priority = std::max(found->second.priority, priority);
    if (now_ + delay < found->second.at) {
      found->second.at = now_ + delay;
      found->second.order = next_++;
    }
  }
  void Advance(milliseconds d) {
    now_ += d;
    while (true) {
      const auto first = std::ranges::min_element(delayed_, {}, [](const auto& entry) {
        return std::pair(entry.second.at, entry.second.order);
      });
      if (first == delayed_.end() || first->second.at > now_) {
        return;
      }
      const auto [key, delayed] = *first;
      delayed_.erase(first);
      Add(key, delayed.priority);
    }
  }
  std::optional<Key> Get() {
    const auto next = order_ == Order::kPriority ? NextByPriority() : NextTurn();
    if (next == ready_.end()) {
      return std::nullopt;
    }
    const Key key = next->key;
    ready_.erase(next);
    working_.insert(key);
    ++working_of_[key.object.namespace_];
    if (order_ == Order::kFair) {
      round_.pop_front();
      Join(key.object.namespace_);
    }
    return key;
  }
  void Done(const Key& key) {
    if (working_.erase(key) == 0) {
      return;
    }
    --working_of_[key.object.namespace_];
    Join(key.object.namespace_);
    if (const auto dirty = dirty_.extract(key)) {
      Push(key, dirty.mapped());
    }
  }
  std::size_t Len() const { return ready_.size(); }

 private:
  struct Waiting {
    Key key;
    int priority = 0;
    std::size_t order = 0;
  };
  struct Delayed {
    milliseconds at{0};
    std::size_t order = 0;
    int priority = 0;
  };
  using Ready = std::vector<Waiting>;

  void Push(const Key& key, int priority) {
    ready_.push_back({key, priority, next_++});
    Join(key.object.namespace_);
  }
  Ready::iterator NextByPriority() {
    return std::ranges::min_element(
        ready_, {}, [](const Waiting& each) { return std::pair(-each.priority, each.order); });
  }
  Ready::iterator NextTurn() { return round_.empty() ? ready_.end() : FirstOf(round_.front()); }
  Ready::iterator FirstOf(const std::string& tenant) {
    return std::ranges::find(ready_, tenant,
                             [](const Waiting& each) { return each.key.object.namespace_; });
  }
  void Join(const std::string& tenant) {
    const bool is_in = std::ranges::find(round_, tenant) != round_.end();
    if (!is_in && FirstOf(tenant) != ready_.end() && working_of_[tenant] < max_working_) {
      round_.push_back(tenant);
    }
  }

  const Order order_;
  const int max_working_;
  milliseconds now_{0};
  std::size_t next_ = 0;
  Ready ready_;  // in order of arrival while no priority is raised
  std::map<Key, Delayed> delayed_;
  std::map<Key, int> dirty_;
  std::set<Key> working_;
  std::map<std::string, int> working_of_;
  std::deque<std::string> round_;
};

class QueueOrderModelTest : public ::testing::TestWithParam<std::tuple<unsigned, Order>> {};

TEST_P(QueueOrderModelTest, RandomCallsBehaveAsTheModel) {
  const auto [seed, order] = GetParam();
  constexpr int kSteps = 3000;
  constexpr int kMaxWorking = 3;
  std::mt19937 random(seed);
  const auto pick = [&random](int n) {
    return std::uniform_int_distribution<int>(0, n - 1)(random);
  };
  FakeClock clock;
  metrics::Registry registry;
  Queue queue({.name = "q",
               .clock = clock,
               .registry = &registry,
               .order = order,
               .fair = {.max_working_per_tenant = kMaxWorking}});
  std::map<Key, Queue::Item> working;
  OrderModel model(order, kMaxWorking);
  for (int step = 0; step < kSteps; ++step) {
    const int number = pick(16);
    const Key key = K(std::to_string(number), "t" + std::to_string(number % 4));
    const int priority = pick(3) - 1;
    switch (pick(10)) {
      case 0:
      case 1:
      case 2:
        queue.Add(key, {.priority = priority});
        model.Add(key, priority);
        break;
      case 3:
      case 4: {
        const milliseconds delay(pick(50) - 5);
        queue.Add(key, {.priority = priority, .after = delay});
        model.AddAfter(key, delay, priority);
        break;
      }
      case 5:
      case 6:
        if (const auto expected = model.Get()) {
          Queue::Item item = queue.Get();
          ASSERT_EQ(*item, *expected) << "step " << step;
          working[*expected] = std::move(item);
        }
        break;
      case 7:
      case 8:
        working.erase(key);
        model.Done(key);
        break;
      default: {
        // The delay thread works at its own pace. A new key that is due at the same time is handled
        // last, so it shows that the thread has handled the others.
        const milliseconds d(1 + pick(20));
        const Key mark = K("mark" + std::to_string(step), "marks");
        queue.AddAfter(mark, d);
        model.AddAfter(mark, d, 0);
        clock.Advance(d);
        model.Advance(d);
        KX_AWAIT_EQ(queue.Len(), model.Len());
        break;
      }
    }
    ASSERT_EQ(queue.Len(), model.Len()) << "step " << step;
  }
  working.clear();
}

INSTANTIATE_TEST_SUITE_P(Seeds, QueueOrderModelTest,
                         ::testing::Combine(::testing::Range(1U, 16U),
                                            ::testing::Values(Order::kPriority, Order::kFair)));

class QueueOrderThreadsTest : public ::testing::TestWithParam<Order> {};

/// Each key is processed by one worker at a time, and the last version of each is seen.
TEST_P(QueueOrderThreadsTest, SingleFlightAndNothingLost) {
  constexpr std::size_t kKeys = 16;
  struct Slot {
    std::atomic<int> version = 0;
    std::atomic<int> seen = 0;
    std::atomic<bool> busy = false;
  };
  std::array<Slot, kKeys> slots;
  std::atomic<int> overlaps = 0;
  Queue queue({.order = GetParam(), .fair = {.max_working_per_tenant = 2}});
  std::vector<std::jthread> workers;
  for (int w = 0; w < 4; ++w) {
    workers.emplace_back([&] {
      for (auto item = queue.Get(); item; item = queue.Next(std::move(item))) {
        Slot& slot = slots.at(std::stoul(item->object.name));
        overlaps += slot.busy.exchange(true) ? 1 : 0;
        slot.seen = slot.version.load();
        slot.busy = false;
      }
    });
  }
  {
    std::vector<std::jthread> producers;
    for (unsigned p = 0; p < 4; ++p) {
      producers.emplace_back([&, p] {
        std::mt19937 random(p);
        for (int i = 0; i < 2000; ++i) {
          const std::size_t k = random() % kKeys;
          const Key key = K(std::to_string(k), std::to_string(k % 3));
          ++slots.at(k).version;
          if (i % 8 == 0) {
            queue.AddAfter(key, std::chrono::microseconds(random() % 200));
          }
          queue.Add(key, {.priority = static_cast<int>(random() % 3)});
        }
      });
    }
  }
  queue.ShutDownWithDrain();
  workers.clear();
  EXPECT_EQ(overlaps, 0);
  for (const Slot& slot : slots) {
    EXPECT_EQ(slot.seen, slot.version);
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, QueueOrderThreadsTest,
                         ::testing::Values(Order::kPriority, Order::kFair));

}  // namespace
}  // namespace kubexx::workqueue
