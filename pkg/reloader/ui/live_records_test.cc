#include "kubexx/reloader/ui/live_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::reloader {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

WorkloadId Web(int number) {
  return {WorkloadKind::kDeployment, {"shop", "web" + std::to_string(number)}};
}

/// Looks at workloads of which the test says what they are.
class LiveRecordsTest : public ::testing::Test {
 protected:
  struct Limits {
    base::Duration budget = milliseconds(60);
    std::size_t max_workloads = 100;
  };
  void Begin(const Limits& limits) {
    records_.emplace(
        feed_, LiveRecords::Options{.clock = clock_,
                                    .budget = limits.budget,
                                    .max_workloads = limits.max_workloads,
                                    .look = [this](const WorkloadId& id,
                                                   const std::stop_token&) { return Look(id); },
                                    .others =
                                        [this](std::size_t left_out, const std::stop_token&) {
                                          const base::MutexLock lock(mu_);
                                          auto others = others_;
                                          others["left-out"] = std::to_string(left_out);
                                          return others;
                                        }});
    Rest();
  }
  LiveRecords::Look Look(const WorkloadId& id) {
    clock_.Advance(cost_);
    const base::MutexLock lock(mu_);
    ++looks_[id];
    const auto found = workloads_.find(id);
    return found == workloads_.end() ? LiveRecords::Look() : found->second;
  }
  /// Waits until the thread has done what there was to do, and waits.
  void Rest() { clock_.AwaitSleepers(1); }
  void Pass(base::Duration time) {
    clock_.Advance(time);
    Rest();
  }
  void Set(int number, std::string json, bool is_settled = true) {
    {
      const base::MutexLock lock(mu_);
      workloads_[Web(number)] = {.json = std::move(json), .is_settled = is_settled};
    }
    records_->Touch(Web(number));
  }
  std::optional<std::string> Record(int number) const {
    return feed_.Get(RecordKeyOf(Web(number)));
  }
  int looks(int number) {
    const base::MutexLock lock(mu_);
    return looks_[Web(number)];
  }

  base::testing::FakeClock clock_;
  StateFeed feed_{{.name = "s"}};
  base::Mutex mu_;
  std::map<WorkloadId, LiveRecords::Look> workloads_ KX_GUARDED_BY(mu_);
  std::map<WorkloadId, int> looks_ KX_GUARDED_BY(mu_);
  std::map<std::string, std::string> others_ KX_GUARDED_BY(mu_);
  base::Duration cost_{};               ///< of a look
  std::optional<LiveRecords> records_;  // last: ends first
};

TEST_F(LiveRecordsTest, WhatIsTouchedIsLookedAt) {
  Begin({});
  Set(1, "1");
  Pass(milliseconds(100));
  KX_AWAIT(Record(1) == "1");
}

TEST_F(LiveRecordsTest, ChangesWithinTheGapAreOneLook) {
  Begin({});
  Pass(milliseconds(100));
  Set(1, "1");
  KX_AWAIT(Record(1) == "1");
  const int before = looks(1);
  for (int i = 2; i <= 50; ++i) {
    Set(1, std::to_string(i));
  }
  Rest();
  EXPECT_EQ(looks(1), before);
  Pass(milliseconds(100));
  KX_AWAIT(Record(1) == "50");
  EXPECT_EQ(looks(1), before + 1);
}

TEST_F(LiveRecordsTest, WhatDoesNotExistAnyMoreIsGone) {
  Begin({});
  Set(1, "1");
  Pass(milliseconds(100));
  KX_AWAIT(Record(1) == "1");
  {
    const base::MutexLock lock(mu_);
    workloads_.clear();
  }
  records_->Touch(Web(1));
  Pass(milliseconds(100));
  KX_AWAIT(Record(1) == std::nullopt);
}

TEST_F(LiveRecordsTest, OnlyWhatIsUnsettledIsLookedAtAgain) {
  Begin({});
  Set(1, "1", false);
  Set(2, "2", true);
  Pass(milliseconds(100));
  KX_AWAIT(Record(1) == "1" && Record(2) == "2");
  const int settled = looks(2);
  for (int i = 0; i < 3; ++i) {
    const int before = looks(1);
    Pass(seconds(1));
    KX_AWAIT(looks(1) > before);
  }
  EXPECT_EQ(looks(2), settled);
}

TEST_F(LiveRecordsTest, TouchAllLooksAtAllThatAreKnown) {
  Begin({});
  Set(1, "1");
  Set(2, "2");
  Pass(milliseconds(100));
  KX_AWAIT(Record(1) == "1" && Record(2) == "2");
  const int one = looks(1);
  const int other = looks(2);
  records_->TouchAll();
  Pass(milliseconds(100));
  KX_AWAIT(looks(1) > one && looks(2) > other);
}

TEST_F(LiveRecordsTest, WhatCannotBeLookedAtKeepsItsRecord) {
  Begin({});
  Set(1, "1");
  Pass(milliseconds(100));
  KX_AWAIT(Record(1) == "1");
  {
    const base::MutexLock lock(mu_);
    workloads_[Web(1)] = {.json = "unknown", .is_settled = false, .is_postponed = true};
  }
  records_->Touch(Web(1));
  const int before = looks(1);
  Pass(milliseconds(100));
  KX_AWAIT(looks(1) > before);
  Rest();
  EXPECT_EQ(Record(1), "1");
}

TEST_F(LiveRecordsTest, BeyondTheBudgetTheRestComesInLaterTurnsAndNobodyStarves) {
  cost_ = milliseconds(10);
  Begin({.budget = milliseconds(20)});
  for (int i = 0; i < 6; ++i) {
    Set(i, "1");
  }
  // The first ones are touched all the time, and would use up every turn.
  for (int turn = 0; turn < 100 && !(Record(4) && Record(5)); ++turn) {
    records_->Touch(Web(0));
    records_->Touch(Web(1));
    Pass(milliseconds(100));
  }
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(Record(i), "1") << i;
  }
}

TEST_F(LiveRecordsTest, BeyondTheLimitWorkloadsAreOnlyCounted) {
  Begin({.max_workloads = 2});
  for (int i = 0; i < 5; ++i) {
    Set(i, "1");
  }
  Pass(milliseconds(100));
  KX_AWAIT(looks(4) > 0);
  Pass(seconds(1));
  KX_AWAIT(feed_.Get("left-out") == "3");
}

TEST_F(LiveRecordsTest, OtherRecordsComeAndGo) {
  {
    const base::MutexLock lock(mu_);
    others_["p/shop/gentle"] = "1";
  }
  Begin({});
  KX_AWAIT(feed_.Get("p/shop/gentle") == "1");
  {
    const base::MutexLock lock(mu_);
    others_.clear();
  }
  Pass(seconds(1));
  KX_AWAIT(feed_.Get("p/shop/gentle") == std::nullopt);
}

}  // namespace
}  // namespace kubexx::reloader
