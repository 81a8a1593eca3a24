// A log that nobody reads: a line waits in it, and the lease's time goes on.
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

#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/leaderelection/leader_elector.h"
#include "kubexx/leaderelection/testing/fake_lock.h"
#include "kubexx/logging/internal/sink.h"

namespace kubexx::leaderelection {
namespace {

using namespace std::chrono_literals;
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

/// The first line that contains a text waits in the log until Read is called, and all after it.
class UnreadLog {
 public:
  explicit UnreadLog(std::string text) {
    before_ = logging::internal::ReplaceOutputForTest(
        [this, wanted = std::move(text)](std::string_view line) {
          if (!read_ && line.find(wanted) != std::string_view::npos) {
            waits_.release();
            read_.wait(false);
          }
        });
  }
  UnreadLog(const UnreadLog&) = delete;
  UnreadLog& operator=(const UnreadLog&) = delete;
  ~UnreadLog() {
    Read();
    logging::internal::ReplaceOutputForTest(std::move(before_));
  }
  void AwaitLine() { waits_.acquire(); }
  void Read() {
    read_ = true;
    read_.notify_all();
  }

 private:
  std::atomic<bool> read_ = false;
  std::counting_semaphore<> waits_{0};
  logging::internal::Output before_;
};

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
  UnreadLog log("a request for the lease has failed");
  Run();
  started_.acquire();
  lock_->SetFault([](std::string_view, const std::stop_token&) -> Result<void> {
    return Fail(Reason::kUnavailable, "no route to host");
  });
  clock_.AdvanceToSleeper(2s);
  log.AwaitLine();
  clock_.Advance(15s);
  ended_.acquire();
  log.Read();
  thread_.join();
  EXPECT_FALSE(result_);
}

TEST_F(UnreadLogTest, BeginsNoWorkWhenTheLeaseIsLostMeanwhile) {
  UnreadLog log("leading");
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
