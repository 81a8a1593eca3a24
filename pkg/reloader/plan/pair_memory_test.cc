#include "kubexx/reloader/plan/pair_memory.h"

#include <gtest/gtest.h>

#include <string>

#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/plan/strategy.h"

namespace kubexx::reloader {
namespace {

using Kind = PairState::Kind;
using News = PairMemory::TemplateNews;

const WorkloadId kPairWorkload{WorkloadKind::kDeployment, {"ns", "w"}};
const SourceId kPairSource{SourceType::kConfigMap, {"ns", "s"}};
const Digest kOld = DigestOf("old");
const Digest kNew = DigestOf("new");

std::vector<Change> ChangeTo(const Digest& digest) {
  return {{.container = "c",
           .variable = "V",
           .value = "",
           .sources = {{kPairSource, digest}},
           .causes = {kPairSource}}};
}

TEST(PairMemory, KeepsTheOldestUnactedState) {
  PairMemory memory;
  memory.RecordChange(kPairWorkload, kPairSource, kOld);
  memory.RecordChange(kPairWorkload, kPairSource, kNew);
  EXPECT_EQ(memory.Get(kPairWorkload).pairs.at(kPairSource), (PairState{Kind::kObserved, kOld}));
}

TEST(PairMemory, AWriteIsUncertainUntilConfirmed) {
  PairMemory memory;
  memory.Confirm(kPairWorkload, ChangeTo(kOld), true);
  EXPECT_EQ(memory.Get(kPairWorkload).pairs.at(kPairSource),
            (PairState{.kind = Kind::kConfirmed, .digest = kOld, .is_ahead_of_record = true}));
  memory.BeginWrite(kPairWorkload, ChangeTo(kNew));
  EXPECT_EQ(memory.Get(kPairWorkload).pairs.at(kPairSource),
            (PairState{.kind = Kind::kUncertain, .digest = kOld, .is_ahead_of_record = true}));
  memory.Confirm(kPairWorkload, ChangeTo(kNew), true);
  EXPECT_EQ(memory.Get(kPairWorkload).pairs.at(kPairSource),
            (PairState{.kind = Kind::kConfirmed, .digest = kNew, .is_ahead_of_record = true}));
}

TEST(PairMemory, RemembersWritesWhoseOutcomeIsNotKnown) {
  PairMemory memory;
  memory.Confirm(kPairWorkload, ChangeTo(kOld), true);
  const auto attempts = [&] { return memory.Get(kPairWorkload).attempts; };
  const auto begun = memory.BeginWrite(kPairWorkload, ChangeTo(kNew), {.mark = "1"});
  const Attempt first{.mark = "1", .sources = {{kPairSource, kNew}}};
  EXPECT_EQ(attempts(), std::vector{first});
  const auto again = memory.BeginWrite(kPairWorkload, ChangeTo(kNew), {.mark = "2"});
  memory.CancelWrite(kPairWorkload, again);
  EXPECT_EQ(attempts(), std::vector{first}) << "the other one may have been made";
  memory.CancelWrite(kPairWorkload, begun);
  EXPECT_TRUE(attempts().empty());
  memory.BeginWrite(kPairWorkload, ChangeTo(kNew), {.mark = "3"});
  memory.Confirm(kPairWorkload, ChangeTo(kNew), true);
  EXPECT_TRUE(attempts().empty());
}

TEST(PairMemory, AnAttemptDoesNotTellOfWhatIsKnownForCertainSince) {
  PairMemory memory;
  memory.Confirm(kPairWorkload, ChangeTo(kOld), true);
  memory.BeginWrite(kPairWorkload, ChangeTo(kNew), {.mark = "1"});
  Plan plan;
  plan.learnt = {{kPairSource, {Kind::kConfirmed, kOld}}};
  memory.Apply(kPairWorkload, plan);
  memory.BeginWrite(kPairWorkload, ChangeTo(kNew), {.mark = "2"});
  const auto attempts = memory.Get(kPairWorkload).attempts;
  ASSERT_EQ(attempts.size(), 1U);
  EXPECT_EQ(attempts[0].mark, "2");
}

TEST(PairMemory, AppliesPlansAndForgets) {
  PairMemory memory;
  Plan plan;
  plan.learnt = {{kPairSource, {Kind::kConfirmed, kOld}}};
  memory.Apply(kPairWorkload, plan);
  EXPECT_TRUE(memory.Get(kPairWorkload).pairs.contains(kPairSource));
  EXPECT_EQ(memory.size(), 1U);
  plan.learnt.clear();
  plan.dropped = {kPairSource};
  memory.Apply(kPairWorkload, plan);
  EXPECT_TRUE(memory.Get(kPairWorkload).pairs.empty());
  memory.RecordChange(kPairWorkload, kPairSource, kOld);
  memory.Forget(kPairWorkload);
  EXPECT_EQ(memory.size(), 0U);
}

TEST(PairMemory, AWorkloadIsNewUntilItHasBeenPlannedWithoutAChange) {
  PairMemory memory;
  memory.MarkUnplanned(kPairWorkload);
  Plan plan;
  plan.changes = ChangeTo(kNew);
  memory.Apply(kPairWorkload, plan);
  EXPECT_TRUE(memory.Get(kPairWorkload).is_unplanned) << "the write may fail";
  memory.Confirm(kPairWorkload, plan.changes, true);
  EXPECT_FALSE(memory.Get(kPairWorkload).is_unplanned);
  memory.MarkUnplanned(kPairWorkload);
  memory.Apply(kPairWorkload, {});
  EXPECT_FALSE(memory.Get(kPairWorkload).is_unplanned);
}

Digest BeganWith(const PairMemory& memory) {
  const PairState state = memory.Get(kPairWorkload).pairs.at(kPairSource);
  return state.kind == Kind::kConfirmed ? state.digest : kNoSource;
}

/// A plan that knew nothing of the pair and used the data of resource version 20, `digest`.
Plan PlanFromNothing(const Digest& digest) {
  Plan plan;
  plan.learnt = {{kPairSource, {.kind = Kind::kConfirmed, .digest = digest, .taken_at = 20}}};
  return plan;
}

TEST(PairMemory, AChangeThatIsToldOfAfterTheFirstPlanShowsWhatTheWorkloadRanWith) {
  PairMemory memory;
  memory.MarkUnplanned(kPairWorkload);
  memory.Apply(kPairWorkload, PlanFromNothing(kNew));
  memory.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, 20});
  EXPECT_EQ(BeganWith(memory), kOld);
  memory.Apply(kPairWorkload, PlanFromNothing(kNew));
  EXPECT_EQ(BeganWith(memory), kOld) << "a plan that was begun before";
  memory.RecordChange(kPairWorkload, kPairSource, kNew, Move{kOld, 30});
  EXPECT_EQ(BeganWith(memory), kOld) << "the oldest counts";
}

