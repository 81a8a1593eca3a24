#include "kubexx/reloader/restore/restorer.h"

#include <gmock/gmock.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/reloader/testing/fake_source_store.h"

namespace kubexx::reloader {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;
using Outcome = RestoreReport::Outcome;

const SourceId kTeamSettings{SourceType::kConfigMap, {"team", "settings"}};
const reloadpolicy::PolicyId kTeamPolicy{"team", "careful"};

class RestorerTest : public testing::Test {
 protected:
  RestorerTest() { Restart(); }

  void Restart() {
    restorer_.reset();
    restorer_ = std::make_unique<Restorer>(
        store_, Restorer::Options{.clock = clock_,
                                  .standing =
                                      [this](const SourceId& source, const std::optional<Digest>&) {
                                        if (on_look_) {
                                          on_look_(source);
                                        }
                                        const base::MutexLock lock(mu_);
                                        ++looks_;
                                        return standings_[source];
                                      },
                                  .report =
                                      [this](const RestoreReport& report) {
                                        const base::MutexLock lock(mu_);
                                        reports_.push_back(report);
                                      },
                                  .writes =
                                      [this](std::string_view) {
                                        const base::MutexLock lock(mu_);
                                        return writes_;
                                      }});
  }

  void Stand(const RestoreStanding& standing) {
    const base::MutexLock lock(mu_);
    standings_[kTeamSettings] = standing;
  }
  /// The caches have these data, which are good.
  void StandGood(const std::string& value) {
    Stand({.policy = kTeamPolicy, .present = DigestOf("a=" + value), .is_settled = true});
  }
  void StandFailed(const std::string& value) {
    const Digest bad = DigestOf("a=" + value);
    Stand({.policy = kTeamPolicy,
           .present = bad,
           .failure = FailedRollout{.workload = {"Deployment", {"team", "canary"}},
                                    .sources = {{.id = kTeamSettings, .bad = bad}}}});
  }
  /// Has the source looked at, and waits until that is done.
  void Look() {
    const int before = looks();
    restorer_->Consider({kTeamSettings});
    KX_UNTIL(looks() > before) {
      clock_.Advance(std::chrono::milliseconds(100));
    }
    AwaitIdle();
  }
  /// Waits until the thread waits for something else to do.
  void AwaitIdle() {
    // Another source is looked at after this one, and there is nothing to know of it.
    const SourceId other{SourceType::kConfigMap, {"team", "other"}};
    const int before = looks();
    restorer_->Consider({other});
    KX_UNTIL(looks() > before) {
      clock_.Advance(std::chrono::milliseconds(100));
    }
  }
  int looks() {
    const base::MutexLock lock(mu_);
    return looks_;
  }
  std::vector<RestoreReport> TakeReports() {
    const base::MutexLock lock(mu_);
    return std::exchange(reports_, {});
  }

