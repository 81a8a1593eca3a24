// Tests the debounced adds of a queue. settling_test.cc tests their times.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/workqueue/queue.h"

namespace kubexx::workqueue {
namespace {

using std::chrono::milliseconds;

const Key kWeb{"", {"shop", "web"}};
const Key kCart{"", {"shop", "cart"}};
constexpr Debounce kShort{.window = milliseconds(100)};
constexpr Debounce kShortTouch{.window = milliseconds(100), .puts_off = false};

/// A queue on a clock that the test moves.
class QueueDebounceTest : public ::testing::Test {
 protected:
  /// A key that was handed out, with its item's fields.
  struct Taken {
    std::string name{};
    std::optional<Settled> settled{};
    bool settling = false;
    bool operator==(const Taken&) const = default;
  };

  QueueDebounceTest() { Make(Order::kArrival); }
  void Make(Order order, FairOptions fair = {}) {
    queue_.reset();
    queue_ = std::make_unique<Queue>(Queue::Options{.name = "q",
                                                    .clock = clock_,
                                                    .registry = &registry_,
                                                    .order = order,
                                                    .fair = std::move(fair)});
  }

  base::TimePoint At(int ms) const { return begin_ + milliseconds(ms); }
  static Taken TakenOf(const Queue::Item& item) {
    return {item->object.name,
            item.settled() == nullptr ? std::nullopt : std::optional(*item.settled()),
            item.settling()};
  }
  /// Moves the clock forward and takes all keys that are ready then, in order.
  std::vector<Taken> After(int ms) {
    const Key mark{"mark", {}};
    queue_->Add(mark, {.priority = -1000, .after = milliseconds(ms)});
    clock_.Advance(milliseconds(ms));
    std::vector<Taken> taken;
    for (auto item = queue_->Get(); *item != mark; item = queue_->Next(std::move(item))) {
      taken.push_back(TakenOf(item));
    }
    return taken;
  }
  /// Moves the clock forward until so many keys are ready, and takes none of them.
  void AdvanceUntilReady(int ms, std::size_t keys) {
    clock_.Advance(milliseconds(ms));
    KX_AWAIT_EQ(queue_->Len(), keys);
  }
  double Depth() { return registry_.Gauge("workqueue_depth", "", {{"name", "q"}}).Value(); }
  double Adds() { return registry_.Counter("workqueue_adds_total", "", {{"name", "q"}}).Value(); }

  static Taken Due(const std::string& name, base::TimePoint first,
                   std::optional<base::TimePoint> last, base::TimePoint due) {
    return {name, Settled{.first = first, .last = last, .due = due}, false};
  }
  using All = std::vector<Taken>;

  base::testing::FakeClock clock_;
  const base::TimePoint begin_ = clock_.Now();
  metrics::Registry registry_;
  std::unique_ptr<Queue> queue_;
};

TEST_F(QueueDebounceTest, AKeyFallsDueWhenItHasBeenQuiet) {
  queue_->AddDebounced(kWeb, kShort);
  EXPECT_EQ(After(60), All());
  queue_->AddDebounced(kWeb, kShort);
  EXPECT_EQ(After(99), All());
  EXPECT_EQ(queue_->Len(), 0U);
  EXPECT_EQ(After(1), (All{Due("web", At(0), At(60), At(160))}));
  EXPECT_EQ(After(1000), All()) << "once";
}

TEST_F(QueueDebounceTest, AStreamWithoutAPauseIsWorkedOnAfterTheMaximum) {
  std::vector<base::TimePoint> taken;
  for (int ms = 0; ms < 5000; ms += 50) {
    queue_->AddDebounced(kWeb, kShort);
    for (std::size_t n = After(50).size(); n > 0; --n) {
      taken.push_back(clock_.Now());
    }
  }
  EXPECT_EQ(taken, (std::vector{At(1000), At(2000), At(3000), At(4000), At(5000)}));
}

TEST_F(QueueDebounceTest, KeysAreIndependentAndComeInTheOrderOfTheirTimes) {
  queue_->AddDebounced(kWeb, {.window = milliseconds(500)});
  queue_->AddDebounced(kCart, kShort);
  queue_->AddAfter({"", {"shop", "plain"}}, milliseconds(300));
  const All all = After(500);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].name, "cart");
  EXPECT_EQ(all[1].name, "plain");
  EXPECT_EQ(all[2].name, "web");
}

