#include "kubexx/reloader/observe/process_memory.h"

#include <gtest/gtest.h>

#include <atomic>

#include "kubexx/base/testing/await.h"
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
  KX_AWAIT_GE(releases, 2);
  clock.AwaitSleepers(1);
  clock.Advance(seconds(1));
  KX_AWAIT_GE(releases, 3);
  clock.AwaitSleepers(1);
  clock.Advance(seconds(2));
  KX_AWAIT_GE(releases, 4);
}

}  // namespace
}  // namespace kubexx::reloader
