#include "kubexx/base/testing/await.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/base/testing/test_limit.h"

namespace kubexx::base::testing {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kShortLimit(30);

/// The limit of waits, for as long as it lives.
class LimitOf {
 public:
  explicit LimitOf(Duration limit) : before_(Patience::Limit()) {
    Patience::SetLimitForTest(limit);
  }
  ~LimitOf() { Patience::SetLimitForTest(before_); }
  LimitOf(const LimitOf&) = delete;
  LimitOf& operator=(const LimitOf&) = delete;

 private:
  const Duration before_;
};

TEST(AwaitTest, WhatHoldsIsLookedAtOnce) {
  int looks = 0;
  KX_AWAIT(++looks > 0);
  EXPECT_EQ(looks, 1);
  KX_UNTIL(++looks > 1) {
    ADD_FAILURE() << "there is nothing to wait for";
  }
  EXPECT_EQ(looks, 2);
}

TEST(AwaitTest, ALoopRunsUntilItsConditionHolds) {
  int runs = 0;
  KX_UNTIL(runs >= 3) {
    ++runs;
  }
  EXPECT_EQ(runs, 3);
  KX_UNTIL(runs >= 100) {
    if (++runs == 10) {
      break;
    }
  }
  EXPECT_EQ(runs, 10) << "it is a loop like others";
}

TEST(AwaitTest, IsOneStatement) {
  const bool never = false;
  bool is_else = false;
  // clang-format off
  if (never) KX_AWAIT(never); else is_else = true;
  // clang-format on
  EXPECT_TRUE(is_else);
}

TEST(AwaitTest, WaitsForOtherThreads) {
  std::atomic<int> count = 0;
  std::binary_semaphore go_on(0);
  std::jthread counter([&] {
    KX_AWAIT(go_on.try_acquire());
    count = 2;
  });
  go_on.release();
  KX_AWAIT_GE(count, 1);
  KX_AWAIT_GT(count, 1);
  KX_AWAIT_EQ(count, 2);
  KX_AWAIT_NE(count, 1);
  KX_AWAIT_LE(count, 2);
  KX_AWAIT_LT(count, 3);
  EXPECT_EQ(count, 2);
}

template <int kA, int kB>
int SumOf() {
  return kA + kB;
}

TEST(AwaitTest, TakesExpressionsWithCommas) {
  std::map<std::string, int> counts;
  const auto count = [&counts](const char* of, int step) { return counts[of] += step; };
  KX_AWAIT_EQ(SumOf<1, 2>(), 3);
  KX_AWAIT_NE(4, SumOf<1, 2>());
  KX_AWAIT_GE(SumOf<1, 2>(), SumOf<2, 1>());
  KX_AWAIT_GT(count("looks", 1), 1);
  KX_AWAIT_LE((std::pair<int, int>{3, 4}.first), 3);
  KX_AWAIT_LT(std::pair<int, int>{3, 4}.first, 4);
  KX_AWAIT(SumOf<1, 2>() == 3);
  KX_UNTIL(SumOf<1, 2>() == 3) {
    ADD_FAILURE() << "there is nothing to wait for";
  }
  Mutex mu;
  CondVar changed;
  const MutexLock lock(mu);
  KX_AWAIT_CHANGE(changed, mu, SumOf<1, 2>() == 3);
  EXPECT_EQ(counts["looks"], 2) << "each look evaluates it once";
}

TEST(AwaitTest, ComparesIntegersAsNumbers) {
  const int below = -1;
  const std::size_t size = 3;
  KX_AWAIT_LT(below, size);
  KX_AWAIT_NE(below, static_cast<std::size_t>(below));
  KX_AWAIT_EQ(size, 3);
  std::atomic<std::size_t> atomic = 3;
  KX_AWAIT_GT(atomic, below);
  EXPECT_EQ(atomic, size);
}

TEST(AwaitTest, WaitsForAChange) {
  Mutex mu;
  CondVar changed;
  int count = 0;
  std::jthread counter([&] {
    for (int i = 0; i < 3; ++i) {
      const MutexLock lock(mu);
      ++count;
      changed.notify_all();
    }
  });
  const MutexLock lock(mu);
  KX_AWAIT_CHANGE(changed, mu, count == 3);
  EXPECT_EQ(count, 3);
}

TEST(AwaitTest, PatienceThatEndsStopsWhatIsWaitedFor) {
  const LimitOf limit(kShortLimit);
  const TimePoint begin = Clock::Real().Now();
  const PatienceEnd end;
  EXPECT_FALSE(Clock::Real().SleepFor(hours(1), end.token()));
  EXPECT_GE(Clock::Real().Now() - begin, kShortLimit);
}

TEST(AwaitTest, ATestMayGoOnWithoutWhatDoesNotCome) {
  const LimitOf limit(kShortLimit);
  int looks = 0;
  EXPECT_FALSE(HoldsSoon([&looks] { return ++looks < 0; }));
  EXPECT_GT(looks, 1);
  looks = 0;
  EXPECT_TRUE(HoldsSoon([&looks] { return ++looks == 3; }, milliseconds(1)));
  EXPECT_EQ(looks, 3);
}

enum class Color { kRed, kGreen };

TEST(AwaitTest, ShowsWhatWasSeen) {
  EXPECT_EQ(Shown(true), "true");
  EXPECT_EQ(Shown(7), "7");
  EXPECT_EQ(Shown(std::size_t{7}), "7");
  EXPECT_EQ(Shown(Color::kGreen), "1");
  EXPECT_EQ(Shown("text"), "\"text\"");
  const int seven = 7;
  EXPECT_EQ(Shown(&seven), "7");
  EXPECT_EQ(Shown(std::make_shared<std::string>("text")), "\"text\"");
  EXPECT_EQ(Shown(std::unique_ptr<int>()), "nothing");
  EXPECT_EQ(Shown(std::string("text")), "\"text\"");
  EXPECT_EQ(Shown(seconds(5)), "5");
  const std::atomic<int> atomic = 3;
  EXPECT_EQ(Shown(atomic), "3");
  EXPECT_EQ(Shown(std::vector<std::string>{"a", "b"}), R"(["a", "b"])");
  EXPECT_EQ(Shown(std::vector<int>{}), "[]");
  EXPECT_EQ(Shown(std::map<std::string, int>{{"a", 1}}), R"(["a": 1])");
  EXPECT_EQ(Shown(std::optional<int>(4)), "4");
  EXPECT_EQ(Shown(std::optional<int>()), "nothing");
  EXPECT_EQ(Shown(std::mutex()), "(a value that cannot be shown)");
}

class AwaitDeathTest : public ::testing::Test {
 protected:
  // A process of its own for each: there may be threads in this one.
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  // From then on, in such a process, all waits are short.
  static void LosePatience() { Patience::SetLimitForTest(kShortLimit); }
};

TEST_F(AwaitDeathTest, AConditionTellsWhereAndForWhatItIsWaited) {
  const bool sun = false;
  EXPECT_DEATH(
      {
        LosePatience();
        KX_AWAIT(sun);
      },
      "await_test\\.cc:[0-9]+: .*TestBody.* has waited for 0\\.[0-9]+ s for: sun\n");
}

TEST_F(AwaitDeathTest, AComparisonTellsWhatItSaw) {
  std::atomic<int> count = 2;
  EXPECT_DEATH(
      {
        LosePatience();
        KX_AWAIT_GE(count, 3);
      },
      "for: count >= 3\n  it saw: 2\n");
}

TEST_F(AwaitDeathTest, AComparisonWithCommasTellsWhatItSaw) {
  EXPECT_DEATH(
      {
        LosePatience();
        KX_AWAIT_GT((SumOf<1, 2>()), 3);
      },
      "for: \\(SumOf<1, 2>\\(\\)\\) > 3\n  it saw: 3\n");
  EXPECT_DEATH(
      {
        LosePatience();
        KX_AWAIT_GT(SumOf<1, 2>(), 3);
      },
      "for: SumOf<1, 2>\\(\\), 3 \\(>\\)\n  it saw: 3\n");
}

TEST_F(AwaitDeathTest, ALoopTellsWhatItIsFor) {
  int runs = 0;
  EXPECT_DEATH(
      {
        LosePatience();
        KX_UNTIL(runs < 0) {
          ++runs;
        }
      },
      "for: runs < 0\n");
}

TEST_F(AwaitDeathTest, AChangeThatDoesNotComeIsTold) {
  Mutex mu;
  CondVar changed;
  bool open = false;
  EXPECT_DEATH(
      {
        LosePatience();
        const MutexLock lock(mu);
        KX_AWAIT_CHANGE(changed, mu, open);
      },
      "for: open\n");
}

TEST_F(AwaitDeathTest, AStopThatDoesNotComeIsTold) {
  EXPECT_DEATH(
      {
        LosePatience();
        AwaitStop({});
      },
      "for: a stop\n");
}

TEST_F(AwaitDeathTest, ATestWhoseOwnWaitHasNoEndIsEnded) {
  Mutex mu;
  CondVar never;
  EXPECT_DEATH(
      {
        LosePatience();
        const TestLimit limit;
        const MutexLock lock(mu);
        KX_UNTIL(false) {
          never.wait_until(mu, {}, TimePoint::max());
        }
      },
      "await_test\\.cc:[0-9]+: .*TestBody.* has waited for .* s for: the end of the test\n");
}

/// A helper with a line of whoever calls it.
class Lines {
 public:
  void Await(std::size_t n, const Where& where = Where::current()) {
    const MutexLock lock(mu_);
    Patience patience(Shown(n) + " lines", where);
    while (lines_.size() < n) {
      patience.Wait(changed_, mu_, lines_, n);
    }
  }