TEST_F(QueueDebounceTest, AnAddThatPutsNothingOffHasTheKeyWorkedOn) {
  queue_->AddDebounced(kWeb, kShortTouch);
  EXPECT_EQ(After(60), All());
  queue_->AddDebounced(kWeb, kShortTouch);
  EXPECT_EQ(After(40), (All{Due("web", At(0), std::nullopt, At(100))}));
}

TEST_F(QueueDebounceTest, WithoutAWindowAKeyFallsDueAtOnce) {
  queue_->AddDebounced(kWeb, {});
  EXPECT_EQ(After(0), (All{Due("web", At(0), At(0), At(0))}));
}

TEST_F(QueueDebounceTest, AnAddOfAnotherKindTellsThatTheKeySettles) {
  queue_->AddDebounced(kWeb, kShort);
  queue_->Add(kWeb);
  EXPECT_EQ(After(50), (All{{"web", std::nullopt, true}}));
  queue_->AddAfter(kWeb, milliseconds(20));
  EXPECT_EQ(After(49), (All{{"web", std::nullopt, true}}));
  EXPECT_EQ(After(1), (All{Due("web", At(0), At(0), At(100))}));
  queue_->Add(kWeb);
  EXPECT_EQ(After(0), (All{{"web", std::nullopt, false}}));
}

TEST_F(QueueDebounceTest, ADelayedAddIsNotTakenBack) {
  queue_->AddAfter(kWeb, milliseconds(300));
  queue_->AddDebounced(kWeb, kShort);
  EXPECT_EQ(After(100), (All{Due("web", At(0), At(0), At(100))}));
  EXPECT_EQ(After(200), (All{{"web", std::nullopt, false}}));
}

TEST_F(QueueDebounceTest, AKeyThatIsDueIsPutOffUntilAWorkerTakesIt) {
  queue_->AddDebounced(kWeb, kShort);
  AdvanceUntilReady(100, 1);
  for (int ms = 150; ms < 1000; ms += 50) {
    clock_.Advance(milliseconds(50));
    queue_->AddDebounced(kWeb, kShort);
    EXPECT_EQ(After(0), All()) << ms;
    EXPECT_EQ(queue_->Len(), 0U);
    EXPECT_EQ(Depth(), 0);
  }
  EXPECT_EQ(After(50), (All{Due("web", At(0), At(950), At(1000))})) << "the maximum is over";
}

TEST_F(QueueDebounceTest, AKeyThatIsReadyForAnotherReasonIsNotPutOff) {
  queue_->Add(kWeb);
  queue_->AddDebounced(kWeb, kShort);
  EXPECT_EQ(After(0), (All{{"web", std::nullopt, true}}));
  EXPECT_EQ(After(100), (All{Due("web", At(0), At(0), At(100))}));
  queue_->AddDebounced(kWeb, kShort);
  AdvanceUntilReady(100, 1);
  queue_->Add(kWeb);
  queue_->AddDebounced(kWeb, kShort);
  EXPECT_EQ(After(0), (All{{"web", std::nullopt, true}}));
}

TEST_F(QueueDebounceTest, AddsWhileAKeyIsWorkedOnSettleFromThen) {
  queue_->AddDebounced(kWeb, kShort);
  AdvanceUntilReady(100, 1);
  Queue::Item item = queue_->Get();
  clock_.Advance(milliseconds(50));
  queue_->AddDebounced(kWeb, kShort);
  EXPECT_EQ(After(200), All()) << "one worker at a time";
  EXPECT_EQ(TakenOf(item), Due("web", At(0), At(0), At(100)));
  item.Done();
  EXPECT_EQ(After(0), (All{Due("web", At(150), At(150), At(250))}));
}

