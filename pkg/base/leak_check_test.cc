#include "kubexx/base/testing/leak_check.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <stop_token>
#include <thread>

#include "kubexx/base/clock.h"

namespace kubexx::base::testing {
namespace {

TEST(LeakCheckTest, SeesAThread) {
  const HeldResources before = ReadHeldResources();
  std::jthread thread(
      [](const std::stop_token& stop) { Clock::Real().SleepFor(std::chrono::hours(1), stop); });
  EXPECT_TRUE(DescribeLeaks(before, ReadHeldResources()).starts_with("thread "));
}

TEST(LeakCheckTest, SeesADescriptor) {
  const HeldResources before = ReadHeldResources();
  const int fd = ::dup(STDIN_FILENO);
  ASSERT_GE(fd, 0);
  const std::string leaks = DescribeLeaks(before, ReadHeldResources());
  ::close(fd);
  EXPECT_TRUE(leaks.starts_with("descriptor " + std::to_string(fd) + " -> ")) << leaks;
  EXPECT_EQ(DescribeLeaks(before, ReadHeldResources()), "");
}

}  // namespace
}  // namespace kubexx::base::testing