TEST(PairMemory, OfSeveralChangesBeforeTheFirstPlanTheFirstCounts) {
  PairMemory memory;
  memory.Apply(kPairWorkload, PlanFromNothing(kNew));
  memory.RecordChange(kPairWorkload, kPairSource, kOld, Move{DigestOf("between"), 15});
  memory.RecordChange(kPairWorkload, kPairSource, DigestOf("between"), Move{kNew, 20});
  EXPECT_EQ(BeganWith(memory), kOld);
}

TEST(PairMemory, AChangeThatIsToldOfWhileTheFirstPlanIsMadeIsNotForgotten) {
  PairMemory memory;
  memory.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, 20});
  memory.Apply(kPairWorkload, PlanFromNothing(kNew));
  EXPECT_EQ(BeganWith(memory), kOld);
}

TEST(PairMemory, AChangeAfterTheFirstPlanLeavesWhatItTook) {
  PairMemory memory;
  memory.Apply(kPairWorkload, PlanFromNothing(kOld));
  memory.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, 21});
  EXPECT_EQ(BeganWith(memory), kOld);
  memory.RecordChange(kPairWorkload, kPairSource, kNew, Move{DigestOf("newest"), 22});
  EXPECT_EQ(BeganWith(memory), kOld);
}

TEST(PairMemory, AWorkloadThatWasMadeAfterTheChangeBeganWithIt) {
  PairMemory planned;  // it was told of the change after the plan
  planned.MarkAdded(kPairWorkload, 25);
  planned.Apply(kPairWorkload, PlanFromNothing(kNew));
  planned.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, 20});
  EXPECT_EQ(BeganWith(planned), kNew);
  PairMemory told_last;  // it is told before any plan
  told_last.MarkAdded(kPairWorkload, 25);
  told_last.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, 20});
  EXPECT_EQ(BeganWith(told_last), kNew);
  PairMemory told_first;  // it is told when the store already has the workload
  told_first.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, 20});
  told_first.MarkAdded(kPairWorkload, 25);
  EXPECT_EQ(BeganWith(told_first), kNew);
  PairMemory changed_since;
  changed_since.MarkAdded(kPairWorkload, 15);
  changed_since.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, 20});
  EXPECT_EQ(changed_since.Get(kPairWorkload).pairs.at(kPairSource),
            (PairState{Kind::kObserved, kOld}));
}

TEST(PairMemory, NewPodsHaveWhatPassedForTheOldOnes) {
  const SourceId other{SourceType::kSecret, {"ns", "other"}};
  Plan first = PlanFromNothing(kNew);
  first.learnt.emplace_back(other,
                            PairState{.kind = Kind::kConfirmed, .digest = kNew, .taken_at = 22});
  for (const bool is_told_by_event : {false, true}) {
    PairMemory memory;
    memory.Apply(kPairWorkload, first);
    memory.RecordChange(kPairWorkload, other, kOld, Move{kNew, 22});
    std::vector<Change> changes = ChangeTo(kNew);
    changes[0].sources = {{other, kNew}};
    if (is_told_by_event) {
      memory.TemplateChanged(kPairWorkload, {.before = "one", .now = "two", .is_own = true});
    } else {
      memory.Confirm(kPairWorkload, changes, true);
    }
    memory.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, 20});
    EXPECT_EQ(BeganWith(memory), kNew) << "a second rollout";
  }
  PairMemory dry_run;
  dry_run.Apply(kPairWorkload, first);
  dry_run.Confirm(kPairWorkload, {}, false);
  dry_run.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, 20});
  EXPECT_EQ(BeganWith(dry_run), kOld);
}

// Seed 30088 of the simulation: the event of a change comes while the workload is rolled for
// another source, whose pods begin with the change.
TEST(PairMemory, NewPodsHaveWhatIsToldOfWhileTheyAreMade) {
  const SourceId other{SourceType::kSecret, {"ns", "other"}};
  std::vector<Change> changes = ChangeTo(kNew);
  changes[0].sources = {{other, kNew}};
  const auto began_with = [&](std::uint64_t changed, std::uint64_t rolled, std::uint64_t released) {
    PairMemory memory;
    memory.Apply(kPairWorkload, PlanFromNothing(kNew));
    memory.BeginWrite(kPairWorkload, changes);
    memory.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, changed});
    if (released != 0) {
      memory.TemplateChanged(kPairWorkload, {.since = released, .before = "two", .now = "three"});
      memory.RecordChange(kPairWorkload, kPairSource, kNew, Move{kOld, released - 1});
    }
    memory.Confirm(kPairWorkload, changes, true, rolled);
    return BeganWith(memory);
  };
  EXPECT_EQ(began_with(20, 30, 0), kNew);
  EXPECT_EQ(began_with(20, 15, 0), kOld) << "the change came after the pods";
  EXPECT_EQ(began_with(20, 0, 0), kOld) << "nothing is known of the order";
  EXPECT_EQ(began_with(20, 30, 40), kOld) << "others have begun pods after that";
}

TEST(PairMemory, SaysWhetherAPlanIsRight) {
  PairMemory memory;
  EXPECT_TRUE(memory.Apply(kPairWorkload, PlanFromNothing(kNew)));
  memory.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, 20});
  EXPECT_FALSE(memory.Apply(kPairWorkload, PlanFromNothing(kNew)));
  PairMemory observed;
  observed.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, 20});
  EXPECT_FALSE(observed.Apply(kPairWorkload, PlanFromNothing(kNew)));
  EXPECT_TRUE(observed.Apply(kPairWorkload, {}));
}

