#include "kubexx/http/internal/worker_pool.h"

#include <gtest/gtest.h>

#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/base/testing/await.h"

namespace kubexx::http::internal {
namespace {

const JobOrigin kLarge{.bytes = WorkerPool::kLargeBytes};
const JobOrigin kNotLarge{.bytes = WorkerPool::kLargeBytes - 1};
constexpr std::size_t kTwoLarge = 2 * WorkerPool::kLargeBytes;

/// Keeps a thread busy for a client until `end`, which must outlive the pool; has begun.
void HoldUp(WorkerPool& pool, const char* client, std::latch& end) {
  const auto entered = std::make_shared<std::latch>(1);
  ASSERT_TRUE(pool.Push(
      [entered, &end] {
        entered->count_down();
        KX_AWAIT(end.try_wait());
      },
      {.client = client}));
  KX_AWAIT(entered->try_wait());
}

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
          KX_AWAIT(release.try_wait());
          all.count_down();
        },
        kLarge));
  }
  KX_AWAIT(entered.try_wait());
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(pool.Push([&] { others.count_down(); }, kNotLarge));
  }
  KX_AWAIT(others.try_wait());  // The large ones have not ended: one of them has not, and the
                                // others wait for it.
  release.count_down();
  KX_AWAIT(all.try_wait());
}

TEST(WorkerPoolTest, ALargeJobThatWaitsLeavesItsPlaceToAnother) {
  std::latch first(1);
  std::latch second(1);
  WorkerPool pool(100);
  pool.Start(1);
  ASSERT_TRUE(pool.Push(
      [&] {
        EXPECT_TRUE(pool.BeginWait(kLarge));
        KX_AWAIT(second.try_wait());
        pool.EndWait(kLarge);
        first.count_down();
      },
      kLarge));
  ASSERT_TRUE(pool.Push([&] { second.count_down(); }, kLarge));
  KX_AWAIT(first.try_wait());
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
    KX_AWAIT(release.try_wait());
  }));
  KX_AWAIT(entered.try_wait());
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
  KX_AWAIT(last.try_wait());
  EXPECT_EQ(order, "aBcD");
}

TEST(WorkerPoolTest, ClientsTakeTurns) {
  std::latch release(1);
  std::latch last(1);
  std::latch end(1);
  std::string order;
  WorkerPool pool(100);
  pool.Start(1);
  // Both threads have something to do; from `release` on one of them does the rest.
  HoldUp(pool, "c", end);
  HoldUp(pool, "d", release);
  for (const char job : std::string("abcd")) {
    ASSERT_TRUE(pool.Push([&, job] { order += job; }, {.client = "a"}));
  }
  ASSERT_TRUE(pool.Push([&] { order += "X"; }, {.client = "b"}));
  ASSERT_TRUE(pool.Push([&] { order += "Y"; }, {.client = "b"}));
  ASSERT_TRUE(pool.Push([&] { last.count_down(); }, {.client = "a"}));
  release.count_down();
  KX_AWAIT(last.try_wait());
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
          KX_AWAIT(release.try_wait());
          all.count_down();
        },
        {.client = "a"}));
  }
  KX_AWAIT(entered.try_wait());
  ASSERT_TRUE(pool.Push([&] { other.count_down(); }, {.client = "b"}));
  KX_AWAIT(other.try_wait());
  release.count_down();
  KX_AWAIT(all.try_wait());
}

TEST(WorkerPoolTest, AJobThatWaitsCountsForItsClientNoMore) {
  std::latch first(1);
  std::latch second(1);
  WorkerPool pool(100);
  pool.Start(1);
  ASSERT_TRUE(pool.Push(
      [&] {
        EXPECT_TRUE(pool.BeginWait({.client = "a"}));
        KX_AWAIT(second.try_wait());
        pool.EndWait({.client = "a"});
        first.count_down();
      },
      {.client = "a"}));
  ASSERT_TRUE(pool.Push([&] { second.count_down(); }, {.client = "a"}));
  KX_AWAIT(first.try_wait());
}

TEST(WorkerPoolTest, WhatWaitsIsLimited) {
  std::latch entered(1);
  std::latch release(1);
  WorkerPool pool(6, kTwoLarge);
  pool.Start(1);
  ASSERT_TRUE(pool.Push([&] {
    entered.count_down();
    KX_AWAIT(release.try_wait());
  }));
  KX_AWAIT(entered.try_wait());
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
    KX_AWAIT(release.try_wait());
    place.End();
    place.End();
    first_ended.count_down();
  }));
  ASSERT_TRUE(pool.Push([&] {
    KX_AWAIT(waits.try_wait());
    EXPECT_FALSE(pool.BeginWait());
    WaitPlace other(pool, {});
    EXPECT_FALSE(other.Begin());
    release.count_down();
  }));
  ASSERT_TRUE(pool.Push([&] {
    KX_AWAIT(first_ended.try_wait());
    EXPECT_TRUE(pool.BeginWait());
    pool.EndWait();
    last.count_down();
  }));
  KX_AWAIT(last.try_wait());
}