  base::testing::FakeClock clock_;
  FakeSourceStore store_;
  base::Mutex mu_;
  std::map<SourceId, RestoreStanding> standings_ KX_GUARDED_BY(mu_);
  std::vector<RestoreReport> reports_ KX_GUARDED_BY(mu_);
  int looks_ KX_GUARDED_BY(mu_) = 0;
  bool writes_ KX_GUARDED_BY(mu_) = true;
  std::function<void(const SourceId&)> on_look_;  ///< set before there is anything to look at
  std::unique_ptr<Restorer> restorer_;
};

// One that is always due kept all others from being restored that come after it by name.
TEST_F(RestorerTest, SourcesAreLookedAtInTheOrderInWhichTheyAreDue) {
  const SourceId busy{SourceType::kConfigMap, {"a-team", "busy"}};
  std::vector<SourceId> looked;
  on_look_ = [&](const SourceId& source) {
    if (source == busy) {
      restorer_->Consider({busy});
      clock_.Advance(2 * Restorer::kGather);
    }
    const base::MutexLock lock(mu_);
    looked.push_back(source);
  };
  restorer_->Consider({busy, kTeamSettings});
  KX_UNTIL(looks() >= 5) {
    if (looks() == 0) {
      clock_.Advance(std::chrono::milliseconds(100));
    }
  }
  restorer_->Stop();
  EXPECT_EQ(looked[0], busy);
  EXPECT_EQ(looked[1], kTeamSettings);
}

TEST_F(RestorerTest, TakesASnapshotOfGoodDataAndPutsThemBackWhenOthersFail) {
  store_.Put(kTeamSettings, "1");
  StandGood("1");
  Look();
  ASSERT_THAT(store_.Snapshots(), SizeIs(1));
  store_.Put(kTeamSettings, "bad");
  StandFailed("bad");
  Look();
  EXPECT_EQ(store_.ValueOf(kTeamSettings), "1");
  const auto reports = TakeReports();
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_EQ(reports[0].outcome, Outcome::kRestored);
  EXPECT_EQ(reports[0].source, kTeamSettings);
  EXPECT_EQ(reports[0].uid, "uid-1");
  EXPECT_EQ(reports[0].policy, kTeamPolicy);
  EXPECT_THAT(reports[0].message, HasSubstr("Deployment/team/canary has failed in a wave"));
  EXPECT_THAT(reports[0].message, HasSubstr(DigestOf("a=bad").ToString().substr(0, 8)));
  Look();
  EXPECT_THAT(TakeReports(), IsEmpty()) << "the caches are late, and it was told";
}

TEST_F(RestorerTest, AsksForASnapshotOnceOnly) {
  store_.Put(kTeamSettings, "1");
  StandGood("1");
  Look();
  const std::string before = store_.requests();
  Look();
  EXPECT_EQ(store_.requests(), before);
}

TEST_F(RestorerTest, TakesASnapshotAgainThatWasDeleted) {
  store_.Put(kTeamSettings, "1");
  StandGood("1");
  Look();
  const auto snapshots = store_.Snapshots();
  ASSERT_THAT(snapshots, SizeIs(1));
  store_.Remove({SourceType::kConfigMap, {"team", snapshots[0].metadata().name}});
  Look();
  EXPECT_THAT(store_.Snapshots(), IsEmpty()) << "nobody has told of it";
  restorer_->SnapshotGone(kTeamSettings);
  KX_UNTIL(store_.Snapshots().size() == 1) {
    clock_.Advance(std::chrono::milliseconds(100));
  }
  restorer_->SnapshotGone({SourceType::kConfigMap, {"team", "unheard-of"}});
  AwaitIdle();
  EXPECT_LE(restorer_->known(), 2U);
}

TEST_F(RestorerTest, TakesASnapshotAgainWhenTheKeyWasLost) {
  store_.Put(kTeamSettings, "1");
  StandGood("1");
  Look();
  store_.LoseKey("the second key");
  // The data have been good, so it does not matter whether all that use them are at rest now.
  Stand({.policy = kTeamPolicy, .present = DigestOf("a=1")});
  KX_UNTIL(store_.Snapshots().size() == 2) {
    clock_.Advance(std::chrono::seconds(10));
  }
  AwaitIdle();
  store_.Put(kTeamSettings, "bad");
  StandFailed("bad");
  Look();
  EXPECT_EQ(store_.ValueOf(kTeamSettings), "1");
}

TEST_F(RestorerTest, TellsTheStatesOfPoliciesWhatAnEarlierProcessHasPutBack) {
  store_.Put(kTeamSettings, "1");
  StandGood("1");
  Look();
  store_.Put(kTeamSettings, "bad");
  StandFailed("bad");
  Look();
  const auto told = TakeReports();
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_FALSE(told[0].is_earlier);
  Stand({.policy = kTeamPolicy, .present = DigestOf("a=1")});
  Look();
  EXPECT_THAT(TakeReports(), IsEmpty()) << "this process has told of it";
  store_.Put(kTeamSettings, "newer");
  Restart();
  Look();
  Look();
  const auto earlier = TakeReports();
  ASSERT_THAT(earlier, SizeIs(1));
  EXPECT_EQ(earlier[0].outcome, Outcome::kRestored);
  EXPECT_TRUE(earlier[0].is_earlier);
  EXPECT_EQ(earlier[0].uid, "uid-1");
  EXPECT_EQ(earlier[0].policy, kTeamPolicy);
  EXPECT_THAT(told[0].message, HasSubstr(earlier[0].message));
}

TEST_F(RestorerTest, ARestoreIsNoNewsAgainWhenWhatCameAfterItIsOver) {
  store_.Put(kTeamSettings, "1");
  StandGood("1");
  Look();
  for (int i = 0; i < 2; ++i) {
    store_.Put(kTeamSettings, "bad");
    StandFailed("bad");
    Look();
  }
  EXPECT_EQ(TakeReports().back().reason, "RestoredBefore");
  store_.Put(kTeamSettings, "mended");
  Stand({.policy = kTeamPolicy, .present = DigestOf("a=mended")});
  Look();
  const auto reports = TakeReports();
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_EQ(reports[0].outcome, Outcome::kOver);
}

TEST_F(RestorerTest, WhatWasWrongIsOverWhenOnlyOthersHadToBeRestored) {
  store_.Put(kTeamSettings, "1");
  StandGood("1");
  Look();
  StandFailed("1");
  Look();
  EXPECT_EQ(TakeReports().back().reason, "WereGood");
  const Digest good = DigestOf("a=1");
  Stand({.policy = kTeamPolicy,
         .present = good,
         .failure = FailedRollout{.workload = {"Deployment", {"team", "canary"}},
                                  .sources = {{.id = kTeamSettings, .bad = good}},
                                  .others_put_back = true}});
  Look();
  const auto reports = TakeReports();
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_EQ(reports[0].outcome, Outcome::kOver);
}

TEST_F(RestorerTest, LooksAgainWhenTheDataAreSettledUnlessSomethingHappens) {
  store_.Put(kTeamSettings, "1");
  Stand({.policy = kTeamPolicy,
         .present = DigestOf("a=1"),
         .settles_after = std::chrono::seconds(5)});
  Look();
  StandGood("1");
  for (int i = 0; i < 6 && store_.Snapshots().empty(); ++i) {
    clock_.Advance(std::chrono::seconds(1));
    AwaitIdle();
  }
  EXPECT_THAT(store_.Snapshots(), SizeIs(1));
}

TEST_F(RestorerTest, DataThatAreNotSettledAreLookedAtAgainByItself) {
  store_.Put(kTeamSettings, "1");
  Stand({.policy = kTeamPolicy, .present = DigestOf("a=1")});
  Look();
  EXPECT_THAT(store_.Snapshots(), IsEmpty());
  StandGood("1");
  KX_UNTIL(store_.Snapshots().size() == 1) {
    clock_.Advance(Restorer::kLookForSettled);
  }
}

TEST_F(RestorerTest, WhatAPersonHasToDoIsToldOnceAndNotTriedMeanwhile) {
  store_.Put(kTeamSettings, "bad");
  StandFailed("bad");
  Look();
  const auto reports = TakeReports();
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_EQ(reports[0].outcome, Outcome::kHeld);
  EXPECT_EQ(reports[0].reason, "NoSnapshot");
  const std::string before = store_.requests();
  for (int i = 0; i < 3; ++i) {
    Look();
  }
  EXPECT_EQ(store_.requests(), before) << "many events of workloads cause no request";
  KX_UNTIL(store_.requests() != before) {
    clock_.Advance(Restorer::kLookAgain);
  }
  AwaitIdle();
  EXPECT_THAT(TakeReports(), IsEmpty());
}

TEST_F(RestorerTest, AFailureWithASourceThatIsGoneIsTold) {
  Stand({.policy = kTeamPolicy,
         .failure = FailedRollout{.workload = {"Deployment", {"team", "canary"}},
                                  .sources = {{.id = kTeamSettings, .bad = DigestOf("a=bad")}}}});
  Look();
  const auto reports = TakeReports();
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_EQ(reports[0].outcome, Outcome::kHeld);
  EXPECT_EQ(reports[0].reason, "SourceDeleted");
  EXPECT_EQ(reports[0].policy, kTeamPolicy);
  Stand({});
  Look();
  EXPECT_EQ(TakeReports().at(0).outcome, Outcome::kOver);
}

TEST_F(RestorerTest, TellsThatItIsOverWhenNobodyHasFailedAnyMore) {
  store_.Put(kTeamSettings, "bad");
  StandFailed("bad");
  Look();
  EXPECT_THAT(TakeReports(), SizeIs(1));
  Stand({.policy = kTeamPolicy, .present = DigestOf("a=mended")});
  Look();
  const auto reports = TakeReports();
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_EQ(reports[0].outcome, Outcome::kOver);
  EXPECT_EQ(reports[0].policy, kTeamPolicy);
}

TEST_F(RestorerTest, AFailureThatPassesIsTriedAgainAfterLongerAndLongerWaits) {
  store_.Put(kTeamSettings, "1");
  store_.FailBefore([](const std::string&, const SourceId&) {
    return std::optional(apimachinery::Status(apimachinery::Reason::kUnavailable, "gone"));
  });
  StandGood("1");
  Look();
  EXPECT_THAT(store_.requests(), StartsWith("get "));
  const base::TimePoint begin = clock_.Now();
  for (int i = 0; i < 30; ++i) {
    Look();
  }
  // The clock goes on while a look is waited for, and by more on a busy machine.
  const auto passed = std::chrono::ceil<std::chrono::minutes>(clock_.Now() - begin).count();
  EXPECT_LE(store_.requests().size() / std::string("get ").size(),
            static_cast<std::size_t>(9 + passed))
      << "many events of workloads cause few requests";
  store_.FailBefore({});
  KX_UNTIL(store_.Snapshots().size() == 1) {
    clock_.Advance(std::chrono::seconds(1));
  }
  EXPECT_THAT(TakeReports(), IsEmpty());
}

TEST_F(RestorerTest, SaysThatNoSnapshotCanBeTaken) {
  store_.Put(kTeamSettings, "1");
  store_.FailBefore([](const std::string& verb, const SourceId&) {
    return verb == "get" ? std::optional(apimachinery::Status(
                               apimachinery::Reason::kForbidden,
                               R"(x is forbidden: User "u" cannot get resource "configmaps")", 403))
                         : std::nullopt;
  });
  StandGood("1");
  Look();
  const auto reports = TakeReports();
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_EQ(reports[0].outcome, Outcome::kUnready);
  EXPECT_EQ(reports[0].reason, "CannotSnapshot");
  store_.FailBefore({});
  KX_UNTIL(store_.Snapshots().size() == 1) {
    clock_.Advance(Restorer::kLookAgain);
  }
  AwaitIdle();
  EXPECT_EQ(TakeReports().at(0).outcome, Outcome::kOver);
}

TEST_F(RestorerTest, WritesNothingWhereAnotherReplicaWorks) {
  store_.Put(kTeamSettings, "1");
  StandGood("1");
  {
    const base::MutexLock lock(mu_);
    writes_ = false;
  }
  restorer_->Consider({kTeamSettings});
  KX_UNTIL(restorer_->known() == 0) {
    clock_.Advance(Restorer::kLookForSettled);
  }
  EXPECT_EQ(store_.requests(), "");
}

TEST_F(RestorerTest, WritesAsSoonAsItMay) {
  store_.Put(kTeamSettings, "1");
  StandGood("1");
  const auto may_write = [this](bool writes) {
    const base::MutexLock lock(mu_);
    writes_ = writes;
  };
  may_write(false);
  restorer_->Consider({kTeamSettings});
  clock_.AwaitSleepers(1);
  clock_.Advance(Restorer::kGather);
  may_write(true);
  KX_UNTIL(store_.Snapshots().size() == 1) {
    clock_.Advance(Restorer::kLookForSettled);
  }
}

TEST_F(RestorerTest, RemembersNothingOfSourcesThatNoPolicyConcerns) {
  store_.Put(kTeamSettings, "1");
  Stand({.present = DigestOf("a=1")});
  Look();
  KX_UNTIL(restorer_->known() == 0) {
    clock_.Advance(Restorer::kGather);
  }
  EXPECT_EQ(store_.requests(), "");
}

TEST_F(RestorerTest, ASecretThatIsNotNamedIsNotCopied) {
  store_.Put(kTeamSettings, "1");
  Stand({.policy = kTeamPolicy, .is_named = false, .present = DigestOf("a=1"), .is_settled = true});
  Look();
  EXPECT_EQ(store_.requests(), "");
}

}  // namespace
}  // namespace kubexx::reloader
