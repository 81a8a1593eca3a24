// A user's lock that throws: the requests about the lease fail, and the process goes on.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <semaphore>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/leaderelection/leader_elector.h"
#include "kubexx/leaderelection/testing/fake_lock.h"

namespace kubexx::leaderelection {
namespace {

using namespace std::chrono_literals;
using apimachinery::ObjectKey;
using apimachinery::Reason;
using apimachinery::Result;
using ::testing::HasSubstr;

/// A FakeLock that throws while the test wants it to.
class ThrowingLock final : public Lock {
 public:
  Result<Lease> Get(std::stop_token stop) override {
    MayThrow();
    return inner_.Get(std::move(stop));
  }
  Result<Lease> Create(Lease lease, std::stop_token stop) override {
    MayThrow();
    return inner_.Create(std::move(lease), std::move(stop));
  }
  Result<Lease> Update(const Lease& lease, std::stop_token stop) override {
    MayThrow();
    return inner_.Update(lease, std::move(stop));
  }
  Result<void> Watch(Sink sink, std::stop_token stop) override {
    MayThrow();
    return inner_.Watch(sink, std::move(stop));
  }
  ObjectKey Key() const override {
    if (key_throws) {
      throw std::runtime_error("no key");
    }
    return inner_.Key();
  }

  std::atomic<bool> throws = true;
  std::atomic<bool> key_throws = false;
  std::atomic<int> thrown = 0;

 private:
  void MayThrow() {
    if (throws) {
      ++thrown;
      throw std::runtime_error("boom");
    }
  }

  testing::FakeLock inner_;
};

class ThrowingLockTest : public ::testing::Test {
 protected:
  void Run() {
    LeaderElector::Options options{
        .config = {.identity = "a", .seed = 7}, .lock = lock_, .callbacks = {}, .clock = clock_};
    options.callbacks.on_started_leading = [this](const std::stop_token& stop) {
      started_.release();
      (void)base::Clock::Real().SleepFor(1h, stop);
    };
    elector_ = *LeaderElector::New(std::move(options));
    thread_ = std::jthread([this](const std::stop_token& stop) {
      result_ = elector_->Run(stop);
      ended_.release();
    });
  }

  base::testing::FakeClock clock_;
  const std::shared_ptr<ThrowingLock> lock_ = std::make_shared<ThrowingLock>();
  std::binary_semaphore started_{0};
  std::binary_semaphore ended_{0};
  std::unique_ptr<LeaderElector> elector_;
  Result<void> result_;
  std::jthread thread_;
};

TEST_F(ThrowingLockTest, ACandidateTriesAgain) {
  Run();
  KX_AWAIT(lock_->thrown >= 2);  // a read and the watch
  lock_->throws = false;
  KX_UNTIL(started_.try_acquire()) {
    clock_.Advance(1s);
  }
  thread_.request_stop();
  thread_.join();
  EXPECT_TRUE(result_) << result_.error().ToString();
}

TEST_F(ThrowingLockTest, ALeaderLosesTheLeaseWhenItDoesNotEnd) {
  lock_->throws = false;
  Run();
  KX_AWAIT(started_.try_acquire());
  lock_->throws = true;
  KX_UNTIL(ended_.try_acquire()) {
    clock_.Advance(1s);
  }
  thread_.join();
  ASSERT_FALSE(result_);
  EXPECT_THAT(result_.error().message, HasSubstr("the lease was lost"));
  EXPECT_GT(lock_->thrown, 0);
}

TEST_F(ThrowingLockTest, OneThatDoesNotTellItsKeyIsRefused) {
  lock_->key_throws = true;
  const auto elector = LeaderElector::New({.lock = lock_});
  ASSERT_FALSE(elector);
  EXPECT_EQ(elector.error().reason, Reason::kInvalidConfig);
  EXPECT_THAT(elector.error().message, HasSubstr("no key"));
}

}  // namespace
}  // namespace kubexx::leaderelection
