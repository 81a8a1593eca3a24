#include "kubexx/controller/internal/deadlines.h"

#include <gtest/gtest.h>

#include <chrono>
#include <semaphore>
#include <stop_token>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::controller::internal {
namespace {

using std::chrono::seconds;

TEST(DeadlinesTest, ACallbackThatHangsHoldsUpNoLaterDeadline) {
  base::testing::FakeClock clock;
  std::binary_semaphore hangs(0);
  std::binary_semaphore release(0);
  std::binary_semaphore told(0);
  std::stop_source first;
  std::stop_source second;
  const std::stop_callback on_first(first.get_token(), [&] {
    hangs.release();
    KX_AWAIT(release.try_acquire());
  });
  const std::stop_callback on_second(second.get_token(), [&] { told.release(); });
  Deadlines deadlines(clock);
  const base::Subscription one = deadlines.Arm(first, clock.Now() + seconds(1));
  const base::Subscription two = deadlines.Arm(second, clock.Now() + seconds(2));
  clock.AdvanceToSleeper(seconds(1));
  KX_AWAIT(hangs.try_acquire());
  clock.Advance(seconds(1));
  EXPECT_TRUE(told.try_acquire_for(seconds(30)));
  release.release();
}

}  // namespace
}  // namespace kubexx::controller::internal
