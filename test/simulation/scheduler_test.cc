#include "scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <random>
#include <semaphore>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"

namespace kubexx::simulation {
namespace {

/// Three threads that take turns at a lock, with sleeps and random numbers; what they did, in
/// order.
std::string RunSmall(std::uint64_t seed, std::uint64_t* hash = nullptr) {
  std::string order;
  Scheduler scheduler({.seed = seed, .preempt_every = 4});
  scheduler.Run([&order] {
    base::Mutex mu;
    std::vector<std::jthread> threads;
    for (const char name : {'a', 'b', 'c'}) {
      threads.emplace_back([&mu, &order, name] {
        for (int i = 0; i < 5; ++i) {
          const base::MutexLock lock(mu);
          order += name;
          if (std::random_device()() % 4 == 0) {
            order += '.';
          }
        }
      });
    }
  });
  if (hash != nullptr) {
    *hash = scheduler.hash();
  }
  return order;
}

TEST(SchedulerTest, ASeedGivesTheSameRunEachTime) {
  std::set<std::string> orders;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    const std::string order = RunSmall(seed, &first);
    EXPECT_EQ(order, RunSmall(seed, &second));
    EXPECT_EQ(first, second);
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 15U) << "different seeds give different runs";
}

TEST(SchedulerTest, TimeJumpsToTheNextDeadline) {
  Scheduler scheduler({.spurious_every = 0});
  scheduler.Run([] {
    const auto begin = std::chrono::steady_clock::now();
    const auto wall = std::chrono::system_clock::now();
    std::string order;
    {
      std::jthread late([&order] {
        std::this_thread::sleep_for(std::chrono::hours(48));
        order += "late ";
      });
      std::jthread soon([&order] {
        base::Clock::Real().SleepFor(std::chrono::hours(1), {});
        order += "soon ";
      });
    }
    EXPECT_EQ(order, "soon late ");
    const auto passed = std::chrono::steady_clock::now() - begin;
    EXPECT_GE(passed, std::chrono::hours(48));
    EXPECT_LT(passed, std::chrono::hours(48) + std::chrono::seconds(1));
    EXPECT_GE(std::chrono::system_clock::now() - wall, std::chrono::hours(48));
  });
}

TEST(SchedulerTest, WhatThreadsWaitWithWorks) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Scheduler scheduler({.seed = seed, .preempt_every = 2, .spurious_every = 5});
    int sum = 0;
    scheduler.Run([&sum] {
      base::Mutex mu;
      base::CondVar changed;
      int turn = 0;
      std::mutex other_mu;
      std::condition_variable_any other;
      bool ready = false;
      std::counting_semaphore<> semaphore(0);
      std::once_flag once;
      std::vector<std::jthread> threads;
      for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&, i](const std::stop_token& stop) {
          std::call_once(once, [&sum] { sum += 1000; });
          {
            const base::MutexLock lock(mu);
            while (turn != i) {
              base::Clock::Real().WaitUntil(mu, changed, stop, base::TimePoint::max());
            }
            turn = i + 1;
            sum += i;
          }
          changed.notify_all();
          std::unique_lock lock(other_mu);
          other.wait(lock, stop, [&ready] { return ready; });
          semaphore.release();
        });
      }
      {
        const std::lock_guard lock(other_mu);
        ready = true;
      }
      other.notify_all();
      for (int i = 0; i < 4; ++i) {
        semaphore.acquire();
      }
    });
    EXPECT_EQ(sum, 1006) << "seed " << seed;
  }
}

TEST(SchedulerTest, FindsTheRaceThatALockWouldPrevent) {
  int lost = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Scheduler scheduler({.seed = seed, .preempt_every = 4});
    scheduler.Run([&lost] {
      base::Mutex mu;
      int count = 0;
      const auto add = [&mu, &count] {
        int seen = 0;
        {
          const base::MutexLock lock(mu);
          seen = count;
        }
        const base::MutexLock lock(mu);
        count = seen + 1;
      };
      {
        const std::jthread one(add);
        const std::jthread other(add);
      }
      lost += count == 1 ? 1 : 0;
    });
  }
  EXPECT_GT(lost, 0);
  EXPECT_LT(lost, 50);
}

