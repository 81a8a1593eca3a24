#include "kubexx/reloader/write/pause.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/time.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using std::chrono::milliseconds;
using std::chrono::seconds;

const AnnotationKeys kKeys;
const WorkloadId kPausedWeb{WorkloadKind::kDeployment, {"ns", "web"}};

Workload Web(const std::string& period, const std::string& paused_at = "") {
  Workload workload{.id = kPausedWeb, .uid = "u"};
  workload.annotations[kKeys.pause_period] = period;
  if (!paused_at.empty()) {
    workload.annotations[kKeys.paused_at] = paused_at;
  }
  return workload;
}

TEST(PausePeriod, IsADurationOfGo) {
  const auto period_of = [](const std::string& text) {
    return PausePeriodOf(Web(text).annotations, kKeys);
  };
  EXPECT_EQ(*period_of("1h30m"), std::chrono::minutes(90));
  EXPECT_EQ(*period_of("300ms"), milliseconds(300));
  EXPECT_EQ(*PausePeriodOf({}, kKeys), std::nullopt);
  for (const char* bad : {"", "5", "soon", "5 m", "99999999h"}) {
    const auto period = period_of(bad);
    ASSERT_FALSE(period) << bad;
    EXPECT_NE(period.error().message.find(kKeys.pause_period), std::string::npos);
  }
}

TEST(PauseEnd, IsReckonedFromTheAnnotationsAlone) {
  const base::WallTime now(seconds(700));
  const auto end_of = [now](const Workload& web) {
    return PauseEndOf(web.annotations, kKeys, now);
  };
  EXPECT_EQ(end_of(Web("1m")), std::nullopt);
  EXPECT_EQ(end_of(Web("1m", "1970-01-01T00:10:00Z")), base::WallTime(seconds(660)));
  // The pause ends at once, because nothing says how long it lasts.
  EXPECT_EQ(end_of(Web("soon", "1970-01-01T00:10:00Z")), base::WallTime());
  EXPECT_EQ(end_of(Web("1m", "yesterday")), base::WallTime());
  EXPECT_EQ(end_of(Web("1m", "9999-12-31T23:59:59Z")), base::WallTime());
  EXPECT_EQ(end_of(Web("1m", "1970-01-01T01:00:00Z")), base::WallTime()) << "no clock is so wrong";
  EXPECT_EQ(end_of(Web("1m", "1970-01-01T00:15:00Z")), base::WallTime(seconds(960)));
  Workload without = Web("1m", "1970-01-01T00:10:00Z");
  without.annotations.erase(kKeys.pause_period);
  EXPECT_EQ(end_of(without), base::WallTime());
}

TEST(PausedByOthers, IsWhatTheManagedFieldsSay) {
  const auto by = [](std::vector<std::pair<std::string, std::string>> entries) {
    api::meta::v1::ObjectMeta metadata;
    for (auto& [manager, fields] : entries) {
      metadata.managed_fields.push_back({.manager = std::move(manager),
                                         .operation = "Update",
                                         .fields_v1 = apimachinery::FieldsV1{std::move(fields)}});
    }
    return IsPausedByOthers(metadata);
  };
  const std::string paused = R"({"f:spec":{"f:paused":{},"f:replicas":{}}})";
  const std::string other = R"({"f:metadata":{"f:annotations":{}},"f:spec":{"f:replicas":{}}})";
  EXPECT_TRUE(by({{"kubectl-rollout", paused}}));
  EXPECT_TRUE(by({{"Reloader", paused}, {"argocd-controller", paused}}));
  EXPECT_FALSE(by({{"Reloader", paused}, {"kubectl-create", other}}));
  EXPECT_FALSE(by({}));
  EXPECT_FALSE(by({{"kubectl-rollout", "{"}}));
}