TEST(PairMemory, WhatIsToldOfWhileAPlanIsMadeCountsMoreThanThePlan) {
  PairMemory memory;
  Plan plan;
  plan.learnt = {{kPairSource, {Kind::kConfirmed, kOld}}};
  EXPECT_TRUE(memory.Apply(kPairWorkload, plan));
  memory.TemplateChanged(kPairWorkload, {.since = 20, .until = 20, .before = "a", .now = "b"});
  plan.templates = memory.Get(kPairWorkload).templates;
  // Meanwhile the data were others when the template began pods, and have come back, as the plan
  // has found them.
  memory.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, 19});
  memory.RecordChange(kPairWorkload, kPairSource, kNew, Move{kOld, 21});
  EXPECT_FALSE(memory.Apply(kPairWorkload, plan));
  EXPECT_EQ(memory.Get(kPairWorkload).pairs.at(kPairSource).digest, kNew);
  plan.learnt = {{kPairSource, {Kind::kConfirmed, kNew}}};
  plan.seen = memory.Get(kPairWorkload).moves;
  EXPECT_TRUE(memory.Apply(kPairWorkload, plan));
}

// Making the source anew is a change. A source that was deleted before the pods began does not
// matter to them, but when a list shows the deletion, nobody knows when it was.
TEST(PairMemory, ADeletionShowsWhatTheWorkloadRanWith) {
  PairMemory told_first;
  told_first.RecordEnd(kPairWorkload, kPairSource, {kOld, 5}, 18);
  EXPECT_EQ(told_first.Get(kPairWorkload).pairs.at(kPairSource),
            (PairState{Kind::kObserved, kOld}));
  EXPECT_TRUE(told_first.Get(kPairWorkload).moves.empty());
  PairMemory told_last;
  told_last.Apply(kPairWorkload, PlanFromNothing(kNew));
  told_last.RecordEnd(kPairWorkload, kPairSource, {kOld, 5}, 18);
  EXPECT_EQ(BeganWith(told_last), kOld);
  PairMemory made_after;
  made_after.MarkAdded(kPairWorkload, 25);
  made_after.RecordEnd(kPairWorkload, kPairSource, {kOld, 5}, 18);
  EXPECT_TRUE(made_after.Get(kPairWorkload).pairs.empty());
  // It was made anew at version 20.
  made_after.RecordChange(kPairWorkload, kPairSource, kNew, Move{kOld, 30});
  EXPECT_EQ(made_after.Get(kPairWorkload).pairs.at(kPairSource),
            (PairState{Kind::kObserved, kNew}));
  PairMemory known;
  known.Confirm(kPairWorkload, ChangeTo(kOld), true);
  known.MarkAdded(kPairWorkload, 10);
  known.RecordEnd(kPairWorkload, kPairSource, {kOld, 5}, 0);
  EXPECT_EQ(BeganWith(known), kOld);
  known.TemplateChanged(kPairWorkload, {.since = 30, .before = "one", .now = "two"});
  EXPECT_EQ(BeganWith(known), kOld) << "what was made anew since then counts by its own version";
}

// The informer's store has the new source before the handler is told that the former one is gone.
TEST(PairMemory, AnEndOfWhichALateListTellsShowsWhatTheWorkloadRanWith) {
  PairMemory taken_since;
  taken_since.Apply(kPairWorkload, PlanFromNothing(kNew));
  taken_since.RecordEnd(kPairWorkload, kPairSource, {kOld, 5}, 0);
  EXPECT_EQ(BeganWith(taken_since), kOld);
  PairMemory taken_before;  // a change of the source since then waits for a rollout
  taken_before.Apply(kPairWorkload, PlanFromNothing(kNew));
  taken_before.RecordEnd(kPairWorkload, kPairSource, {kOld, 25}, 0);
  EXPECT_EQ(BeganWith(taken_before), kNew);
}

TEST(PairMemory, VersionsOfAStoreThatWasRestoredSayNothing) {
  PairMemory memory;
  memory.MarkAdded(kPairWorkload, 5000);
  memory.Apply(kPairWorkload, PlanFromNothing(kOld));
  memory.ForgetVersions(kPairWorkload);
  memory.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, 3000});
  EXPECT_EQ(BeganWith(memory), kOld) << "a change after the restore";
  EXPECT_EQ(memory.Get(kPairWorkload).template_since, 0U);
}

// An object's version changes with its labels, too.
TEST(PairMemory, AChangeFromBeforeTheWorkloadIsNoneOverKeysEither) {
  PairMemory memory;
  memory.MarkAdded(kPairWorkload, 10);
  Plan plan;
  const PairState over_keys{.kind = Kind::kConfirmed, .digest = kNew, .keys = "a", .taken_at = 11};
  plan.learnt = {{kPairSource, over_keys}};
  memory.Apply(kPairWorkload, plan);
  memory.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, 8});
  EXPECT_EQ(BeganWith(memory), kNew);
}

TEST(PairMemory, MovesStayInOrderAndAreKeptOnce) {
  PairMemory memory;
  for (const std::uint64_t version : {30U, 40U, 30U, 20U}) {
    memory.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, version});
  }
  EXPECT_EQ(memory.Get(kPairWorkload).moves.at(kPairSource),
            (std::vector<Move>{{kNew, 20}, {kNew, 30}, {kNew, 40}}));
}

TEST(PairMemory, WhatAnotherReplicaRolledForCountsMoreThanWhatThisOneConcluded) {
  PairMemory memory;
  memory.Confirm(kPairWorkload, ChangeTo(kOld), true);
  memory.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, 90});
  memory.RolledByOthers(kPairWorkload, 100);
  EXPECT_TRUE(memory.Get(kPairWorkload).pairs.empty());
  EXPECT_TRUE(memory.Get(kPairWorkload).moves.empty());
}

