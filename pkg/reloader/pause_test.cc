#include "kubexx/reloader/pause.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kubexx/apimachinery/time.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using std::chrono::seconds;

const AnnotationKeys kKeys;
const WorkloadId kWeb{WorkloadKind::kDeployment, {"ns", "web"}};

Workload Web(const std::string& period, const std::string& paused_at = "") {
  Workload workload{.id = kWeb, .uid = "u"};
  workload.annotations[kKeys.pause_period] = period;
  if (!paused_at.empty()) {
    workload.annotations[kKeys.paused_at] = paused_at;
  }
  return workload;
}

TEST(PausePeriod, IsADurationOfGo) {
  EXPECT_EQ(*PausePeriodOf(Web("1h30m"), kKeys), std::chrono::minutes(90));
  EXPECT_EQ(*PausePeriodOf(Web("300ms"), kKeys), std::chrono::milliseconds(300));
  EXPECT_EQ(*PausePeriodOf(Workload{.id = kWeb}, kKeys), std::nullopt);
  for (const char* bad : {"", "5", "soon", "5 m"}) {
    const auto period = PausePeriodOf(Web(bad), kKeys);
    ASSERT_FALSE(period) << bad;
    EXPECT_NE(period.status().message.find(kKeys.pause_period), std::string::npos);
  }
}

TEST(PauseEnd, IsReckonedFromTheObjectAlone) {
  EXPECT_EQ(PauseEndOf(Web("1m"), kKeys), std::nullopt);
  EXPECT_EQ(PauseEndOf(Web("1m", "1970-01-01T00:10:00Z"), kKeys), base::WallTime(seconds(660)));
  // Over at once: nothing says how long.
  EXPECT_EQ(PauseEndOf(Web("soon", "1970-01-01T00:10:00Z"), kKeys), base::WallTime());
  EXPECT_EQ(PauseEndOf(Web("1m", "yesterday"), kKeys), base::WallTime());
  EXPECT_EQ(PauseEndOf(Web("1m", "9999-12-31T23:59:59Z"), kKeys), base::WallTime());
  Workload without = Web("1m", "1970-01-01T00:10:00Z");
  without.annotations.erase(kKeys.pause_period);
  EXPECT_EQ(PauseEndOf(without, kKeys), base::WallTime());
}

/// One Deployment as a cluster has it, and all writes to it. Thread-safe.
class FakeCluster final : public WorkloadWriter {
 public:
  Result<WriteOutcome> Write(const WorkloadId&, const WorkloadWrite& write,
                             std::stop_token) override {
    const base::MutexLock lock(mu_);
    writes_.push_back(write);
    changed_.notify_all();
    if (failures_ > 0) {
      --failures_;
      return Fail(Reason::kUnavailable, "no connection");
    }
    return WriteOutcome{.rolled = false};
  }
  std::vector<WorkloadWrite> Await(std::size_t n) {
    const base::MutexLock lock(mu_);
    while (writes_.size() < n) {
      changed_.wait(mu_);
    }
    return writes_;
  }
  void FailNext(int n) {
    const base::MutexLock lock(mu_);
    failures_ = n;
  }
  void Set(std::optional<Workload> workload, bool paused) {
    const base::MutexLock lock(mu_);
    workload_ = std::move(workload);
    paused_ = paused;
  }
  std::optional<Workload> Get() {
    const base::MutexLock lock(mu_);
    return workload_;
  }
  bool Paused() {
    const base::MutexLock lock(mu_);
    ++asked_;
    changed_.notify_all();
    return paused_;
  }
  void AwaitAsked(int n) {
    const base::MutexLock lock(mu_);
    while (asked_ < n) {
      changed_.wait(mu_);
    }
  }

 private:
  base::Mutex mu_;
  base::CondVar changed_;
  std::vector<WorkloadWrite> writes_ KX_GUARDED_BY(mu_);
  int failures_ KX_GUARDED_BY(mu_) = 0;
  int asked_ KX_GUARDED_BY(mu_) = 0;
  std::optional<Workload> workload_ KX_GUARDED_BY(mu_);
  bool paused_ KX_GUARDED_BY(mu_) = false;
};

