// Tests pod templates that change: rollouts of the operator that are undone before they have ended,
// for each kind whose pods follow its template.
#include "kubexx/reloader/watch/event_router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "kubexx/base/testing/await.h"
#include "kubexx/reloader/testing/event_router_fixture.h"
#include "kubexx/reloader/testing/router_cases.h"

namespace kubexx::reloader {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

// People undo a rollout when it does not make progress.
TEST_P(EventRouterTest, ARolloutUndoneBeforeItIsThroughStaysUndone) {
  for (const char* restart : {"never", "before the undo", "after it", "while it is undone"}) {
    SCOPED_TRACE(std::string("the operator ends and begins again: ") + restart);
    const auto is = [&](const char* when) { return std::string_view(restart) == when; };
    SetData(kBadData);
    Roll();
    if (is("before the undo")) {
      Begin();
    } else if (is("while it is undone")) {
      End();
    }
    Put(kGoodData, "undo");
    if (!caches_) {
      Begin();
    }
    EXPECT_THAT(Look(), IsEmpty());
    if (is("after it")) {
      Begin();
      EXPECT_THAT(Look(), IsEmpty());
    }
    SetData(is("never") || is("while it is undone") ? kGoodData : kMendedData);
    Roll();
    SetData(data_ == kGoodData ? kMendedData : kGoodData);
    Roll();
    if (data_ != kGoodData) {
      SetData(kGoodData);
      Roll();
    }
  }
}

// The versions of the lost objects are higher than those of the objects that follow.
TEST_P(EventRouterTest, AfterARestoreOfTheStoreATemplateIsNoYoungerThanTheData) {
  SetData(kBadData);
  Roll();
  const auto backup = templates_->objects();
  const std::uint64_t restored = std::stoull(templates_->resource_version());
  version_ += 20;
  Put(kGoodData, "somebody");
  EXPECT_THAT(Look(), IsEmpty());
  const int handled = handled_;
  templates_->FailWatches({apimachinery::Reason::kUnavailable, "connection refused"}, 3);
  templates_->RestoreBackup(backup, restored);
  KX_UNTIL(handled_ != handled) {
    clock_.Advance(std::chrono::seconds(1));  // the reflector tries to watch again
  }
  version_ = restored;
  SetData(kMendedData);
  EXPECT_THAT(Look(), SizeIs(1));
}

// The other operator is stakater/Reloader, or one that no Lease separates from this one.
TEST_P(EventRouterTest, WhatAnotherOperatorHasRolledIsNotRolledAgain) {
  for (const bool records : {false, true}) {
    SCOPED_TRACE(records ? "it records what it rolls for" : "it records nothing");
    SetData(data_ == kBadData ? kMendedData : kBadData);
    Put(data_, "Reloader", records);
    EXPECT_THAT(Look(), IsEmpty());
    SetData(data_ == kBadData ? kMendedData : kBadData);
    Put(data_, "Reloader", records);
    SetData(kGoodData);
    Roll();
  }
}

// Without a baseline it has only what it has seen: after the undo the variable is right again.
TEST_P(EventRouterTest, AStandbyThatTakesOverRollsForDataThatWereMendedAfterAnUndo) {
  for (const char* begin : {"before the rollout", "after it", "after the undo"}) {
    for (const bool is_mended_by_leader : {false, true}) {
      SCOPED_TRACE(std::string("the standby begins ") + begin +
                   (is_mended_by_leader ? ", the leader rolls for the mended data" : ""));
      const auto is = [&](const char* when) { return std::string_view(begin) == when; };
      Begin(is("before the rollout"));
      SetData(kBadData);
      Put(kBadData, "Reloader");
      FinishRollout();
      if (is("after it")) {
        Begin(true);
      }
      Put(kGoodData, "undo");
      FinishRollout();
      if (is("after the undo")) {
        Begin(true);
      }
      SetData(kGoodData);
      if (is_mended_by_leader) {
        Put(kGoodData, "Reloader");
        FinishRollout();
      }
      memory_->BeginTenure(Id(), 1);
      if (is_mended_by_leader) {
        EXPECT_THAT(Look(), IsEmpty());
      } else {
        Roll();
        FinishRollout();
      }
    }
  }
}

// For example self-heal or `kubectl replace`: pods of the template before live on with the earlier
// data.
TEST_P(EventRouterTest, ARolloutThatAToolSetsBackBeforeItIsThroughIsMadeAgain) {
  for (const bool to_bare : {true, false}) {
    for (const char* restart : {"never", "before", "after"}) {
      SCOPED_TRACE(std::string(to_bare ? "to none" : "to an earlier one") + ", restarted " +
                   restart);
      if (to_bare) {
        SetBack(true);
        FinishRollout();
      }
      SetData(data_ == kBadData ? kMendedData : kBadData);
      Roll();
      if (restart == std::string_view("before")) {
        Begin();
      }
      SetBack(to_bare);
      EXPECT_THAT(Look(), SizeIs(1));
      if (restart == std::string_view("after") && (GetParam().has_baseline || !to_bare)) {
        Record();
        Begin();
      }
      Roll();
      SetBack(to_bare);
      SetData(data_ == kBadData ? kMendedData : kBadData);
      Roll();
    }
  }
}

// The pods that were made when it was set back may have begun with other data than the pods that
// lived on.
TEST_P(EventRouterTest, DataThatAreMendedAfterARolloutWasSetBackRoll) {
  SetBack(true);
  FinishRollout();
  SetData(kBadData);
  Roll();
  SetBack(true);
  SetData(kGoodData);
  Roll();
}

// The person who undid it wanted the pods that were there before.
TEST_P(EventRouterTest, AReleaseUndoneBeforeItIsThroughStaysUndone) {
  for (const char* restart : {"never", "before", "after"}) {
    SCOPED_TRACE(std::string("restarted ") + restart);
    const auto is = [&](const char* when) { return std::string_view(restart) == when; };
    SetData(kBadData);
    Release();
    EXPECT_THAT(Look(), IsEmpty());
    if (is("before")) {
      Begin();
    }
    UndoRelease(kUndoer);
    EXPECT_THAT(Look(), IsEmpty());
    if (is("after") && GetParam().has_baseline) {  // otherwise nothing tells of the earlier data
      Begin();
      EXPECT_THAT(Look(), IsEmpty());
    }
    SetData(kGoodData);
    Roll();
    FinishRollout();
  }
}

TEST_P(EventRouterTest, AReleaseThatAToolSetsBackBeforeItIsThroughGivesAllPodsTheData) {
  for (const bool restarted : {false, true}) {
    SCOPED_TRACE(restarted ? "restarted" : "not restarted");
    SetData(data_ == kBadData ? kMendedData : kBadData);
    Release();
    EXPECT_THAT(Look(), IsEmpty());
    if (restarted) {
      Begin();
    }
    UndoRelease(kTool);
    Roll();
    FinishRollout();
  }
}

// Seed 654 of 400 hours: something holds the rollout for a change back that comes while the pods of
// the last one wait for the end of its pause. They begin with the changed data.
TEST_P(EventRouterTest, PodsThatBeginWhenTheWorkloadIsResumedHaveTheDataOfThen) {
  if (GetParam().kind != WorkloadKind::kDeployment) {
    GTEST_SKIP() << "it has no pause that holds the pods back";
  }
  SetPaused(true);
  SetData(kMendedData);
  Roll();
  SetData(kBadData);
  EXPECT_THAT(Look(), SizeIs(1));
  SetPaused(false);
  EXPECT_THAT(Look(), IsEmpty());
  SetData(kMendedData);
  Roll();
}

TEST_P(EventRouterTest, AWorkloadThatIsResumedWithPodsOfItsTemplateBeginsNone) {
  if (GetParam().kind != WorkloadKind::kDeployment) {
    GTEST_SKIP() << "it has no pause that holds the pods back";
  }
  for (const bool restarted : {false, true}) {
    SCOPED_TRACE(restarted);
    SetPaused(true);
    if (restarted) {
      Begin();
    }
    SetData(restarted ? kMendedData : kBadData);
    EXPECT_THAT(Look(), SizeIs(1));
    SetPaused(false);
    Roll();
    FinishRollout();
  }
}

TEST_P(EventRouterTest, ATemplateThatIsSetBackDuringAPauseHasPodsFromBefore) {
  if (GetParam().kind != WorkloadKind::kDeployment) {
    GTEST_SKIP() << "it has no pause that holds the pods back";
  }
  SetPaused(true);
  SetData(kBadData);
  Roll();
  SetBack(false);
  SetPaused(false);
  Roll();
}

// No pod of the earlier template is left, so the pods of the undo begin with the present data.
TEST_P(EventRouterTest, AnUndoWhenAllPodsHaveBeenReplacedMakesPodsWithThePresentData) {
  if (GetParam().kind == WorkloadKind::kRollout) {
    GTEST_SKIP() << "its status does not tell";
  }
  for (const char* manager : {kUndoer, kTool}) {
    SCOPED_TRACE(std::string("a release, by ") + manager);
    SetData(kBadData);
    Release();
    EXPECT_THAT(Look(), IsEmpty());
    ReplacePods();
    UndoRelease(manager);
    EXPECT_THAT(Look(), IsEmpty()) << "another rollout without a cause";
    SetData(kGoodData);
    Roll();
  }
  for (const bool by_tool : {false, true}) {
    SCOPED_TRACE(by_tool ? "by a tool" : "by a person");
    SetData(kBadData);
    Roll();
    ReplacePods();
    if (by_tool) {
      SetBack(true);
    } else {
      Put(kGoodData, "undo");
    }
    EXPECT_THAT(Look(), IsEmpty()) << "another rollout without a cause";
    SetData(kGoodData);
    Roll();
  }
}

// The list shows it, but no watch has shown when it was made, which was before the data changed.
TEST_P(EventRouterTest, AWorkloadThatIsMadeAnewInAGapOfItsWatchMissesNoChange) {
  if (GetParam().is_by_ref) {
    GTEST_SKIP() << "it is the Rollout that is made anew";
  }
  for (const bool is_seen_to_go : {false, true}) {
    SCOPED_TRACE(is_seen_to_go ? "its end was seen" : "it is another one than before");
    if (is_seen_to_go) {
      const int handled = handled_;
      templates_->Delete({"ns", "web"});
      NextVersion();
      Await(handled + 1);
      memory_->Forget(Id());
    }
    const apimachinery::Status down(apimachinery::Reason::kUnavailable, "down");
    templates_->FailLists(down, 1'000'000);
    templates_->FailWatches(down, 1'000'000);
    templates_->DropWatches();
    const int handled = handled_;
    uid_ += "x";
    template_ = {.is_bare = true};
    recorder_.clear();
    FinishRolloutUnseen();
    SetData(data_ == kBadData ? kMendedData : kBadData);
    templates_->Compact();
    templates_->FailLists(down, 0);
    templates_->FailWatches(down, 0);
    Await(handled + 1);
    EXPECT_THAT(Look(), SizeIs(1));
  }
}

// Seed 116 of 400 hours: a list shows the same template as before, whose pods are not the same.
TEST_P(EventRouterTest, ATemplateThatGoesThereAndBackInAGapOfItsWatchBeginsPodsWithTheDataOfThen) {
  for (const char* manager : {"helm", kUndoer}) {
    SCOPED_TRACE(std::string("brought back by ") + manager);
    SetData(kBadData);
    EXPECT_THAT(Look(), SizeIs(1)) << "and something holds the rollout";
    const apimachinery::Status down(apimachinery::Reason::kUnavailable, "down");
    templates_->FailLists(down, 1'000'000);
    templates_->FailWatches(down, 1'000'000);
    templates_->DropWatches();
    const int handled = handled_;
    SetWatched(false);
    ++template_.release;
    ReleasedBy("helm");
    --template_.release;
    ReleasedBy(manager);
    SetWatched(true);
    SetData(kGoodData);
    EXPECT_THAT(Look(), IsEmpty());
    templates_->Compact();
    templates_->FailLists(down, 0);
    templates_->FailWatches(down, 0);
    Await(handled + 1);
    Roll();
    FinishRollout();
  }
}

// Seed 334 of ten minutes: a slow list of another kind of sources holds the first plan up.
TEST_P(EventRouterTest, AFirstPlanDoesNotBelieveABaselineFromBeforeTheReleaseThatEventsToldOf) {
  if (GetParam().is_by_ref || !GetParam().has_baseline) {
    GTEST_SKIP() << "the baseline comes with another object, or there is none";
  }
  plans_at_once_ = false;
  Begin();
  SetData(kBadData);
  const int handled = handled_;
  ++template_.release;
  ReleasedBy("helm");
  Await(handled + 1);
  SetData(kGoodData);
  const auto seen = caches_->GetWorkload(Id());
  ASSERT_TRUE(seen);
  memory_->IsNewRecord(Id(),
                       PairMemory::SeenRecord::Of(*Find(seen->annotations, kBaselineAnnotation),
                                                  VersionNumber(seen->resource_version)));
  EXPECT_THAT(Look(), SizeIs(1)) << "the pods of the release have the bad data";
}

// For example, a lock of a leader election changes all day.
TEST_P(EventRouterTest, WhatNoRuleAsksForIsNotRemembered) {
  const SourceId lock{SourceType::kConfigMap, {"ns", "lock"}};
  recent_.Add(lock, kGoodData, Move{kBadData, NextVersion() + 100});
  is_through_ = false;
  ReplacePods();
  EXPECT_FALSE(memory_->Get(Id()).pairs.contains(lock));
}

INSTANTIATE_TEST_SUITE_P(All, EventRouterTest, testing::ValuesIn(RouterCases()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace kubexx::reloader
