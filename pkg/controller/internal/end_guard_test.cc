#include "kubexx/controller/internal/end_guard.h"

#include <gtest/gtest.h>

#include <chrono>
#include <semaphore>
#include <string>
#include <vector>

#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::controller::internal {
namespace {

using std::chrono::seconds;

TEST(EndGuardTest, TellsOnceWhoeverFindsItStuck) {
  base::testing::FakeClock clock;
  std::stop_source ended;
  std::counting_semaphore<> told(0);
  EndGuard guard(ended.get_token(),
                 {.clock = clock,
                  .grace = [] { return seconds(20); },
                  .running = [] { return std::vector<std::string>{"stubborn"}; },
                  .on_stuck = [&told](const apimachinery::Status&) { told.release(); }});
  ended.request_stop();
  clock.AdvanceToSleeper(seconds(20) + EndGuard::kClosing);
  told.acquire();  // by the guard itself
  EXPECT_FALSE(guard.Stuck()) << "the manager finds it as well";
  EXPECT_FALSE(told.try_acquire());
}

}  // namespace
}  // namespace kubexx::controller::internal
