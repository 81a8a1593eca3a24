#include "kubexx/controller/internal/end_guard.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <semaphore>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/base/testing/await.h"
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
  KX_AWAIT(told.try_acquire());  // the guard itself reports it
  EXPECT_FALSE(guard.Stuck()) << "the manager finds it as well";
  EXPECT_FALSE(told.try_acquire());
}

TEST(EndGuardTest, NoticesAStopWhoseCallbackHangs) {
  base::testing::FakeClock clock;
  std::stop_source user;
  std::stop_source ended;
  const EndGuard guard(ended.get_token(), {.clock = clock,
                                           .grace = [] { return seconds(20); },
                                           .stop = user.get_token(),
                                           .end = [&ended] { ended.request_stop(); }});
  std::binary_semaphore go_on(0);
  const std::stop_callback hangs(user.get_token(), [&] { KX_AWAIT(go_on.try_acquire()); });
  std::jthread stopping([&user] { user.request_stop(); });
  KX_AWAIT(ended.stop_requested());
  clock.AwaitSleepers(1);  // the guard counts the grace
  go_on.release();
}

TEST(EndGuardTest, AShorterGraceCounts) {
  base::testing::FakeClock clock;
  std::stop_source ended;
  std::stop_source lost;
  std::counting_semaphore<> told(0);
  EndGuard guard(ended.get_token(),
                 {.clock = clock,
                  .grace = [&lost] { return seconds(lost.stop_requested() ? 1 : 20); },
                  .sooner = lost.get_token(),
                  .running = [] { return std::vector<std::string>{"stubborn"}; },
                  .on_stuck = [&told](const apimachinery::Status&) { told.release(); }});
  ended.request_stop();
  clock.AwaitSleepers(1);
  lost.request_stop();
  clock.AdvanceToSleeper(seconds(1));
  EXPECT_FALSE(told.try_acquire());
  clock.Advance(EndGuard::kClosing);
  KX_AWAIT(told.try_acquire());
}

TEST(EndGuardTest, AGraceForEverIsNotOver) {
  base::testing::FakeClock clock;
  EndGuard guard({}, {.clock = clock, .grace = [] { return base::Duration::max(); }});
  EXPECT_EQ(guard.Deadline(), base::TimePoint::max());
  EXPECT_EQ(guard.ClosingDeadline(), base::TimePoint::max());
}

TEST(EndGuardDeathTest, EndsTheProcessThoughNobodyReadsTheLog) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run = [] {
    int ends[2] = {-1, -1};
    ASSERT_EQ(pipe(ends), 0);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    const std::string block(4096, 'x');
    while (write(ends[1], block.data(), block.size()) > 0) {
    }
    fcntl(ends[1], F_SETFL, 0);
    dup2(ends[1], STDERR_FILENO);
    base::testing::FakeClock clock;
    EndGuard guard({}, {.clock = clock,
                        .grace = [] { return seconds(20); },
                        .running = [] { return std::vector<std::string>{"stubborn"}; }});
    (void)guard.Stuck();
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(EXIT_FAILURE), "");
}

}  // namespace
}  // namespace kubexx::controller::internal