TEST_F(QueueDebounceTest, WhatIsPutBackKeepsItsMaximum) {
  queue_->AddDebounced(kWeb, kShort);
  AdvanceUntilReady(100, 1);
  queue_->PutBack(queue_->Get(), milliseconds(50));
  EXPECT_EQ(After(49), All());
  EXPECT_EQ(After(1), (All{Due("web", At(0), At(0), At(100))}));

  queue_->AddDebounced(kWeb, kShort);
  AdvanceUntilReady(100, 1);
  Queue::Item item = queue_->Get();
  clock_.Advance(milliseconds(850));
  queue_->AddDebounced(kWeb, kShort);
  queue_->PutBack(std::move(item), base::Duration(0));
  EXPECT_EQ(After(0), (All{{"web", std::nullopt, true}}));
  EXPECT_EQ(After(100), (All{Due("web", At(150), At(1100), At(1200))}));
}

TEST_F(QueueDebounceTest, WhatIsPutBackWithoutDebouncedAddsComesAgain) {
  queue_->Add(kWeb);
  queue_->PutBack(queue_->Get(), milliseconds(10));
  EXPECT_EQ(After(9), All());
  EXPECT_EQ(After(1), (All{{"web", std::nullopt, false}}));
  queue_->PutBack({}, milliseconds(10));
}

TEST_F(QueueDebounceTest, WindowsThatAreEndedFallDueInTheOrderOfTheirTimes) {
  queue_->AddDebounced(kWeb, {.window = milliseconds(500)});
  queue_->AddDebounced(kCart, kShort);
  queue_->AddAfter({"", {"shop", "plain"}}, milliseconds(300));
  clock_.Advance(milliseconds(10));
  queue_->EndWindows();
  EXPECT_EQ(After(0), (All{Due("cart", At(0), At(0), At(10)), Due("web", At(0), At(0), At(10))}))
      << "no other delays";
  EXPECT_EQ(After(500), (All{{"plain", std::nullopt, false}})) << "nothing comes twice";
}

TEST_F(QueueDebounceTest, AShutDownDropsWhatSettlesAndHandsOutWhatIsDue) {
  queue_->AddDebounced(kCart, kShort);
  AdvanceUntilReady(100, 1);
  queue_->AddDebounced(kCart, kShort);
  queue_->AddDebounced(kWeb, kShort);
  queue_->ShutDown();
  queue_->AddDebounced(kWeb, {});
  queue_->EndWindows();
  Queue::Item item = queue_->Get();
  ASSERT_TRUE(item);
  EXPECT_EQ(item->object.name, "cart");
  queue_->PutBack(std::move(item), milliseconds(50));
  item = queue_->Get();
  ASSERT_TRUE(item) << "what it was put back with is lost";
  EXPECT_NE(item.settled(), nullptr);
  EXPECT_FALSE(queue_->Next(std::move(item)));
}

TEST_F(QueueDebounceTest, AShutDownAfterWindowsHandsOutAllThatWaits) {
  queue_->AddDebounced(kCart, kShort);
  AdvanceUntilReady(100, 1);
  queue_->PutBack(queue_->Get(), milliseconds(50));
  queue_->AddDebounced(kWeb, kShort);
  queue_->AddAfter({"", {"shop", "plain"}}, milliseconds(300));
  queue_->ShutDownAfterWindows();
  queue_->AddDebounced(kWeb, kShort);  // it no longer postpones the key
  std::vector<Taken> taken;
  for (auto item = queue_->Get(); item; item = queue_->Next(std::move(item))) {
    taken.push_back(TakenOf(item));
  }
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(taken[0].name, "cart") << "it was to come first";
  EXPECT_TRUE(taken[0].settled.has_value());
  EXPECT_EQ(taken[1], Due("web", At(100), At(100), At(100)));
}

TEST_F(QueueDebounceTest, InAQueueOfPrioritiesADebouncedAddPutsNoOtherOff) {
  Make(Order::kPriority);
  queue_->AddDebounced(kWeb, kShort);
  clock_.Advance(milliseconds(50));
  queue_->AddAfter(kWeb, milliseconds(100));
  AdvanceUntilReady(50, 1);  // its window has ended, and the delayed add is merged into it
  queue_->AddDebounced(kWeb, kShort);
  EXPECT_EQ(After(0).size(), 1U) << "the add of 50 ms is due at 150";
  EXPECT_EQ(queue_->Len(), 0U);

  queue_->AddDebounced(kCart, kShort);
  AdvanceUntilReady(100, 1);
  queue_->AddAfter(kCart, milliseconds(5));  // it is merged into the ready key
  queue_->AddDebounced(kCart, kShort);
  EXPECT_EQ(After(0).size(), 1U);
}

