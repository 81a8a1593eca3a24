#include "kubexx/reloader/observe/process_memory.h"

#include <gtest/gtest.h>

#include <atomic>

#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::reloader {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(MemoryKeeper, ReleasesAtTheStartAfterTheFirstListsAndNowAndThen) {
  base::testing::FakeClock clock;
  std::atomic<bool> ready = false;
  std::atomic<int> releases = 0;
  const MemoryKeeper keeper({.ready = [&ready] { return ready.load(); },
                             .release = [&releases] { ++releases; },
                             .clock = clock});
  clock.AwaitSleepers(1);
  EXPECT_EQ(releases, 1);
  clock.Advance(milliseconds(250));
  clock.AwaitSleepers(1);
  EXPECT_EQ(releases, 1);
  ready = true;
  clock.Advance(milliseconds(250));
  while (releases < 2) {
    std::this_thread::yield();
  }
  clock.AwaitSleepers(1);
  clock.Advance(seconds(1));
  while (releases < 3) {
    std::this_thread::yield();
  }
  clock.AwaitSleepers(1);
  clock.Advance(seconds(2));
  while (releases < 4) {
    std::this_thread::yield();
  }
}

}  // namespace
}  // namespace kubexx::reloader
