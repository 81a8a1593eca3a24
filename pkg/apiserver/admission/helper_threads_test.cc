#include "kubexx/apiserver/admission/helper_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "kubexx/base/testing/await.h"

namespace kubexx::apiserver::admission {
namespace {

TEST(HelperThreadsTest, EachNumberIsWorkedOnOnce) {
  HelperThreads threads({.all = 3, .one = 2});
  for (const std::size_t count : {0U, 1U, 2U, 100U}) {
    std::vector<std::atomic<int>> seen(count);
    threads.ForEach(count, [&](std::size_t i) { ++seen[i]; });
    for (const std::atomic<int>& times : seen) {
      EXPECT_EQ(times, 1);
    }
  }
}

/// Work that does not end before it is allowed to.
struct Hanging {
  std::atomic<bool> over = false;
  std::atomic<int> begun = 0;
  void Work() {
    ++begun;
    KX_AWAIT(over);
  }
};

TEST(HelperThreadsTest, OneRequestHasOnlySoManyAtTheSameTime) {
  HelperThreads threads({.all = 64, .one = 4});
  Hanging hanging;
  std::jthread request([&] { threads.ForEach(40, [&](std::size_t) { hanging.Work(); }); });
  KX_AWAIT_EQ(hanging.begun.load(), 5);
  std::atomic<int> others = 0;
  std::atomic<int> most = 0;
  threads.ForEach(40, [&](std::size_t) {
    int now = ++others;
    for (int had = most; now > had && !most.compare_exchange_weak(had, now);) {
    }
    --others;
  });
  EXPECT_LE(most, 5);
  EXPECT_EQ(hanging.begun, 5);
  hanging.over = true;
}

TEST(HelperThreadsTest, WhoFindsNoneLeftDoesTheWorkItself) {
  HelperThreads threads({.all = 8, .one = 15});
  Hanging hanging;
  std::vector<std::jthread> requests;
  // They get 4, 2, 1, 1 and none.
  for (const int begun : {5, 8, 10, 12, 13}) {
    requests.emplace_back([&] { threads.ForEach(20, [&](std::size_t) { hanging.Work(); }); });
    KX_AWAIT_EQ(hanging.begun.load(), begun);
  }
  std::size_t done = 0;
  threads.ForEach(20, [&](std::size_t i) { EXPECT_EQ(i, done++) << "in order, on this thread"; });
  EXPECT_EQ(done, 20U);
  hanging.over = true;
  requests.clear();
  std::atomic<int> again = 0;
  threads.ForEach(5, [&](std::size_t) {
    ++again;
    KX_AWAIT(again == 5);
  });
  EXPECT_EQ(again, 5) << "all have been given back";
}

}  // namespace
}  // namespace kubexx::apiserver::admission
