#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <semaphore>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/controller/manager.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"

// Tests users' code that hangs in a call that the manager makes while it ends.

namespace kubexx::controller {
namespace {

using apimachinery::Result;
using std::chrono::seconds;
using ::testing::HasSubstr;

/// Leads at once, until the test takes the leadership away.
class LosableLeadership final : public Leadership {
 public:
  void Lose() { lost_.request_stop(); }
  std::stop_token Lost() const override { return lost_.get_token(); }
  Result<void> Run(Lead lead, std::stop_token stop) override {
    std::stop_source lead_stop;
    const std::stop_callback on_stop(stop, [&lead_stop] { lead_stop.request_stop(); });
    const std::stop_callback on_lost(lost_.get_token(), [&lead_stop] { lead_stop.request_stop(); });
    lead(lead_stop.get_token());
    return {};
  }

 private:
  std::stop_source lost_;
};

class StuckManagerTest : public ::testing::Test {
 protected:
  ~StuckManagerTest() override {
    release_.release(100);
    ender_ = {};
    thread_ = {};
    manager_.reset();
  }

  void Make(std::shared_ptr<Leadership> leadership = nullptr) {
    ManagerOptions options{.clock = clock_};
    options.leadership = std::move(leadership);
    options.graceful_shutdown_timeout = seconds(20);
    options.on_stuck = [this](const apimachinery::Status& status) {
      told_ = status.message;
      stuck_.release();
    };
    manager_ = std::make_unique<Manager>(
        rest::testing::NewClient("http://127.0.0.1:" + std::to_string(rest::testing::UnusedPort())),
        std::move(options));
  }
  void Run() {
    thread_ = std::jthread([this] { result_ = manager_->Run(stop_.get_token()); });
  }
  // Runs until it is released. Before that it hangs in a callback of its stop.
  Result<void> HangInACallback(const std::stop_token& stop) {
    const std::stop_callback on_stop(stop, [this] { KX_AWAIT(release_.try_acquire()); });
    runs_.release();
    KX_AWAIT(release_.try_acquire());
    return {};
  }

