#include "kubexx/http/internal/worker_pool.h"

#include <gtest/gtest.h>

#include <latch>
#include <memory>
#include <string>

namespace kubexx::http::internal {
namespace {

constexpr std::size_t kLarge = WorkerPool::kLargeBytes;

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
    ASSERT_TRUE(pool.Push([&] { others.count_down(); }, kLarge - 1));
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
        pool.BeginWait(kLarge);
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

TEST(WorkerPoolTest, WhatWaitsIsLimited) {
  std::latch entered(1);
  std::latch release(1);
  WorkerPool pool(3, 2 * kLarge);
  pool.Start(1);
  ASSERT_TRUE(pool.Push([&] {
    entered.count_down();
    release.wait();
  }));
  entered.wait();
  EXPECT_TRUE(pool.Push([] {}, kLarge));
  EXPECT_TRUE(pool.Push([] {}, kLarge));
  EXPECT_FALSE(pool.Push([] {}, kLarge)) << "too many bytes";
  EXPECT_TRUE(pool.Push([] {}, kLarge - 1));
  EXPECT_FALSE(pool.Push([] {})) << "too many jobs";
  release.count_down();
}

}  // namespace
}  // namespace kubexx::http::internal
