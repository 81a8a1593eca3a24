// Tests changes of data that wait, or whose rollouts cannot be written, while pods begin one after
// the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "kubexx/reloader/testing/event_router_fixture.h"
#include "kubexx/reloader/testing/router_cases.h"

namespace kubexx::reloader {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class LeftDueTest : public EventRouterTest {
 protected:
  /// Plans while something holds the rollout. Returns the number of changes.
  std::size_t Hold() {
    const std::vector<Change> changes = Look();
    memory_->LeaveDue(Id(), changes);
    return changes.size();
  }
  /// The workload is scaled: to more replicas, of which one is not ready yet.
  void Scale(bool to_more = true) {
    ++generation_;
    replicas_ += to_more ? 1 : -1;
    PutTemplate();
    is_through_ = !to_more;
    ReplacePods();
    if (GetParam().is_by_ref) {
      PutRollout();
    }
  }
  /// All pods have the data "good", and some come back later.
  void RollAnew() {
    SetData(kMendedData);
    Roll();
    FinishRollout();
    SetData(kGoodData);
    Roll();
  }
};

// Something holds the rollout for a change that comes while pods begin one after the other, and the
// data come back before it may be made. Some pods have begun with the changed data.
TEST_P(LeftDueTest, PodsThatBeginWhileAChangeWaitsAreRolledWhenTheDataComeBack) {
  for (const bool ends_before : {false, true}) {
    SCOPED_TRACE(ends_before ? "the rollout ends before" : "the rollout ends afterwards");
    RollAnew();
    SetData(kBadData);
    EXPECT_EQ(Hold(), 1U);
    if (ends_before) {
      FinishRollout();
    }
    SetData(kGoodData);
    EXPECT_EQ(Hold(), 1U) << "also while something holds this rollout, too";
    Roll();
    FinishRollout();
    EXPECT_THAT(Look(), IsEmpty()) << "once is enough";
  }
}

TEST_P(LeftDueTest, PodsOfAScaleUpWhileAChangeWaitsAreRolledWhenTheDataComeBack) {
  RollAnew();
  FinishRollout();
  SetData(kBadData);
  EXPECT_EQ(Hold(), 1U);
  Scale();
  FinishRollout();
  SetData(kGoodData);
  Roll();
  FinishRollout();
  EXPECT_THAT(Look(), IsEmpty());
}

TEST_P(LeftDueTest, PodsThatBeganWhileAChangeWaitedAreKnownByTheBaseline) {
  if (!GetParam().has_baseline) {
    GTEST_SKIP() << "nothing tells of them";
  }
  RollAnew();
  SetData(kBadData);
  EXPECT_EQ(Hold(), 1U);
  Record();
  FinishRollout();
  Begin();
  SetData(kGoodData);
  EXPECT_THAT(Look(), SizeIs(1));
}

TEST_P(LeftDueTest, ABaselineThatIsRenewedMeanwhileEndsNoDoubtAboutPods) {
  RollAnew();
  SetData(kBadData);
  EXPECT_EQ(Hold(), 1U);
  Record();
  FinishRollout();
  SetData(kGoodData);
  EXPECT_EQ(Hold(), 1U);
  Record();
  Roll();
  FinishRollout();
  EXPECT_THAT(Look(), IsEmpty());
}

TEST_P(LeftDueTest, ASourceThatIsMadeAnewWithItsDataRollsNothingWhilePodsBegin) {
  RollAnew();
  memory_->RecordEnd(Id(), kRoutedConfig, Move{kGoodData, data_version_}, NextVersion());
  data_version_ = NextVersion();
  memory_->RecordCreation(Id(), kRoutedConfig, Move{kGoodData, data_version_});
  EXPECT_EQ(Hold(), 0U);
  FinishRollout();
  EXPECT_THAT(Look(), IsEmpty());
}

TEST_P(LeftDueTest, ARolloutThatIsUnderWayWhenTheOperatorBeginsHasPodsThatBegin) {
  RollAnew();
  Begin();
  SetData(kBadData);
  EXPECT_EQ(Hold(), 1U);
  FinishRollout();
  SetData(kGoodData);
  EXPECT_THAT(Look(), SizeIs(1));
}

// An edit that is taken back within the settle window is never planned.
TEST_P(LeftDueTest, AnEditThatIsTakenBackAtOnceRollsNothingWhilePodsBegin) {
  RollAnew();
  for (int i = 0; i < 3; ++i) {
    SetData(kBadData);
    SetData(kGoodData);
    EXPECT_EQ(Hold(), 0U);
  }
  FinishRollout();
  EXPECT_THAT(Look(), IsEmpty());
}

TEST_P(LeftDueTest, AChangeThatWaitsWhileNoPodBeginsRollsNothingWhenTheDataComeBack) {
  RollAnew();
  FinishRollout();
  SetData(kBadData);
  EXPECT_EQ(Hold(), 1U);
  SetData(kGoodData);
  EXPECT_THAT(Look(), IsEmpty());
  Scale();
  FinishRollout();
  EXPECT_THAT(Look(), IsEmpty()) << "its pods begin with the data that all have";
}

TEST_P(LeftDueTest, AScaleDownWhileAChangeWaitsBeginsNoPods) {
  RollAnew();
  FinishRollout();
  SetData(kBadData);
  EXPECT_EQ(Hold(), 1U);
  Scale(false);
  EXPECT_EQ(Hold(), 1U);
  SetData(kGoodData);
  EXPECT_THAT(Look(), IsEmpty());
}

// Each change that an autoscaler's day was in, and that was taken back, cost a rollout.
TEST_P(LeftDueTest, AScaleDownOfAWorkloadWithAPodThatCrashesBeginsNoPods) {
  if (GetParam().kind != WorkloadKind::kDeployment &&
      GetParam().kind != WorkloadKind::kStatefulSet) {
    GTEST_SKIP() << "it has no replicas, or its status does not tell of such a pod";
  }
  RollAnew();
  FinishRollout();
  is_through_ = false;
  ReplacePods();
  SetData(kBadData);
  EXPECT_EQ(Hold(), 1U);
  ++generation_;
  --replicas_;
  PutTemplate();
  EXPECT_EQ(Hold(), 1U);
  ReplacePods();
  EXPECT_EQ(Hold(), 1U);
  SetData(kGoodData);
  EXPECT_THAT(Look(), IsEmpty());
}

// Its phase is that it is paused, whatever its status says.
TEST_P(LeftDueTest, PodsOfAScaleUpOfAPausedWorkloadAreRolledWhenTheDataComeBack) {
  if (GetParam().kind != WorkloadKind::kDeployment) {
    GTEST_SKIP() << "it has no pause";
  }
  for (const bool waits_before : {true, false}) {
    SCOPED_TRACE(waits_before ? "the change waits before" : "the change comes as the pods begin");
    RollAnew();
    FinishRollout();
    SetPaused(true);
    if (!waits_before) {
      Scale();
    }
    SetData(kBadData);
    EXPECT_EQ(Hold(), 1U);
    if (waits_before) {
      Scale();
    }
    SetData(kGoodData);
    EXPECT_EQ(Hold(), 1U);
    SetPaused(false);
    Roll();
    FinishRollout();
    EXPECT_THAT(Look(), IsEmpty()) << "once is enough";
  }
}

// A window holds a change that comes and goes after the pause, while the pods pull their images.
TEST_P(LeftDueTest, PodsOfAScaleUpAmidAPauseStillBeginAfterIt) {
  if (GetParam().kind != WorkloadKind::kDeployment) {
    GTEST_SKIP() << "it has no pause";
  }
  RollAnew();
  FinishRollout();
  SetPaused(true);
  Scale();
  SetPaused(false);
  ReplacePods();
  SetData(kBadData);
  EXPECT_EQ(Hold(), 1U);
  SetData(kGoodData);
  EXPECT_EQ(Hold(), 1U);
  Roll();
  FinishRollout();
  EXPECT_THAT(Look(), IsEmpty());
  SetPaused(true);
  SetPaused(false);
  SetData(kBadData);
  EXPECT_EQ(Hold(), 1U);
  SetData(kGoodData);
  EXPECT_THAT(Look(), IsEmpty()) << "by now they are all there";
}

TEST_P(LeftDueTest, AScaleDownOfAPausedWorkloadBeginsNoPods) {
  if (GetParam().kind != WorkloadKind::kDeployment) {
    GTEST_SKIP() << "it has no pause";
  }
  RollAnew();
  FinishRollout();
  SetPaused(true);
  SetData(kBadData);
  EXPECT_EQ(Hold(), 1U);
  Scale(false);
  EXPECT_EQ(Hold(), 1U);
  SetData(kGoodData);
  EXPECT_THAT(Look(), IsEmpty());
}

TEST_P(LeftDueTest, PausesBeginNoPods) {
  if (GetParam().kind != WorkloadKind::kDeployment) {
    GTEST_SKIP() << "it has no pause";
  }
  RollAnew();
  FinishRollout();
  SetData(kBadData);
  EXPECT_EQ(Hold(), 1U);
  SetPaused(true);
  EXPECT_EQ(Hold(), 1U);
  SetPaused(false);
  EXPECT_EQ(Hold(), 1U);
  FinishRollout();
  SetData(kGoodData);
  EXPECT_THAT(Look(), IsEmpty());
}

TEST_P(LeftDueTest, PodsGoOnToBeginAfterAPauseAmidARollout) {
  if (GetParam().kind != WorkloadKind::kDeployment) {
    GTEST_SKIP() << "it has no pause";
  }
  for (const bool restarted : {false, true}) {
    SCOPED_TRACE(restarted ? "the operator begins during the pause" : "it runs all the time");
    RollAnew();
    SetPaused(true);
    if (restarted) {
      Begin();
    }
    SetData(kBadData);
    EXPECT_EQ(Hold(), 1U);
    SetPaused(false);
    FinishRollout();
    SetData(kGoodData);
    Roll();
    FinishRollout();
  }
}

// Whether a write was made may become known only after pods have begun.
TEST_P(LeftDueTest, PodsThatBeginWhileAWriteHasNoAnswerAreNotForgotten) {
  for (const bool is_made : {false, true}) {
    SCOPED_TRACE(is_made ? "it was made" : "it was not made");
    RollAnew();
    FinishRollout();
    SetData(kBadData);
    EXPECT_EQ(Hold(), 1U);
    const std::vector<Change> changes = Look();
    const std::vector<SourceId> begun = memory_->BeginWrite(Id(), changes);
    if (is_made) {
      Put(data_, "Reloader");
      memory_->Confirm(Id(), changes, true, version_);
    } else {
      Scale();
      memory_->CancelWrite(Id(), begun);
      memory_->LeaveDue(Id(), changes);
    }
    FinishRollout();
    EXPECT_EQ(Hold(), is_made ? 0U : 1U);
    SetData(kGoodData);
    Roll();
    FinishRollout();
    EXPECT_THAT(Look(), IsEmpty());
  }
}

TEST_P(LeftDueTest, ANewTemplateMakesAllPodsWithTheChangeThatWaits) {
  RollAnew();
  SetData(kBadData);
  EXPECT_EQ(Hold(), 1U);
  Release();
  EXPECT_EQ(Hold(), 0U);
  FinishRollout();
  EXPECT_THAT(Look(), IsEmpty());
}

TEST_P(LeftDueTest, ARestoreOfTheStoreEndsTheDoubtAboutPods) {
  RollAnew();
  SetData(kBadData);
  EXPECT_EQ(Hold(), 1U);
  memory_->ForgetVersions(Id());
  SetData(kGoodData);
  EXPECT_THAT(Look(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(All, LeftDueTest, testing::ValuesIn(RouterCases()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace kubexx::reloader