// A standby gets the events of sources before those of workloads. When it takes over, it still has
// to roll for the changes since the last rollout.
TEST(PairMemory, WhatHasChangedSinceAnotherReplicasRolloutIsNotForgotten) {
  PairMemory memory;
  memory.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, 110});
  memory.RolledByOthers(kPairWorkload, 100);
  EXPECT_EQ(memory.Get(kPairWorkload).pairs.at(kPairSource), (PairState{Kind::kObserved, kOld}));
  EXPECT_EQ(memory.Get(kPairWorkload).moves.at(kPairSource), (std::vector<Move>{{kNew, 110}}));
  memory.RecordChange(kPairWorkload, kPairSource, kNew, Move{kOld, 120});
  memory.RolledByOthers(kPairWorkload, 115);
  EXPECT_EQ(BeganWith(memory), kNew);
  memory.RolledByOthers(kPairWorkload, 0);
  EXPECT_TRUE(memory.Get(kPairWorkload).pairs.empty()) << "it is not known when";
}

TEST(PairMemory, PodsBeginWithTheDataBeforeTheirTemplate) {
  const PairMemory::TemplateChange at_200{.since = 200, .before = "one", .now = "two"};
  // Good data, bad data at 150, the template at 200, good data again at 250.
  PairMemory there_and_back;
  there_and_back.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, 150});
  there_and_back.TemplateChanged(kPairWorkload, at_200);
  there_and_back.RecordChange(kPairWorkload, kPairSource, kNew, Move{kOld, 250});
  EXPECT_EQ(BeganWith(there_and_back), kNew);
  PairMemory template_last;  // the same, but the event of the template comes last
  template_last.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, 150});
  template_last.RecordChange(kPairWorkload, kPairSource, kNew, Move{kOld, 250});
  template_last.TemplateChanged(kPairWorkload, at_200);
  EXPECT_EQ(BeganWith(template_last), kNew);
  PairMemory template_first;  // the same, but the event of the template comes first
  template_first.TemplateChanged(kPairWorkload, at_200);
  template_first.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, 150});
  template_first.RecordChange(kPairWorkload, kPairSource, kNew, Move{kOld, 250});
  EXPECT_EQ(BeganWith(template_first), kNew);
}

TEST(PairMemory, APlanTakesAwayTheChangesThatItHasSeen) {
  PairMemory memory;
  memory.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, 150});
  const Plan plan{.learnt = {{kPairSource, {Kind::kConfirmed, kNew}}},
                  .seen = memory.Get(kPairWorkload).moves};
  memory.RecordChange(kPairWorkload, kPairSource, kNew, Move{kOld, 160});
  memory.Apply(kPairWorkload, plan);
  const auto moves = memory.Get(kPairWorkload).moves;
  ASSERT_EQ(moves.at(kPairSource).size(), 1U);
  EXPECT_EQ(moves.at(kPairSource)[0], (Move{kOld, 160}));
  for (std::uint64_t version = 200; version < 300; ++version) {
    memory.RecordChange(kPairWorkload, kPairSource, kNew, Move{kOld, version});
  }
  EXPECT_LE(memory.Get(kPairWorkload).moves.at(kPairSource).size(), 8U) << "a stream of edits";
}

// A policy or a rule of the server keeps the operator from rolling, and a release begins new pods.
TEST(PairMemory, PodsThatSomebodyBeginsWhileARolloutWaitsHaveWhatItIsFor) {
  PairMemory memory;
  Plan plan;
  plan.learnt = {{kPairSource, {.kind = Kind::kConfirmed, .digest = kOld}}};
  memory.Apply(kPairWorkload, plan);
  memory.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, 150});
  memory.Apply(kPairWorkload, {.changes = ChangeTo(kNew), .seen = memory.Get(kPairWorkload).moves});
  memory.TemplateChanged(kPairWorkload, {.since = 200, .before = "one", .now = "two"});
  memory.RecordChange(kPairWorkload, kPairSource, kNew, Move{kOld, 250});
  EXPECT_EQ(BeganWith(memory), kNew) << "the data went back before the next plan";
}

TEST(PairMemory, WhatASourceChangedToBeforeItWasDeletedIsNotWhatOneMadeAnewHas) {
  PairMemory memory;
  memory.Confirm(kPairWorkload, ChangeTo(kOld), true);
  memory.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, 150});
  memory.Apply(kPairWorkload, {.changes = ChangeTo(kNew), .seen = memory.Get(kPairWorkload).moves});
  memory.RecordEnd(kPairWorkload, kPairSource, {kNew, 150}, 160);
  memory.TemplateChanged(kPairWorkload, {.since = 200, .before = "one", .now = "two"});
  EXPECT_NE(BeganWith(memory), kNew);
}

TEST(PairMemory, PodsThatBeginAfterASourceWasMadeAnewHaveItsData) {
  PairMemory told_first;
  told_first.Confirm(kPairWorkload, ChangeTo(kOld), true);
  told_first.RecordEnd(kPairWorkload, kPairSource, {kOld, 5}, 150);
  told_first.RecordCreation(kPairWorkload, kPairSource, {kNew, 160});
  EXPECT_EQ(BeganWith(told_first), kOld) << "of the pods that are there a plan says it";
  told_first.TemplateChanged(kPairWorkload, {.since = 200, .before = "one", .now = "two"});
  EXPECT_EQ(BeganWith(told_first), kNew);
  PairMemory told_last;
  told_last.Confirm(kPairWorkload, ChangeTo(kOld), true);
  told_last.TemplateChanged(kPairWorkload, {.since = 200, .before = "one", .now = "two"});
  told_last.RecordEnd(kPairWorkload, kPairSource, {kOld, 5}, 150);
  told_last.RecordCreation(kPairWorkload, kPairSource, {kNew, 160});
  EXPECT_EQ(BeganWith(told_last), kNew);
  told_last.RecordCreation(kPairWorkload, kPairSource, {kOld, 250});
  EXPECT_EQ(BeganWith(told_last), kNew) << "another one since then";
}

TEST(PairMemory, ASourceThatIsNewToAWorkloadWasNotMadeAnew) {
  PairMemory memory;
  memory.RecordCreation(kPairWorkload, kPairSource, {kNew, 160});
  EXPECT_EQ(memory.Get(kPairWorkload), Knowledge{});
}