TEST(WorkerPoolTest, OfThoseThatWaitHalfAreOfOneClient) {
  std::latch release(1);
  std::latch two_wait(2);
  std::latch asked(2);
  // Before the pool, whose destructor waits for the jobs that read them.
  const JobOrigin one{.client = "one"};
  const JobOrigin other{.client = "other"};
  WorkerPool pool(10, kTwoLarge, 4);
  pool.Start(1);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(pool.Push(
        [&] {
          EXPECT_TRUE(pool.BeginWait(one));
          two_wait.count_down();
          KX_AWAIT(release.try_wait());
          pool.EndWait(one);
        },
        one));
  }
  KX_AWAIT(two_wait.try_wait());
  ASSERT_TRUE(pool.Push(
      [&] {
        EXPECT_FALSE(pool.BeginWait(one));
        asked.count_down();
      },
      one));
  ASSERT_TRUE(pool.Push(
      [&] {
        EXPECT_TRUE(pool.BeginWait(other));
        pool.EndWait(other);
        asked.count_down();
      },
      other));
  KX_AWAIT(asked.try_wait());
  release.count_down();
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
            EXPECT_TRUE(place.Begin());
            place.End();
          }
        });
      }
    }
    EXPECT_TRUE(pool.BeginWait());
    EXPECT_FALSE(place.Begin());
    pool.EndWait();
    last.count_down();
  }));
  KX_AWAIT(last.try_wait());
}

TEST(WorkerPoolTest, JobsThatComeBackTogetherLeaveAThreadToOthers) {
  std::latch wait(3);
  std::latch back(3);
  std::latch release(1);
  std::latch other(1);
  std::latch all(3);
  WorkerPool pool(100);
  pool.Start(1);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(pool.Push(
        [&] {
          EXPECT_TRUE(pool.BeginWait({.client = "a"}));
          wait.count_down();
          KX_AWAIT(wait.try_wait());
          pool.EndWait({.client = "a"});
          back.count_down();
          KX_AWAIT(release.try_wait());
          all.count_down();
        },
        {.client = "a"}));
  }
  KX_AWAIT(back.try_wait());
  ASSERT_TRUE(pool.Push([&] { other.count_down(); }, {.client = "b"}));
  KX_AWAIT(other.try_wait());
  release.count_down();
  KX_AWAIT(all.try_wait());
}

TEST(WorkerPoolTest, ALargeJobDoesNotWaitForAllThatOthersHaveAskedForBefore) {
  std::latch release(1);
  std::latch end(1);
  std::latch last(1);
  std::string order;
  WorkerPool pool(100);
  pool.Start(1);
  // Both threads have something to do; from `release` on one of them does the rest.
  HoldUp(pool, "x", end);
  HoldUp(pool, "y", release);
  for (const char job : std::string("1234")) {
    ASSERT_TRUE(pool.Push([&, job] { order += job; }, {.client = "a"}));
  }
  ASSERT_TRUE(pool.Push([&] { order += "L"; }, {.client = "b", .bytes = WorkerPool::kLargeBytes}));
  ASSERT_TRUE(pool.Push([&] { last.count_down(); }, {.client = "a"}));
  release.count_down();
  KX_AWAIT(last.try_wait());
  EXPECT_LT(order.find('L'), 2U) << order;
  end.count_down();
}

TEST(WorkerPoolTest, AClientWithoutOthersHasAllOfIt) {
  std::latch release(1);
  std::latch all_wait(4);
  WorkerPool pool(4, kTwoLarge, 4, true);
  pool.Start(1);
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(pool.Push([&] {
      EXPECT_TRUE(pool.BeginWait());
      all_wait.count_down();
      KX_AWAIT(all_wait.try_wait());
      KX_AWAIT(release.try_wait());
      pool.EndWait();
    }));
  }
  KX_AWAIT(all_wait.try_wait());
  release.count_down();
}

TEST(WorkerPoolTest, OneClientHasHalfOfTheQueue) {
  std::latch entered(1);
  std::latch release(1);
  WorkerPool pool(4);
  pool.Start(1);
  ASSERT_TRUE(pool.Push(
      [&] {
        entered.count_down();
        KX_AWAIT(release.try_wait());
      },
      {.client = "a"}));
  KX_AWAIT(entered.try_wait());
  EXPECT_TRUE(pool.Push([] {}, {.client = "a"}));
  EXPECT_TRUE(pool.Push([] {}, {.client = "a"}));
  EXPECT_FALSE(pool.Push([] {}, {.client = "a"}));
  EXPECT_TRUE(pool.Push([] {}, {.client = "b"}));
  release.count_down();
}

}  // namespace
}  // namespace kubexx::http::internal
