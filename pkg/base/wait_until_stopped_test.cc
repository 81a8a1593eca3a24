#include "kubexx/base/wait_until_stopped.h"

#include <gtest/gtest.h>

#include <thread>

namespace kubexx::base {
namespace {

TEST(WaitUntilStoppedTest, ReturnsWhenTheStopIsRequested) {
  std::stop_source stop;
  std::jthread waiter([token = stop.get_token()] {
    WaitUntilStopped(token);
    EXPECT_TRUE(token.stop_requested());
  });
  stop.request_stop();
  waiter.join();
  WaitUntilStopped(stop.get_token());  // at once
}

}  // namespace
}  // namespace kubexx::base