class PausesTest : public testing::Test {
 protected:
  std::string Now() const { return apimachinery::Time::From(clock_.Wall()).ToString(); }

  base::testing::FakeClock clock_;
  FakeCluster cluster_;
  ShardGate gate_{1, clock_};
  Pauses pauses_{{.keys = kKeys,
                  .get = [this](const WorkloadId&) { return cluster_.Get(); },
                  .is_paused = [this](const WorkloadId&, const std::stop_token&) -> Result<bool> {
                    return cluster_.Paused();
                  },
                  .writer = cluster_,
                  .gate = &gate_,
                  .clock = clock_,
                  .registry = nullptr}};
};

TEST_F(PausesTest, AReloadPausesWhatAsksForIt) {
  WorkloadWrite write;
  ASSERT_TRUE(pauses_.AddTo(Web("1m"), write, {}));
  EXPECT_EQ(write.paused, true);
  EXPECT_EQ(write.annotations.at(kKeys.paused_at), Now());
}

TEST_F(PausesTest, WhatIsPausedStaysAsItIs) {
  cluster_.Set(std::nullopt, true);
  WorkloadWrite write;
  ASSERT_TRUE(pauses_.AddTo(Web("1m"), write, {}));
  ASSERT_TRUE(pauses_.AddTo(Web("1m", "2020-01-01T00:00:00Z"), write, {}));
  EXPECT_TRUE(write.empty());
}

TEST_F(PausesTest, OthersAreLeftAlone) {
  WorkloadWrite write;
  Workload stateful_set = Web("1m");
  stateful_set.id.kind = WorkloadKind::kStatefulSet;
  ASSERT_TRUE(pauses_.AddTo(stateful_set, write, {}));
  ASSERT_TRUE(pauses_.AddTo(Workload{.id = kWeb}, write, {}));
  ASSERT_TRUE(pauses_.AddTo(Web("-1m"), write, {}));
  EXPECT_TRUE(write.empty());
  EXPECT_FALSE(pauses_.AddTo(Web("soon"), write, {}));
}

TEST_F(PausesTest, ResumesWhenThePeriodIsOver) {
  gate_.Open(0);
  cluster_.Set(Web("1m", Now()), true);
  pauses_.Consider(kWeb.key);
  clock_.AdvanceToSleeper(seconds(60));
  const auto writes = cluster_.Await(1);
  EXPECT_EQ(writes[0].paused, false);
  EXPECT_EQ(writes[0].annotations.at(kKeys.paused_at), std::nullopt);
  EXPECT_FALSE(writes[0].Rolls());
}

TEST_F(PausesTest, AFailedResumeIsTriedAgain) {
  gate_.Open(0);
  cluster_.FailNext(1);
  cluster_.Set(Web("1m", "2020-01-01T00:00:00Z"), true);
  pauses_.Consider(kWeb.key);
  cluster_.Await(1);
  clock_.AdvanceToSleeper(std::chrono::milliseconds(100));
  EXPECT_EQ(cluster_.Await(2)[1].paused, false);
}

TEST_F(PausesTest, ResumesWhenItHasBeenGivenTheShard) {
  cluster_.Set(Web("1m", "2020-01-01T00:00:00Z"), true);
  pauses_.Consider(kWeb.key);
  gate_.Open(0);
  pauses_.Consider(kWeb.key);  // as the new leader does; the first look may come as late as this
  EXPECT_EQ(cluster_.Await(1)[0].paused, false);
}

TEST_F(PausesTest, WhatSomebodyHasResumedIsLeftAlone) {
  gate_.Open(0);
  cluster_.Set(Web("1m", "2020-01-01T00:00:00Z"), false);
  pauses_.Consider(kWeb.key);
  cluster_.AwaitAsked(1);
  pauses_.Stop();
  EXPECT_TRUE(cluster_.Await(0).empty());
}

}  // namespace
}  // namespace kubexx::reloader
