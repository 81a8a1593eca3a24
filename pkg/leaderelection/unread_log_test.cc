// A log that nobody reads: a line waits in it, and the lease's time goes on.
#include "kubexx/logging/testing/unread_log.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <semaphore>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/leaderelection/leader_elector.h"
#include "kubexx/leaderelection/testing/fake_lock.h"

namespace kubexx::leaderelection {
namespace {

using namespace std::chrono_literals;
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using logging::testing::UnreadLog;

class UnreadLogTest : public ::testing::Test {
 protected:
  void Run() {
    LeaderElector::Options options{
        .config = {.identity = "a", .seed = 7}, .lock = lock_, .callbacks = {}, .clock = clock_};
    options.callbacks.on_started_leading = [this](const std::stop_token& stop) {
      ++leads_;
      started_.release();
      (void)base::Clock::Real().SleepFor(1h, stop);
      ended_.release();
    };
    elector_ = *LeaderElector::New(std::move(options));
    thread_ = std::jthread([this](const std::stop_token& stop) { result_ = elector_->Run(stop); });
  }

  base::testing::FakeClock clock_;
  const std::shared_ptr<testing::FakeLock> lock_ = std::make_shared<testing::FakeLock>();
  std::atomic<int> leads_ = 0;
  std::binary_semaphore started_{0};
  std::binary_semaphore ended_{0};
  std::unique_ptr<LeaderElector> elector_;
  Result<void> result_;
  std::jthread thread_;
};

TEST_F(UnreadLogTest, KeepsNobodyLeadingWhoseLeaseIsLost) {
  UnreadLog log("A request for the leader's Lease has failed");
  Run();
  KX_AWAIT(started_.try_acquire());
  lock_->SetFault([](std::string_view, const std::stop_token&) -> Result<void> {
    return Fail(Reason::kUnavailable, "no route to host");
  });
  clock_.AdvanceToSleeper(2s);
  log.AwaitLine();
  clock_.Advance(15s);
  KX_AWAIT(ended_.try_acquire());
  log.Read();
  thread_.join();
  EXPECT_FALSE(result_);
}

TEST_F(UnreadLogTest, BeginsNoWorkWhenTheLeaseIsLostMeanwhile) {
  UnreadLog log("Acquired the leader's Lease");
  Run();
  log.AwaitLine();
  clock_.Advance(15s);
  log.Read();
  thread_.join();
  EXPECT_FALSE(result_);
  EXPECT_EQ(leads_, 0);
}

}  // namespace
}  // namespace kubexx::leaderelection