  base::testing::FakeClock clock_;
  std::stop_source stop_;
  std::counting_semaphore<> release_{0};
  std::counting_semaphore<> runs_{0};
  std::counting_semaphore<> stuck_{0};
  std::string told_;
  std::optional<Result<void>> result_;
  std::unique_ptr<Manager> manager_;
  std::jthread thread_;
  std::jthread ender_;
};

TEST_F(StuckManagerTest, ALostLeaseEndsItThoughAStopCallbackHangs) {
  const auto leadership = std::make_shared<LosableLeadership>();
  Make(leadership);
  ASSERT_TRUE(manager_->Add("hangs", Stage::kLeader,
                            [this](const std::stop_token& stop) { return HangInACallback(stop); }));
  Run();
  KX_AWAIT(runs_.try_acquire());
  ender_ = std::jthread([leadership] { leadership->Lose(); });
  clock_.AdvanceToSleeper(seconds(1));
  KX_AWAIT(stuck_.try_acquire());
  EXPECT_THAT(told_, HasSubstr("hangs"));
}

TEST_F(StuckManagerTest, OthersAreToldToStopThoughAStopCallbackHangs) {
  Make();
  std::counting_semaphore<> ended(0);
  ASSERT_TRUE(manager_->Add("hangs", Stage::kLeader,
                            [this](const std::stop_token& stop) { return HangInACallback(stop); }));
  ASSERT_TRUE(manager_->Add("heeds", Stage::kOther, [&](const std::stop_token& stop) {
    const std::stop_callback on_stop(stop, [&ended] { ended.release(); });
    runs_.release();
    KX_AWAIT(release_.try_acquire());
    return Result<void>();
  }));
  Run();
  KX_AWAIT(runs_.try_acquire());
  KX_AWAIT(runs_.try_acquire());
  ender_ = std::jthread([this] { stop_.request_stop(); });
  KX_AWAIT(ended.try_acquire());
  clock_.AdvanceToSleeper(seconds(20));
  KX_AWAIT(stuck_.try_acquire());
}

TEST_F(StuckManagerTest, ACallbackOfAWarmupThatHangsHoldsNoStopUp) {
  class Warm final : public Runnable {
   public:
    Warm(std::counting_semaphore<>& runs, std::counting_semaphore<>& release)
        : runs_(runs), release_(release) {}
    std::string Name() const override { return "warm"; }
    Result<void> Run(std::stop_token) override { return {}; }
    Result<void> Warmup(std::stop_token stop) override {
      const std::stop_callback on_stop(stop, [this] { KX_AWAIT(release_.try_acquire()); });
      runs_.release();
      KX_AWAIT(release_.try_acquire());
      return {};
    }

   private:
    std::counting_semaphore<>& runs_;
    std::counting_semaphore<>& release_;
  };
  Make();
  ASSERT_TRUE(manager_->Add(std::make_shared<Warm>(runs_, release_)));
  Run();
  KX_AWAIT(runs_.try_acquire());
  ender_ = std::jthread([this] { stop_.request_stop(); });
  clock_.AdvanceToSleeper(seconds(20));
  KX_AWAIT(stuck_.try_acquire());
  EXPECT_THAT(told_, HasSubstr("warm: warm-up"));
}

TEST_F(StuckManagerTest, ACallbackOfItsOwnStopThatHangsHoldsItNotUp) {
  Make();
  ASSERT_TRUE(manager_->Add("registers", Stage::kLeader, [this](const std::stop_token&) {
    // The callback is registered after Run, so it is called before the callbacks of Run.
    const std::stop_callback on_stop(stop_.get_token(),
                                     [this] { KX_AWAIT(release_.try_acquire()); });
    runs_.release();
    KX_AWAIT(release_.try_acquire());
    return Result<void>();
  }));
  Run();
  KX_AWAIT(runs_.try_acquire());
  ender_ = std::jthread([this] { stop_.request_stop(); });
  clock_.AdvanceToSleeper(seconds(20));
  KX_AWAIT(stuck_.try_acquire());
  EXPECT_THAT(told_, HasSubstr("registers"));
}

TEST_F(StuckManagerTest, ServersHaveTheTimeAfterTheGraceToo) {
  Make();
  std::binary_semaphore told_server(0);
  std::binary_semaphore leader_may_end(0);
  std::binary_semaphore server_may_end(0);
  ASSERT_TRUE(manager_->Add("slow", Stage::kLeader, [&](const std::stop_token&) {
    runs_.release();
    KX_AWAIT(leader_may_end.try_acquire());
    return Result<void>();
  }));
  ASSERT_TRUE(manager_->Add("server", Stage::kServer, [&](const std::stop_token& stop) {
    const std::stop_callback on_stop(stop, [&told_server] { told_server.release(); });
    KX_AWAIT(server_may_end.try_acquire());
    return Result<void>();
  }));
  Run();
  KX_AWAIT(runs_.try_acquire());
  stop_.request_stop();
  clock_.AdvanceToSleeper(seconds(19));
  leader_may_end.release();
  KX_AWAIT(told_server.try_acquire());
  clock_.AdvanceToSleeper(seconds(7));  // the grace is over now, but the closing time is not
  server_may_end.release();
  thread_.join();
  EXPECT_TRUE(*result_) << result_->error().ToString();
  EXPECT_FALSE(stuck_.try_acquire());
}

TEST_F(StuckManagerTest, AnElectionThatDoesNotEndIsNamed) {
  class Endless final : public Leadership {
   public:
    explicit Endless(std::counting_semaphore<>& release) : release_(release) {}
    Result<void> Run(Lead lead, std::stop_token stop) override {
      lead(std::move(stop));
      led_.release();
      KX_AWAIT(release_.try_acquire());
      return {};
    }
    /// Waits until nothing runs any more that it has started.
    void AwaitEnd() { KX_AWAIT(led_.try_acquire()); }

   private:
    std::counting_semaphore<>& release_;
    std::binary_semaphore led_{0};
  };
  const auto leadership = std::make_shared<Endless>(release_);
  Make(leadership);
  ASSERT_TRUE(manager_->Add("leader", Stage::kLeader, [this](const std::stop_token&) {
    runs_.release();
    return Result<void>();
  }));
  Run();
  KX_AWAIT(runs_.try_acquire());
  stop_.request_stop();
  leadership->AwaitEnd();
  clock_.AdvanceToSleeper(seconds(20));
  KX_AWAIT(stuck_.try_acquire());
  EXPECT_THAT(told_, HasSubstr("the leader election"));
}

TEST_F(StuckManagerTest, WhoseLeaseIsLostDoesNotSayThatItLeads) {
  const auto leadership = std::make_shared<LosableLeadership>();
  Make(leadership);
  ASSERT_TRUE(manager_->Add("goes on", Stage::kLeader, [this](const std::stop_token&) {
    runs_.release();
    KX_AWAIT(release_.try_acquire());
    return Result<void>();
  }));
  Run();
  KX_AWAIT(runs_.try_acquire());
  EXPECT_TRUE(manager_->IsLeader());
  leadership->Lose();
  EXPECT_FALSE(manager_->IsLeader());
}

// A runnable whose Busy() needs the lock that its Run holds.
class Locked final : public Runnable {
 public:
  Locked(std::counting_semaphore<>& runs, std::counting_semaphore<>& release)
      : runs_(runs), release_(release) {}
  std::string Name() const override { return "locked"; }
  Result<void> Run(std::stop_token) override {
    const base::MutexLock lock(mu_);
    runs_.release();
    KX_AWAIT(release_.try_acquire());
    return {};
  }
  std::vector<std::string> Busy() const override {
    const base::MutexLock lock(mu_);
    return {"nothing"};
  }

 private:
  std::counting_semaphore<>& runs_;
  std::counting_semaphore<>& release_;
  mutable base::Mutex mu_;
};

TEST_F(StuckManagerTest, WhatDoesNotSayWhatItIsAtIsNamed) {
  class Telling final : public Runnable {
   public:
    Telling(std::counting_semaphore<>& runs, std::counting_semaphore<>& release)
        : runs_(runs), release_(release) {}
    std::string Name() const override { return "telling"; }
    Result<void> Run(std::stop_token) override {
      runs_.release();
      KX_AWAIT(release_.try_acquire());
      return {};
    }
    std::vector<std::string> Busy() const override { return {"counting sheep"}; }

   private:
    std::counting_semaphore<>& runs_;
    std::counting_semaphore<>& release_;
  };
  Make();
  ASSERT_TRUE(manager_->Add(std::make_shared<Locked>(runs_, release_)));
  ASSERT_TRUE(manager_->Add(std::make_shared<Telling>(runs_, release_)));
  Run();
  KX_AWAIT(runs_.try_acquire());
  KX_AWAIT(runs_.try_acquire());
  stop_.request_stop();
  clock_.AdvanceToSleeper(seconds(20));
  KX_AWAIT(stuck_.try_acquire());
  EXPECT_THAT(told_, HasSubstr("locked"));
  EXPECT_THAT(told_, HasSubstr("telling"));
}

}  // namespace
}  // namespace kubexx::controller
