#include "kubexx/http/internal/worker_pool.h"

#include <gtest/gtest.h>

#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace kubexx::http::internal {
namespace {

constexpr JobOrigin kLarge{.bytes = WorkerPool::kLargeBytes};
constexpr JobOrigin kNotLarge{.bytes = WorkerPool::kLargeBytes - 1};
constexpr std::size_t kTwoLarge = 2 * WorkerPool::kLargeBytes;

TEST(WorkerPoolTest, LargeJobsLeaveThreadsToOthers) {
  std::latch entered(1);
  std::latch release(1);
  std::latch others(20);
  std::latch all(8);
  WorkerPool pool(100);
  pool.Start(4);
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(pool.Push(
        [&, i] {
          if (i == 0) {
            entered.count_down();
          }
          release.wait();
          all.count_down();
        },
        kLarge));
  }
  entered.wait();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(pool.Push([&] { others.count_down(); }, kNotLarge));
  }
  others.wait();  // The large ones have not ended: one of them has not, and the others wait for it.
  release.count_down();
  all.wait();
}

TEST(WorkerPoolTest, ALargeJobThatWaitsLeavesItsPlaceToAnother) {
  std::latch first(1);
  std::latch second(1);
  WorkerPool pool(100);
  pool.Start(1);
  ASSERT_TRUE(pool.Push(
      [&] {
        EXPECT_TRUE(pool.BeginWait(kLarge));
        second.wait();
        pool.EndWait(kLarge);
        first.count_down();
      },
      kLarge));
  ASSERT_TRUE(pool.Push([&] { second.count_down(); }, kLarge));
  first.wait();
}

TEST(WorkerPoolTest, JobsBeginInTheOrderOfComing) {
  std::latch entered(1);
  std::latch release(1);
  std::latch last(1);
  std::string order;
  WorkerPool pool(100);
  pool.Start(1);
  ASSERT_TRUE(pool.Push([&] {
    entered.count_down();
    release.wait();
  }));
  entered.wait();
  ASSERT_TRUE(pool.Push([&] { order += "a"; }));
  ASSERT_TRUE(pool.Push([&] { order += "B"; }, kLarge));
  ASSERT_TRUE(pool.Push([&] { order += "c"; }));
  ASSERT_TRUE(pool.Push(
      [&] {
        order += "D";
        last.count_down();
      },
      kLarge));
  release.count_down();
  last.wait();
  EXPECT_EQ(order, "aBcD");
}

TEST(WorkerPoolTest, ClientsTakeTurns) {
  std::latch entered(2);
  std::latch release(1);
  std::latch last(1);
  std::latch end(1);
  std::string order;
  WorkerPool pool(100);
  pool.Start(1);
  // One thread stays with the first of these, and the other does the rest.
  ASSERT_TRUE(pool.Push(
      [&] {
        entered.count_down();
        end.wait();
      },
      {.client = 3}));
  ASSERT_TRUE(pool.Push(
      [&] {
        entered.count_down();
        release.wait();
      },
      {.client = 4}));
  entered.wait();
  for (const char job : std::string("abcd")) {
    ASSERT_TRUE(pool.Push([&, job] { order += job; }, {.client = 1}));
  }
  ASSERT_TRUE(pool.Push([&] { order += "X"; }, {.client = 2}));
  ASSERT_TRUE(pool.Push([&] { order += "Y"; }, {.client = 2}));
  ASSERT_TRUE(pool.Push([&] { last.count_down(); }, {.client = 1}));
  release.count_down();
  last.wait();
  EXPECT_EQ(order, "aXbYcd");
  end.count_down();
}

TEST(WorkerPoolTest, OneClientLeavesAThreadToOthers) {
  std::latch entered(3);
  std::latch release(1);
  std::latch other(1);
  std::latch all(8);
  WorkerPool pool(100);
  pool.Start(3);
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(pool.Push(
        [&, i] {
          if (i < 3) {
            entered.count_down();
          }
          release.wait();
          all.count_down();
        },
        {.client = 1}));
  }
  entered.wait();
  ASSERT_TRUE(pool.Push([&] { other.count_down(); }, {.client = 2}));
  other.wait();
  release.count_down();
  all.wait();
}

TEST(WorkerPoolTest, AJobThatWaitsCountsForItsClientNoMore) {
  std::latch first(1);
  std::latch second(1);
  WorkerPool pool(100);
  pool.Start(1);
  ASSERT_TRUE(pool.Push(
      [&] {
        EXPECT_TRUE(pool.BeginWait({.client = 1}));
        second.wait();
        pool.EndWait({.client = 1});
        first.count_down();
      },
      {.client = 1}));
  ASSERT_TRUE(pool.Push([&] { second.count_down(); }, {.client = 1}));
  first.wait();
}

TEST(WorkerPoolTest, WhatWaitsIsLimited) {
  std::latch entered(1);
  std::latch release(1);
  WorkerPool pool(3, kTwoLarge);
  pool.Start(1);
  ASSERT_TRUE(pool.Push([&] {
    entered.count_down();
    release.wait();
  }));
  entered.wait();
  EXPECT_TRUE(pool.Push([] {}, kLarge));
  EXPECT_TRUE(pool.Push([] {}, kLarge));
  EXPECT_FALSE(pool.Push([] {}, kLarge)) << "too many bytes";
  EXPECT_TRUE(pool.Push([] {}, kNotLarge));
  EXPECT_FALSE(pool.Push([] {})) << "too many jobs";
  release.count_down();
}

TEST(WorkerPoolTest, WhoMayNotWaitWorksOn) {
  std::latch waits(1);
  std::latch release(1);
  std::latch first_ended(1);
  std::latch last(1);
  WorkerPool pool(10, kTwoLarge, 1);
  pool.Start(1);
  ASSERT_TRUE(pool.Push([&] {
    WaitPlace place(pool, {});
    EXPECT_TRUE(place.Begin());
    EXPECT_TRUE(place.Begin()) << "it has one place, however many of its parts wait";
    waits.count_down();
    release.wait();
    place.End();
    place.End();
    first_ended.count_down();
  }));
  ASSERT_TRUE(pool.Push([&] {
    waits.wait();
    EXPECT_FALSE(pool.BeginWait());
    WaitPlace other(pool, {});
    EXPECT_FALSE(other.Begin());
    release.count_down();
  }));
  ASSERT_TRUE(pool.Push([&] {
    first_ended.wait();
    EXPECT_TRUE(pool.BeginWait());
    pool.EndWait();
    last.count_down();
  }));
  last.wait();
}

TEST(WorkerPoolTest, PartsOfAJobLeaveTheirPlaceOnce) {
  std::latch last(1);
  WorkerPool pool(10, kTwoLarge, 1);
  pool.Start(1);
  ASSERT_TRUE(pool.Push([&] {
    WaitPlace place(pool, {});
    {
      std::vector<std::jthread> parts;
      for (int i = 0; i < 4; ++i) {
        parts.emplace_back([&place] {
          for (int round = 0; round < 1'000; ++round) {
            // Of two that are first at the same time one may find the only place taken.
            if (place.Begin()) {
              place.End();
            }
          }
        });
      }
    }
    EXPECT_TRUE(pool.BeginWait());
    EXPECT_FALSE(place.Begin());
    pool.EndWait();
    last.count_down();
  }));
  last.wait();
}

}  // namespace
}  // namespace kubexx::http::internal