TEST(SchedulerTest, WhoWaitsForAThreadDoesNotMindThatOthersBegin) {
  Scheduler scheduler({});
  int ended = 0;
  scheduler.Run([&ended] {
    std::jthread first([&ended] {
      std::this_thread::sleep_for(std::chrono::seconds(1));
      ++ended;
    });
    std::jthread others([&ended] {
      std::vector<std::jthread> many;
      for (int i = 0; i < 500; ++i) {
        many.emplace_back([&ended] { ++ended; });
      }
    });
    first.join();
  });
  EXPECT_EQ(ended, 501);
}

TEST(SchedulerTest, ASuspendedActorWaitsAndOthersGoOn) {
  Scheduler scheduler({.preempt_every = 2});
  scheduler.Run([&scheduler] {
    const Actor worker = scheduler.NewActor("worker");
    base::Mutex mu;
    std::vector<std::chrono::steady_clock::time_point> ticks;
    const Actor self = scheduler.Become(worker);
    std::jthread thread([&](const std::stop_token& stop) {
      while (base::Clock::Real().SleepFor(std::chrono::seconds(1), stop)) {
        const base::MutexLock lock(mu);
        ticks.push_back(std::chrono::steady_clock::now());
      }
    });
    scheduler.Become(self);
    std::this_thread::sleep_for(std::chrono::milliseconds(2500));
    scheduler.Suspend(worker, scheduler.now() + 60 * kSecond);
    std::this_thread::sleep_for(std::chrono::milliseconds(61500));
    thread.request_stop();
    thread.join();
    ASSERT_GE(ticks.size(), 3U);
    EXPECT_GE(ticks[2] - ticks[1], std::chrono::seconds(60));
  });
}

TEST(SchedulerTest, AnActorsTimeOfDayMayBeAheadAndGoTooFast) {
  Scheduler scheduler({.seed = 1});
  scheduler.Run([&scheduler] {
    const Actor actor = scheduler.NewActor("fast");
    scheduler.SetWallClock(actor, 60 * kSecond, 1000);
    const auto ahead = [&scheduler, actor] {
      const Nanoseconds here = scheduler.wall();
      const Actor self = scheduler.Become(actor);
      const Nanoseconds there = scheduler.wall();
      scheduler.Become(self);
      return static_cast<double>(there - here) / static_cast<double>(kSecond);
    };
    EXPECT_NEAR(ahead(), 60, 0.01);
    base::Clock::Real().SleepFor(std::chrono::seconds(1000), {});
    EXPECT_NEAR(ahead(), 61, 0.01);
  });
}

TEST(SchedulerDeathTest, TellsOfADeadlock) {
  const auto deadlock = [] {
    Scheduler scheduler({.seed = 3, .on_stuck = [](const std::string& what) {
                           std::fprintf(stderr, "%s", what.c_str());
                           std::_Exit(7);
                         }});
    scheduler.Run([] {
      base::Mutex mu;
      base::CondVar never;
      const std::jthread waits([&mu, &never](const std::stop_token&) {
        const base::MutexLock lock(mu);
        while (true) {
          never.wait(mu);
        }
      });
    });
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(deadlock(), ::testing::ExitedWithCode(7), "deadlock: no thread can ever run again");
}

TEST(SchedulerDeathTest, TellsOfARunWithoutAnEnd) {
  const auto endless = [] {
    Scheduler scheduler({.max_points = 10000, .on_stuck = [](const std::string& what) {
                           std::fprintf(stderr, "%s", what.c_str());
                           std::_Exit(7);
                         }});
    scheduler.Run([] {
      while (true) {
        std::this_thread::yield();
      }
    });
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(endless(), ::testing::ExitedWithCode(7), "no end");
}

}  // namespace
}  // namespace kubexx::simulation