TEST_F(QueueDebounceTest, ADrainIsOverWithoutWhatSettles) {
  queue_->AddDebounced(kWeb, kShort);
  queue_->ShutDownWithDrain();
  EXPECT_FALSE(queue_->Get());
}

TEST_F(QueueDebounceTest, CountsAsAnAddWhenItFallsDue) {
  queue_->AddDebounced(kWeb, kShort);
  queue_->AddDebounced(kWeb, kShort);
  EXPECT_EQ(Adds(), 0);
  EXPECT_EQ(Depth(), 0);
  AdvanceUntilReady(100, 1);
  EXPECT_EQ(Adds(), 1);
  EXPECT_EQ(Depth(), 1);
  EXPECT_EQ(registry_.Counter("workqueue_retries_total", "", {{"name", "q"}}).Value(), 0);
}

TEST_F(QueueDebounceTest, InAQueueOfPrioritiesAnAddTakesTheDebouncedOnesAlong) {
  Make(Order::kPriority);
  queue_->Add(kCart, {.priority = 1});
  queue_->Add(kWeb, {.priority = 5, .debounce = kShort});
  queue_->Add(kWeb);
  const All all = After(0);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0], Due("web", At(0), At(0), At(0))) << "with the higher priority";
  EXPECT_EQ(all[1].name, "cart");
  EXPECT_EQ(After(1000), All());
  queue_->Add(kWeb);
  queue_->Add(kWeb, {.debounce = kShort});
  EXPECT_EQ(After(0).size(), 1U);
  EXPECT_EQ(After(1000), All());
}

TEST_F(QueueDebounceTest, AKeyThatIsPutOffKeepsNoOtherOfItsTenantWaiting) {
  Make(Order::kFair, {.max_working_per_tenant = 1});
  queue_->AddDebounced(kWeb, kShort);
  AdvanceUntilReady(100, 1);
  queue_->AddDebounced(kWeb, kShort);
  queue_->Add(kCart);
  const Queue::Item item = queue_->Get();
  EXPECT_EQ(item->object.name, "cart");
}

/// Several threads add in different ways while workers take. Each key is processed by one worker at
/// a time, and the last add of each is handled.
TEST(QueueDebounceThreadsTest, NothingIsLostAndNoKeyIsWithTwoWorkers) {
  constexpr int kKeys = 7;
  constexpr int kAddsOfEach = 3000;
  Queue queue({});
  std::array<std::atomic<int>, kKeys> version{};
  std::array<std::atomic<int>, kKeys> handled{};
  std::array<std::atomic<bool>, kKeys> busy{};
  const auto key_of = [](int i) { return Key{"", {"ns", std::to_string(i)}}; };
  {
    std::vector<std::jthread> workers;
    for (int w = 0; w < 3; ++w) {
      workers.emplace_back([&] {
        for (auto item = queue.Get(); item; item = queue.Next(std::move(item))) {
          const auto at = static_cast<std::size_t>(std::stoi(item->object.name));
          EXPECT_FALSE(busy[at].exchange(true)) << "with two workers";
          const int seen = version[at];
          if (!item.settling()) {
            handled[at] = seen;
          }
          busy[at] = false;
          if (seen % 50 == 3 && !item.settling()) {
            queue.PutBack(std::move(item), std::chrono::microseconds(100));
          }
        }
      });
    }
    {
      std::vector<std::jthread> adders;
      for (int a = 0; a < 3; ++a) {
        adders.emplace_back([&, a] {
          for (int n = 0; n < kAddsOfEach; ++n) {
            const int i = (n + a) % kKeys;
            ++version[static_cast<std::size_t>(i)];
            queue.AddDebounced(
                key_of(i), {.window = std::chrono::microseconds(50 * (n % 4)), .max_windows = 3});
            if (n % 10 == 0) {
              queue.Add(key_of(i));
            }
            if (n % 100 == 0) {
              queue.EndWindows();
            }
          }
        });
      }
    }
    queue.EndWindows();
    queue.ShutDownWithDrain();
  }
  for (std::size_t i = 0; i < kKeys; ++i) {
    EXPECT_EQ(handled[i], version[i]) << "key " << i;
  }
}

}  // namespace
}  // namespace kubexx::workqueue