/// One Deployment of a cluster, who has paused it, and all writes to it. Thread-safe.
class PausedCluster final : public WorkloadWriter {
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
    if (!write.resource_version.empty() && write.resource_version != std::to_string(version_)) {
      return Fail(Reason::kConflict, "it has been changed");
    }
    for (const auto& [key, value] : write.annotations) {
      value ? (void)(web_.annotations[key] = *value) : (void)web_.annotations.erase(key);
    }
    if (write.paused && *write.paused != web_.paused) {
      PauseLocked(*write.paused, false);
    }
    ++version_;
    return WriteOutcome{.rolled = write.Rolls()};
  }
  /// Blocks until there have been `n` writes.
  std::vector<WorkloadWrite> Await(
      std::size_t n, const base::testing::Where& where = base::testing::Where::current()) {
    const base::MutexLock lock(mu_);
    base::testing::Patience patience(base::testing::Shown(n) + " writes", where);
    while (writes_.size() < n) {
      patience.Wait(changed_, mu_, writes_.size());
    }
    return writes_;
  }
  void FailNext(int n) {
    const base::MutexLock lock(mu_);
    failures_ = n;
  }
  /// Does what kubectl rollout pause and resume do.
  void PauseByHand(bool paused) {
    const base::MutexLock lock(mu_);
    PauseLocked(paused, true);
  }
  /// Does what server-side apply does to a field that already has the value.
  void OwnPauseAsWell() {
    const base::MutexLock lock(mu_);
    by_others_ = true;
    ++version_;
  }
  void Annotate(const std::string& key, std::optional<std::string> value) {
    const base::MutexLock lock(mu_);
    value ? (void)(web_.annotations[key] = *value) : (void)web_.annotations.erase(key);
    ++version_;
  }
  void Delete() {
    const base::MutexLock lock(mu_);
    deleted_ = true;
  }
  /// The next query is answered by a proxy that finds no server.
  void LoseNextQuery() {
    const base::MutexLock lock(mu_);
    lost_queries_ = 1;
  }
  /// Somebody changes the Deployment between the operator's next read and its write.
  void ChangeAfterNextQuery() {
    const base::MutexLock lock(mu_);
    change_after_query_ = true;
  }
  Workload Get() {
    const base::MutexLock lock(mu_);
    return web_;
  }
  Result<PauseState> Query() {
    const base::MutexLock lock(mu_);
    if (deleted_) {
      apimachinery::Status gone(Reason::kNotFound, "no such Deployment");
      gone.details.name = "web";
      return Fail(std::move(gone));
    }
    if (lost_queries_ > 0) {
      --lost_queries_;
      return Fail(Reason::kNotFound, "404 page not found", 404);
    }
    PauseState state{.paused = web_.paused,
                     .by_others = by_others_,
                     .annotations = web_.annotations,
                     .resource_version = std::to_string(version_)};
    version_ += std::exchange(change_after_query_, false) ? 1 : 0;
    return state;
  }

 private:
  void PauseLocked(bool paused, bool by_others) KX_REQUIRES(mu_) {
    web_.paused = paused;
    by_others_ = paused && by_others;
    ++version_;
  }

  base::Mutex mu_;
  base::CondVar changed_;
  std::vector<WorkloadWrite> writes_ KX_GUARDED_BY(mu_);
  int failures_ KX_GUARDED_BY(mu_) = 0;
  int lost_queries_ KX_GUARDED_BY(mu_) = 0;
  Workload web_ KX_GUARDED_BY(mu_) = Web("1m");
  bool by_others_ KX_GUARDED_BY(mu_) = false;
  bool deleted_ KX_GUARDED_BY(mu_) = false;
  bool change_after_query_ KX_GUARDED_BY(mu_) = false;
  int version_ KX_GUARDED_BY(mu_) = 1;
};

class PausesTest : public testing::Test {
 protected:
  PausesTest() { Restart(); }

  std::string Now() const { return apimachinery::Time::From(clock_.Wall()).ToString(); }

  /// The operator ends, and another one starts.
  void Restart() {
    pauses_.reset();
    pauses_ = std::make_unique<Pauses>(Pauses::Parts{
        .keys = kKeys,
        .get = [this](const WorkloadId&) { return std::optional(cluster_.Get()); },
        .query = [this](const WorkloadId&, const std::stop_token&) { return cluster_.Query(); },
        .writer = cluster_,
        .held_shards = &held_,
        .clock = clock_,
        .registry = nullptr});
  }
  /// The operator makes a rollout, with the pause that belongs to it.
  void Reload() {
    WorkloadWrite write;
    ASSERT_TRUE(pauses_->AddTo(cluster_.Get(), write, {}));
    write.template_annotations["changed"] = "now";
    ASSERT_TRUE(cluster_.Write(kPausedWeb, write, {}));
  }
  /// Does what each event of the Deployment does, and the first list of a new process.
  void Event() { pauses_->Consider(kPausedWeb.key); }
  /// Blocks until there have been `n` writes, and checks the state of the Deployment then.
  void Expect(std::size_t n, bool paused) {
    cluster_.Await(n);
    pauses_->Stop();  // everything that it would do has been done by then
    EXPECT_EQ(cluster_.Await(0).size(), n);
    EXPECT_EQ(cluster_.Get().paused, paused);
    EXPECT_EQ(Find(cluster_.Get().annotations, kKeys.paused_at), nullptr);
    Restart();
  }