/// A workload that began with the old data, and then a release that changed the data and the
/// template.
void Release(PairMemory& memory) {
  Plan plan;
  plan.learnt = {{kPairSource, {.kind = Kind::kConfirmed, .digest = kOld}}};
  plan.templates = memory.Get(kPairWorkload).templates;
  memory.Apply(kPairWorkload, plan);
  memory.TemplateChanged(kPairWorkload, {.since = 200, .before = "one", .now = "two"});
  plan.learnt = {{kPairSource, {.kind = Kind::kConfirmed, .digest = kNew}}};
  plan.templates = memory.Get(kPairWorkload).templates;
  memory.Apply(kPairWorkload, plan);  // the plan is older than the template
}

PairMemory::TemplateChange BackToOne() {
  return {.since = 300, .before = "two", .now = "one", .was_rolled_out = false};
}

TEST(PairMemory, GoingBackBeforeARolloutIsThroughLeavesTheFormerPods) {
  for (const bool was_rolled_out : {false, true}) {
    PairMemory memory;
    Release(memory);
    if (was_rolled_out) {
      memory.TemplateRolledOut(kPairWorkload);
    }
    PairMemory::TemplateChange back = BackToOne();
    back.was_rolled_out = was_rolled_out;
    EXPECT_EQ(memory.TemplateChanged(kPairWorkload, back), News::kNone);
    EXPECT_EQ(BeganWith(memory), was_rolled_out ? kNew : UnknownData())
        << "some may have begun with the new data";
    EXPECT_EQ(memory.Get(kPairWorkload).template_since, was_rolled_out ? 300U : 0U);
  }
}

TEST(PairMemory, GoingBackTogetherWithTheDataLeavesPodsOfOneKind) {
  PairMemory memory;
  Release(memory);
  memory.RecordChange(kPairWorkload, kPairSource, kNew, Move{kOld, 250});
  memory.TemplateChanged(kPairWorkload, BackToOne());
  EXPECT_EQ(BeganWith(memory), kOld);
}

TEST(PairMemory, APersonsUndoOfAReleaseBeforeItIsThroughIsLeftAlone) {
  PairMemory memory;
  Release(memory);
  PairMemory::TemplateChange undo = BackToOne();
  undo.is_undo = true;
  EXPECT_EQ(memory.TemplateChanged(kPairWorkload, undo), News::kUndone);
  EXPECT_EQ(BeganWith(memory), kNew);
  EXPECT_EQ(memory.Get(kPairWorkload).template_since, 300U);
}

// An undo of a bad image, for example, must not be reported as one of data, because these have not
// changed.
TEST(PairMemory, AnUndoThatLeavesNoPodsWithOtherDataIsNoNews) {
  PairMemory memory;
  Plan plan;
  plan.learnt = {{kPairSource, {.kind = Kind::kConfirmed, .digest = kOld}}};
  memory.Apply(kPairWorkload, plan);
  memory.TemplateChanged(kPairWorkload, {.since = 200, .before = "one", .now = "two"});
  PairMemory::TemplateChange undo = BackToOne();
  undo.is_undo = true;
  EXPECT_EQ(memory.TemplateChanged(kPairWorkload, undo), News::kNone);
  EXPECT_EQ(BeganWith(memory), kOld);
}

TEST(PairMemory, AllTemplatesSinceTheLastRolloutThatEndedAreKnown) {
  for (const bool is_undo : {false, true}) {
    PairMemory memory;
    Release(memory);
    memory.TemplateChanged(
        kPairWorkload, {.since = 300, .before = "two", .now = "three", .was_rolled_out = false});
    EXPECT_EQ(memory.TemplateChanged(kPairWorkload, {.since = 400,
                                                     .before = "three",
                                                     .now = "one",
                                                     .was_rolled_out = false,
                                                     .is_undo = is_undo}),
              is_undo ? News::kUndone : News::kNone);
    EXPECT_EQ(BeganWith(memory), is_undo ? kNew : UnknownData());
  }
}

TEST(PairMemory, WhatARolloutThatHadNotEndedAtTheStartGoesBackToIsNotKnown) {
  for (const bool has_ended : {false, true}) {
    PairMemory memory;
    memory.MarkUnfinished(kPairWorkload);
    Plan plan;
    plan.learnt = {{kPairSource, {.kind = Kind::kConfirmed, .digest = kNew}}};
    memory.Apply(kPairWorkload, plan);
    if (has_ended) {
      memory.TemplateRolledOut(kPairWorkload);
    }
    memory.TemplateChanged(kPairWorkload, BackToOne());
    EXPECT_EQ(BeganWith(memory), has_ended ? kNew : UnknownData());
  }
}

// The rollout of a DaemonSet does not end while one node does not answer.
TEST(PairMemory, WhatIsNotKnownOfTemplatesBeforeTheStartHasItRolledOnce) {
  PairMemory memory;
  memory.MarkUnfinished(kPairWorkload);
  Plan plan;
  plan.learnt = {{kPairSource, {.kind = Kind::kConfirmed, .digest = kNew}}};
  memory.Apply(kPairWorkload, plan);
  memory.TemplateChanged(kPairWorkload,
                         {.since = 300, .before = "one", .now = "two", .was_rolled_out = false});
  EXPECT_EQ(BeganWith(memory), UnknownData());
  memory.BeginWrite(kPairWorkload, ChangeTo(kNew));
  memory.TemplateChanged(
      kPairWorkload, {.before = "two", .now = "three", .was_rolled_out = false, .is_own = true});
  memory.Confirm(kPairWorkload, ChangeTo(kNew), true);
  memory.TemplateChanged(kPairWorkload,
                         {.since = 400, .before = "three", .now = "four", .was_rolled_out = false});
  EXPECT_EQ(BeganWith(memory), kNew) << "the next release";
}

// A watch that stood still brings, after a rollout, the event of the template before it.
TEST(PairMemory, ATemplateThatOursHasReplacedAlreadyHasNothingRolledAgain) {
  for (const std::uint64_t told_of : {300U, 500U}) {
    PairMemory memory;
    memory.MarkUnfinished(kPairWorkload);
    Plan plan;
    plan.learnt = {{kPairSource, {.kind = Kind::kConfirmed, .digest = kOld}}};
    memory.Apply(kPairWorkload, plan);
    memory.BeginWrite(kPairWorkload, ChangeTo(kNew));
    memory.Confirm(kPairWorkload, ChangeTo(kNew), true);
    memory.Wrote(kPairWorkload, PairMemory::SeenRecord::Of("record", 400));
    memory.TemplateChanged(kPairWorkload, {.since = told_of,
                                           .until = told_of,
                                           .before = "one",
                                           .now = "two",
                                           .was_rolled_out = false});
    EXPECT_EQ(BeganWith(memory), told_of < 400 ? kNew : UnknownData()) << told_of;
  }
}