 private:
  Mutex mu_;
  CondVar changed_;
  std::vector<std::string> lines_ KX_GUARDED_BY(mu_) = {"one"};
};

void CallerOfAHelper() {
  Lines lines;
  lines.Await(2);
}

TEST_F(AwaitDeathTest, AHelperTellsWhoCalledIt) {
  EXPECT_DEATH(
      {
        LosePatience();
        CallerOfAHelper();
      },
      "CallerOfAHelper.* has waited for .* s for: 2 lines\n"
      "  it saw: \\[\"one\"\\]\n"
      "  it saw: 2\n");
}

TEST_F(AwaitDeathTest, TheOtherWaitsOfTheProcessAreTold) {
  EXPECT_DEATH(
      {
        const LimitOf limit(hours(1));
        std::atomic<int> looks = 0;
        std::jthread other([&looks] { KX_AWAIT(++looks < 0); });
        KX_AWAIT_GT(looks, 1);
        LosePatience();
        KX_AWAIT(looks < 0);
      },
      "for: looks < 0\n  others wait: .*await_test\\.cc:[0-9]+: .* for: \\+\\+looks < 0\n");
}

TEST_F(AwaitDeathTest, AFakeClockTellsWhoSleeps) {
  FakeClock clock;
  EXPECT_DEATH(
      {
        std::jthread sleeper(
            [&clock](const std::stop_token& stop) { (void)clock.SleepFor(seconds(10), stop); });
        clock.AwaitSleepers(1);
        LosePatience();
        clock.AwaitSleepers(2);
      },
      "await_test\\.cc:.* for: threads in a wait with a deadline, 2 or more\n"
      "  it saw: \\[\"a wait for 10\\.0* s\"\\]\n");
  EXPECT_DEATH(
      {
        std::jthread sleeper(
            [&clock](const std::stop_token& stop) { (void)clock.SleepFor(seconds(10), stop); });
        LosePatience();
        clock.AdvanceToSleeper(seconds(11));
      },
      "await_test\\.cc:.* for: a wait for 11\\.0* s or longer\n"
      "  it saw: \\[\"a wait for 10\\.0* s\"\\]\n");
}

TEST_F(AwaitDeathTest, AFakeClockTellsWhoDoesNotWake) {
  FakeClock clock;
  Mutex mu;
  CondVar never;
  EXPECT_DEATH(
      {
        std::jthread sleeper([&] {
          const MutexLock lock(mu);
          clock.WaitUntil(mu, never, {}, clock.Now() + seconds(10));
        });
        clock.AwaitSleepers(1);
        const MutexLock lock(mu);
        LosePatience();
        clock.Advance(seconds(10));
      },
      "await_test\\.cc:.* for: the waits to return whose deadline has come\n");
}

TEST_F(AwaitDeathTest, TheEnvironmentMakesAllWaitsLonger) {
  const char* const before = std::getenv("KUBEXX_PATIENCE");
  const std::string kept = before == nullptr ? "" : before;
  for (const auto& [value, limit] : {std::pair("3", 180), std::pair("", 60), std::pair("x", 60)}) {
    ASSERT_EQ(::setenv("KUBEXX_PATIENCE", value, 1), 0);
    EXPECT_EXIT(::_exit(Patience::Limit() == seconds(limit) ? 0 : 1), ::testing::ExitedWithCode(0),
                "")
        << value;
  }
  if (before == nullptr) {
    ::unsetenv("KUBEXX_PATIENCE");
  } else {
    ::setenv("KUBEXX_PATIENCE", kept.c_str(), 1);
  }
}

}  // namespace
}  // namespace kubexx::base::testing