  base::testing::FakeClock clock_;
  PausedCluster cluster_;
  HeldShards held_{1, clock_};
  std::unique_ptr<Pauses> pauses_;
};

TEST_F(PausesTest, AReloadPausesWhatAsksForIt) {
  WorkloadWrite write;
  ASSERT_TRUE(pauses_->AddTo(Web("1m"), write, {}));
  EXPECT_EQ(write.paused, true);
  EXPECT_EQ(write.annotations.at(kKeys.paused_at), Now());
}

TEST_F(PausesTest, WhatIsPausedStaysAsItIs) {
  cluster_.PauseByHand(true);
  WorkloadWrite write;
  ASSERT_TRUE(pauses_->AddTo(Web("1m"), write, {}));
  ASSERT_TRUE(pauses_->AddTo(Web("1m", "2020-01-01T00:00:00Z"), write, {}));
  EXPECT_TRUE(write.empty());
}

TEST_F(PausesTest, OthersAreLeftAlone) {
  WorkloadWrite write;
  Workload stateful_set = Web("1m");
  stateful_set.id.kind = WorkloadKind::kStatefulSet;
  ASSERT_TRUE(pauses_->AddTo(stateful_set, write, {}));
  ASSERT_TRUE(pauses_->AddTo(Workload{.id = kPausedWeb}, write, {}));
  ASSERT_TRUE(pauses_->AddTo(Web("-1m"), write, {}));
  EXPECT_TRUE(write.empty());
  EXPECT_FALSE(pauses_->AddTo(Web("soon"), write, {}));
}

TEST_F(PausesTest, ResumesWhenThePeriodIsOver) {
  held_.Open(0);
  Reload();
  Event();
  clock_.AdvanceToSleeper(seconds(60));
  const auto writes = cluster_.Await(2);
  EXPECT_EQ(writes[1].paused, false);
  EXPECT_EQ(writes[1].annotations.at(kKeys.paused_at), std::nullopt);
  EXPECT_FALSE(writes[1].Rolls());
  EXPECT_FALSE(writes[1].resource_version.empty());
}

TEST_F(PausesTest, ResumesAfterARestart) {
  held_.Open(0);
  Reload();
  Restart();
  Event();
  clock_.AdvanceToSleeper(seconds(60));
  Expect(2, false);
}

TEST_F(PausesTest, AFailedResumeIsTriedAgain) {
  held_.Open(0);
  Reload();
  cluster_.FailNext(1);
  Event();
  clock_.AdvanceToSleeper(seconds(60));
  cluster_.Await(2);
  clock_.AdvanceToSleeper(milliseconds(100));
  Expect(3, false);
}

TEST_F(PausesTest, AnAnswerThatNamesNoObjectEndsNoPause) {
  held_.Open(0);
  Reload();
  cluster_.LoseNextQuery();
  Event();
  clock_.AdvanceToSleeper(seconds(60));
  clock_.AdvanceToSleeper(milliseconds(100));  // it may check in between
  Expect(2, false);
}

TEST_F(PausesTest, AResumeThatMeetsAnotherWriteIsTriedAgain) {
  held_.Open(0);
  Reload();
  cluster_.ChangeAfterNextQuery();
  Event();
  clock_.AdvanceToSleeper(seconds(60));
  cluster_.Await(2);
  clock_.AdvanceToSleeper(milliseconds(100));
  Expect(3, false);
}

TEST_F(PausesTest, ResumesWhenItHasBeenGivenTheShard) {
  Reload();
  clock_.Advance(seconds(60));
  Event();
  held_.Open(0);
  Event();  // the new leader does this, and its first look may come as late as this
  EXPECT_EQ(cluster_.Await(2)[1].paused, false);
}

TEST_F(PausesTest, APauseWhosePeriodIsTakenAwayEnds) {
  held_.Open(0);
  Reload();
  cluster_.Annotate(kKeys.pause_period, std::nullopt);
  Event();
  Expect(2, false);
}