// Nobody knows whether the rollout was made, so all pods may be older than it.
TEST(PairMemory, ARolloutThatIsUncertainHasReplacedNothing) {
  PairMemory memory;
  memory.MarkUnfinished(kPairWorkload);
  memory.Confirm(kPairWorkload, ChangeTo(kOld), true);
  memory.Wrote(kPairWorkload, PairMemory::SeenRecord::Of("record", 400));
  memory.BeginWrite(kPairWorkload, ChangeTo(kNew));
  memory.TemplateChanged(
      kPairWorkload,
      {.since = 300, .until = 300, .before = "one", .now = "two", .was_rolled_out = false});
  EXPECT_EQ(BeganWith(memory), UnknownData());
}

/// The operator rolls from the old data to the new ones. The event comes before the answer.
void RollToNew(PairMemory& memory, bool with_answer = true) {
  memory.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, 150});
  const Plan plan{.seen = memory.Get(kPairWorkload).moves};
  memory.Apply(kPairWorkload, plan);
  memory.BeginWrite(kPairWorkload, ChangeTo(kNew));
  memory.TemplateChanged(kPairWorkload, {.before = "one", .now = "two", .is_own = true});
  if (with_answer) {
    memory.Confirm(kPairWorkload, ChangeTo(kNew), true);
  }
}

TEST(PairMemory, APlanOfATemplateFromBeforeSaysNothing) {
  PairMemory memory;
  RollToNew(memory);
  Plan plan;  // the plan begins before the template goes back, and ends after it
  plan.templates = memory.Get(kPairWorkload).templates;
  plan.learnt = {{kPairSource, {.kind = Kind::kConfirmed, .digest = kNew}}};
  EXPECT_EQ(memory.TemplateChanged(kPairWorkload, BackToOne()), News::kSetBack);
  EXPECT_FALSE(memory.Apply(kPairWorkload, plan));
  EXPECT_EQ(BeganWith(memory), UnknownData()) << "so the rollout is due again";
}

TEST(PairMemory, UndoingARolloutOfTheOperatorBeforeItIsThroughIsLeftAlone) {
  PairMemory memory;
  RollToNew(memory);
  PairMemory::TemplateChange undo = BackToOne();
  undo.is_undo = true;
  EXPECT_EQ(memory.TemplateChanged(kPairWorkload, undo), News::kUndone);
  EXPECT_EQ(BeganWith(memory), kNew);
  EXPECT_EQ(memory.Get(kPairWorkload).template_since, 300U);
}

TEST(PairMemory, ARolloutOfTheOperatorThatNobodyUndidIsDueAgain) {
  for (const bool answer_comes_first : {true, false}) {
    PairMemory memory;
    RollToNew(memory, answer_comes_first);
    EXPECT_EQ(memory.TemplateChanged(kPairWorkload, BackToOne()), News::kSetBack);
    if (!answer_comes_first) {
      memory.Confirm(kPairWorkload, ChangeTo(kNew), true);
    }
    EXPECT_EQ(BeganWith(memory), UnknownData()) << "some pods have the old data";
    EXPECT_EQ(memory.Get(kPairWorkload).template_since, 0U);
    memory.BeginWrite(kPairWorkload, ChangeTo(kNew));
    memory.Confirm(kPairWorkload, ChangeTo(kNew), true);
    EXPECT_EQ(BeganWith(memory), kNew);
  }
}

/// The change that a list shows after another replica has made a rollout at some time since version
/// 100.
PairMemory::TemplateChange RolledByAnother() {
  return {.since = 101,
          .until = 900,
          .before = "one",
          .now = "two",
          .was_rolled_out = false,
          .is_own = true,
          .stamps = {{"STAKATER_S_CONFIGMAP", kNew.ToString()}}};
}

TEST(PairMemory, PodsBeginWithWhatAnotherReplicaRolledFor) {
  PairMemory memory;
  memory.Confirm(kPairWorkload, ChangeTo(kOld), true);
  memory.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, 150});
  memory.TemplateChanged(kPairWorkload, RolledByAnother());
  EXPECT_EQ(BeganWith(memory), kNew);
  EXPECT_EQ(memory.Get(kPairWorkload).formers.back().pairs.at(kPairSource).digest, kOld)
      << "the pods of before live on for a while";
}

TEST(PairMemory, PodsBeginWithWhatAnotherReplicasAnnotationNames) {
  for (const Digest& named : {kNew, kOld}) {
    PairMemory memory;
    memory.Confirm(kPairWorkload, ChangeTo(kOld), true);
    memory.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, 150});
    PairMemory::TemplateChange change = RolledByAnother();
    change.stamps = {
        {std::string(kLastReloadedFrom), LastReloadedFrom(kPairSource, named, "c", {})}};
    memory.TemplateChanged(kPairWorkload, change);
    EXPECT_EQ(BeganWith(memory), named);
  }
}

TEST(PairMemory, OfDataThatCameBackAnothersRolloutDoesNotTellWhatPodsBeganWith) {
  PairMemory memory;
  memory.Confirm(kPairWorkload, ChangeTo(kOld), true);
  memory.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, 150});
  memory.RecordChange(kPairWorkload, kPairSource, kNew, Move{kOld, 160});
  memory.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, 170});
  memory.TemplateChanged(kPairWorkload, RolledByAnother());
  EXPECT_EQ(BeganWith(memory), kOld);
}

TEST(PairMemory, AVariableOfSeveralSourcesDoesNotTellWhatPodsBeganWith) {
  PairMemory memory;
  memory.Confirm(kPairWorkload, ChangeTo(kOld), true);
  memory.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, 150});
  memory.RecordChange(kPairWorkload, {SourceType::kConfigMap, {"ns", "S"}}, kOld);
  memory.TemplateChanged(kPairWorkload, RolledByAnother());
  EXPECT_EQ(BeganWith(memory), kOld);
}

