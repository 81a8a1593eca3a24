#include "kubexx/base/mutex.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "kubexx/base/mutex_pauses.h"

namespace kubexx::base {
namespace {

/// What threads count up together under one Mutex.
int CountUp(int threads, int adds) {
  Mutex mu;
  int count = 0;
  {
    std::vector<std::jthread> counting;
    for (int t = 0; t < threads; ++t) {
      counting.emplace_back([&] {
        for (int i = 0; i < adds; ++i) {
          MutexLock lock(mu);
          ++count;
        }
      });
    }
  }
  return count;
}

TEST(MutexTest, LockExcludesOthers) { EXPECT_EQ(CountUp(4, 5000), 20000); }

TEST(MutexTest, LockExcludesOthersWithoutPauses) {
  OmitMutexPauses();
  EXPECT_EQ(CountUp(4, 5000), 20000);
}

}  // namespace
}  // namespace kubexx::base