// The steps of a person between those of the operator. The operator runs all the time, or is
// restarted in between.
class PausesByHand : public PausesTest, public testing::WithParamInterface<bool> {
 protected:
  PausesByHand() { held_.Open(0); }
  void Step() {
    if (GetParam()) {
      Restart();
    }
    Event();
  }
  /// Begins a pause, and waits until the operator waits for its end.
  void BeginPause() {
    Reload();
    Step();
    clock_.AwaitSleepers(1);
  }
};
INSTANTIATE_TEST_SUITE_P(OperatorRestarts, PausesByHand, testing::Bool());

TEST_P(PausesByHand, OneThatIsResumedCarriesNoMarkAnyMore) {
  BeginPause();
  cluster_.PauseByHand(false);
  Step();
  Expect(2, false);
}

TEST_P(PausesByHand, OneThatIsResumedAndPausedAgainStaysPaused) {
  BeginPause();
  cluster_.PauseByHand(false);
  Step();
  Expect(2, false);
  cluster_.PauseByHand(true);
  Step();
  clock_.Advance(seconds(61));
  Step();
  Expect(2, true);
}

TEST_P(PausesByHand, OneThatIsResumedAndPausedUnseenStaysPaused) {
  BeginPause();
  cluster_.PauseByHand(false);
  cluster_.PauseByHand(true);
  Step();
  clock_.AdvanceToSleeper(seconds(60));
  Expect(2, true);
}

TEST_P(PausesByHand, APauseThatSomebodyElseHasAppliedAsWellStays) {
  BeginPause();
  cluster_.OwnPauseAsWell();
  Step();
  clock_.AdvanceToSleeper(seconds(60));
  Expect(2, true);
}

TEST_P(PausesByHand, APauseWhoseMarkIsTakenAwayStays) {
  BeginPause();
  cluster_.Annotate(kKeys.paused_at, std::nullopt);
  Step();
  clock_.Advance(seconds(61));
  Step();
  Expect(1, true);
}

// It lasted until then.
TEST_P(PausesByHand, APauseWhoseBeginIsMovedToNextYearEnds) {
  BeginPause();
  cluster_.Annotate(
      kKeys.paused_at,
      apimachinery::Time::From(clock_.Wall() + std::chrono::hours(24 * 365)).ToString());
  Step();
  Expect(2, false);
}

// What is changed while the operator is away is taken into account when it is back.
TEST_P(PausesByHand, APauseWhosePeriodIsMadeShorterEndsByThat) {
  BeginPause();
  clock_.Advance(seconds(30));
  cluster_.Annotate(kKeys.pause_period, "20s");
  Step();
  Expect(2, false);
}

TEST_P(PausesByHand, AReloadAfterAResumeIsAPauseOfItsOwn) {
  BeginPause();
  cluster_.PauseByHand(false);
  clock_.Advance(seconds(30));
  BeginPause();
  clock_.AdvanceToSleeper(seconds(30));  // it may check in between
  clock_.AdvanceToSleeper(seconds(30));
  Expect(3, false);
}

TEST_P(PausesByHand, TheEndOfAPeriodThatIsTakenAwayLeavesAPauseByHand) {
  cluster_.Annotate(kKeys.paused_at, "2020-01-01T00:00:00Z");  // another tool has left it behind
  cluster_.PauseByHand(true);
  cluster_.Annotate(kKeys.pause_period, std::nullopt);
  Step();
  Expect(1, true);
}

TEST_F(PausesTest, WhatIsGoneIsDone) {
  held_.Open(0);
  Reload();
  clock_.Advance(seconds(60));
  cluster_.Delete();
  Event();
  pauses_->Stop();
  EXPECT_EQ(cluster_.Await(0).size(), 1U);
}

TEST_F(PausesTest, ManyThatCannotBeResumedHoldUpNoOther) {
  held_.Open(0);
  Reload();
  constexpr std::size_t kMany = 150;
  const std::size_t before = cluster_.Await(0).size();
  cluster_.FailNext(1'000'000);
  clock_.Advance(std::chrono::minutes(1));
  for (std::size_t i = 0; i < kMany; ++i) {
    pauses_->Consider({"ns", "web-" + std::to_string(i)});
  }
  cluster_.Await(before + kMany);
  clock_.AdvanceToSleeper(milliseconds(100));  // each of them waits according to its own failures
  cluster_.Await(before + 2 * kMany - 1);
}

}  // namespace
}  // namespace kubexx::reloader