TEST(PairMemory, WhatALookerOnSeesSetBackItRollsWhenItTakesOver) {
  PairMemory memory;
  memory.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, 150});
  memory.TemplateChanged(kPairWorkload, {.before = "one", .now = "two", .is_own = true});
  EXPECT_EQ(memory.TemplateChanged(kPairWorkload, BackToOne()), News::kSetBack);
  EXPECT_NE(BeganWith(memory), kNew);
}

TEST(PairMemory, InAnotherTenureOthersMayHaveRecordedMore) {
  PairMemory memory;
  memory.BeginTenure(kPairWorkload, 1);
  memory.Confirm(kPairWorkload, ChangeTo(kOld), true);
  memory.BeginTenure(kPairWorkload, 1);
  EXPECT_TRUE(memory.Get(kPairWorkload).pairs.at(kPairSource).is_ahead_of_record);
  memory.BeginTenure(kPairWorkload, 3);
  EXPECT_FALSE(memory.Get(kPairWorkload).pairs.at(kPairSource).is_ahead_of_record);
}

TEST(PairMemory, AnOwnRolloutBackIsNoUndo) {
  PairMemory memory;
  EXPECT_EQ(
      memory.TemplateChanged(
          kPairWorkload, {.before = "one", .now = "two", .was_rolled_out = true, .is_own = true}),
      News::kNone);
  EXPECT_EQ(
      memory.TemplateChanged(
          kPairWorkload, {.before = "two", .now = "one", .was_rolled_out = false, .is_own = true}),
      News::kNone)
      << "the data went back before the first rollout was through";
}

// The conclusions of a standby must neither hide what the leader has done since then nor lead to a
// rollout, because the leader has recorded it.
TEST(PairMemory, WhatTheLeaderRecordsCountsMoreThanWhatAStandbyConcluded) {
  PairMemory memory;
  memory.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, 100});
  memory.TemplateChanged(kPairWorkload, {.since = 200, .before = "one", .now = "two"});
  EXPECT_TRUE(memory.Get(kPairWorkload).pairs.at(kPairSource).is_ahead_of_record)
      << "pods of the new template began with the new data, which nobody has recorded";
  memory.RecordedByOthers(kPairWorkload);
  memory.BeginTenure(kPairWorkload, 1);
  EXPECT_FALSE(memory.Get(kPairWorkload).pairs.at(kPairSource).is_ahead_of_record);
}

// Two operators write, and each of them reads the other's records and its own.
TEST(PairMemory, WhatAnotherWriterRecordsIsNewOnce) {
  PairMemory memory;
  EXPECT_FALSE(memory.IsNewRecord(kPairWorkload, PairMemory::SeenRecord::Of("first", 100)))
      << "whoever wrote it, nothing is known that it could contradict";
  memory.Wrote(kPairWorkload, PairMemory::SeenRecord::Of("second", 120));
  memory.Wrote(kPairWorkload, PairMemory::SeenRecord::Of("", 130));
  EXPECT_FALSE(memory.IsNewRecord(kPairWorkload, PairMemory::SeenRecord::Of("first", 110)));
  EXPECT_FALSE(memory.IsNewRecord(kPairWorkload, PairMemory::SeenRecord::Of("second", 125)));
  EXPECT_TRUE(memory.IsNewRecord(kPairWorkload, PairMemory::SeenRecord::Of("third", 140)));
  EXPECT_FALSE(memory.IsNewRecord(kPairWorkload, PairMemory::SeenRecord::Of("third", 150)))
      << "its event tells of it again";
}

// Several threads plan and handle events. The record of another writer must not get lost between
// them.
TEST(PairMemory, WhatAnotherWriterRecordsCountsMoreThanWhatThisOneKnows) {
  PairMemory memory;
  const auto is_ahead = [&] {
    return memory.Get(kPairWorkload).pairs.at(kPairSource).is_ahead_of_record;
  };
  memory.Wrote(kPairWorkload, PairMemory::SeenRecord::Of("first", 100));
  memory.Confirm(kPairWorkload, ChangeTo(kOld), true);
  EXPECT_TRUE(is_ahead());
  EXPECT_TRUE(memory.IsNewRecord(kPairWorkload, PairMemory::SeenRecord::Of("other", 110)));
  EXPECT_FALSE(is_ahead());
  // The answer to this operator's write comes after the event of the other's later write.
  EXPECT_TRUE(memory.IsNewRecord(kPairWorkload, PairMemory::SeenRecord::Of("another", 130)));
  memory.Confirm(kPairWorkload, ChangeTo(kNew), true);
  memory.Wrote(kPairWorkload, PairMemory::SeenRecord::Of("own", 120));
  EXPECT_FALSE(is_ahead());
}

TEST(PairMemory, TheFirstRecordOfAnotherWriterCountsMoreToo) {
  PairMemory memory;
  memory.Confirm(kPairWorkload, ChangeTo(kOld), true);
  EXPECT_FALSE(memory.IsNewRecord(kPairWorkload, PairMemory::SeenRecord::Of("first", 100)))
      << "it replaces none";
  EXPECT_FALSE(memory.Get(kPairWorkload).pairs.at(kPairSource).is_ahead_of_record);
}

// Otherwise every source that is older than the removed record would be compared at every plan.
TEST(PairMemory, ARecordThatThisReplicaHasTakenAwayIsForgotten) {
  PairMemory memory;
  memory.IsNewRecord(kPairWorkload, PairMemory::SeenRecord::Of("other", 100));
  memory.TookAway(kPairWorkload, 110);
  EXPECT_EQ(memory.Get(kPairWorkload).record_at, 0U);
  EXPECT_FALSE(memory.IsNewRecord(kPairWorkload, PairMemory::SeenRecord::Of("other", 105)))
      << "a cache that is behind";
  EXPECT_EQ(memory.Get(kPairWorkload).record_at, 0U);
  memory.IsNewRecord(kPairWorkload, PairMemory::SeenRecord::Of("another", 120));
  memory.TookAway(kPairWorkload, 115);
  EXPECT_EQ(memory.Get(kPairWorkload).record_at, 120U) << "it was recorded since then";
}

