#include "kubexx/base/mutex.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace kubexx::base {
namespace {

TEST(MutexTest, LockExcludesOthers) {
  constexpr int kThreads = 4;
  constexpr int kAdds = 5000;
  Mutex mu;
  int count = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < kAdds; ++i) {
          MutexLock lock(mu);
          ++count;
        }
      });
    }
  }
  EXPECT_EQ(count, kThreads * kAdds);
}

}  // namespace
}  // namespace kubexx::base