TEST(PairMemory, APlanByAnOlderRecordIsMadeAnew) {
  PairMemory memory;
  memory.Wrote(kPairWorkload, PairMemory::SeenRecord::Of("first", 100));
  Plan plan;
  plan.learnt = {
      {kPairSource, {.kind = Kind::kConfirmed, .digest = kOld, .is_ahead_of_record = true}}};
  plan.records = memory.Get(kPairWorkload).records;
  EXPECT_TRUE(memory.IsNewRecord(kPairWorkload, PairMemory::SeenRecord::Of("other", 110)));
  EXPECT_FALSE(memory.Apply(kPairWorkload, plan));
  EXPECT_FALSE(memory.Get(kPairWorkload).pairs.contains(kPairSource));
  plan.records = memory.Get(kPairWorkload).records;
  EXPECT_TRUE(memory.Apply(kPairWorkload, plan));
}

// Seed 5034 of the simulation: the record is on a Rollout and the template is in a Deployment, and
// the watch of the source is behind.
TEST(PairMemory, ALateTemplateDoesNotTellMoreThanTheRecordOfItsRollout) {
  const PairMemory::SeenRecord record = PairMemory::SeenRecord::Of("other", 121, 120);
  for (const bool is_own : {true, false}) {
    for (const std::uint64_t until : {110U, 120U}) {
      PairMemory memory;
      memory.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, 50});
      memory.IsNewRecord(kPairWorkload, record);
      memory.TemplateChanged(
          kPairWorkload,
          {.since = 101, .until = until, .before = "one", .now = "two", .is_own = is_own});
      EXPECT_EQ(BeganWith(memory), kNew);
      EXPECT_EQ(memory.Get(kPairWorkload).pairs.at(kPairSource).is_ahead_of_record, until == 120)
          << "it is not known which came first";
    }
  }
}

// Seed 20084 of the simulation: the watches of a new leader are behind. It reads a workload with
// the last leader's record. Then come the events of a restart, and of the rollout with that record.
TEST(PairMemory, ARecordThatWasReadCountsMoreThanWhatLateEventsTellOfBeforeIt) {
  PairMemory memory;
  const auto is_ahead = [&] {
    return memory.Get(kPairWorkload).pairs.at(kPairSource).is_ahead_of_record;
  };
  memory.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, 50});
  memory.IsNewRecord(kPairWorkload, PairMemory::SeenRecord::Of("other", 150));
  memory.TemplateChanged(
      kPairWorkload, {.since = 110, .until = 110, .before = "one", .now = "two", .is_undo = true});
  EXPECT_TRUE(is_ahead()) << "it is not known which came first";
  EXPECT_FALSE(memory.IsNewRecord(kPairWorkload, PairMemory::SeenRecord::Of("other", 120, 120)));
  EXPECT_FALSE(is_ahead());
  EXPECT_EQ(memory.Get(kPairWorkload).record_since, 120U);
}

// The same, but a list shows all of it at once.
TEST(PairMemory, WhatAListTellsOfATemplateDoesNotCountMoreThanARecordFromInBetween) {
  for (const std::uint64_t read_at : {90U, 150U}) {
    PairMemory memory;
    memory.RecordChange(kPairWorkload, kPairSource, kOld, Move{kNew, 50});
    memory.IsNewRecord(kPairWorkload, PairMemory::SeenRecord::Of("other", read_at));
    memory.TemplateChanged(
        kPairWorkload,
        {.since = 101, .until = 160, .before = "one", .now = "two", .is_undo = true});
    EXPECT_EQ(memory.Get(kPairWorkload).pairs.at(kPairSource).is_ahead_of_record, read_at == 90);
  }
}

// Seed 111 of the simulation: the watch of a ConfigMap is behind, so a rollout for a Secret leaves
// the ConfigMap out and copies its entry from the other replica's record.
TEST(PairMemory, ARecordThatIsPartlyCopiedIsAsLateAsTheOneBefore) {
  PairMemory memory;
  memory.IsNewRecord(kPairWorkload, PairMemory::SeenRecord::Of("other", 121, 120));
  Plan incomplete;
  incomplete.incomplete = apimachinery::Status{apimachinery::Reason::kConflict, "behind"};
  memory.Wrote(kPairWorkload, PairMemory::SeenRecord::OfPlan(incomplete, "own", 130));
  EXPECT_EQ(memory.Get(kPairWorkload).record_at, 121U);
  EXPECT_EQ(memory.Get(kPairWorkload).record_since, 120U);
  memory.Wrote(kPairWorkload, PairMemory::SeenRecord::OfPlan({}, "whole", 140));
  EXPECT_EQ(memory.Get(kPairWorkload).record_at, 0U);
}

TEST(PairMemory, RemembersSinceWhenAnotherWritersRecordIsThere) {
  PairMemory memory;
  const auto since = [&] { return memory.Get(kPairWorkload).record_at; };
  memory.IsNewRecord(kPairWorkload, PairMemory::SeenRecord::Of("first", 100));
  memory.IsNewRecord(kPairWorkload, PairMemory::SeenRecord::Of("first", 110));
  EXPECT_EQ(since(), 100U);
  memory.Wrote(kPairWorkload, PairMemory::SeenRecord::Of("", 120));
  EXPECT_EQ(since(), 100U) << "the record is still the other's";
  memory.Wrote(kPairWorkload, PairMemory::SeenRecord::Of("second", 130));
  EXPECT_EQ(since(), 0U);
  memory.IsNewRecord(kPairWorkload, PairMemory::SeenRecord::Of("third", 140));
  EXPECT_EQ(since(), 140U);
  EXPECT_FALSE(memory.IsNewRecord(kPairWorkload, PairMemory::SeenRecord::Of("second", 135)));
  EXPECT_EQ(since(), 140U) << "a cache that is behind";
  memory.Wrote(kPairWorkload, PairMemory::SeenRecord::Of("own", 138));
  EXPECT_EQ(since(), 140U) << "the answer to an older write comes late";
  memory.IsNewRecord(kPairWorkload, PairMemory::SeenRecord::Of("fourth", 150));
  memory.ForgetVersions(kPairWorkload);
  EXPECT_EQ(since(), 0U);
}

}  // namespace
}  // namespace kubexx::reloader
