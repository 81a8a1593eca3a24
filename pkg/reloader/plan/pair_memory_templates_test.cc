// Tests what a PairMemory concludes from templates that a watch tells of late.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/reloader/model/key_prints.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/plan/baseline.h"
#include "kubexx/reloader/plan/begun_pods.h"
#include "kubexx/reloader/plan/pair_memory.h"

namespace kubexx::reloader {
namespace {

using Kind = PairState::Kind;

const WorkloadId kLateWorkload{WorkloadKind::kDeployment, {"ns", "w"}};
const SourceId kThereAndBack{SourceType::kConfigMap, {"ns", "there-and-back"}};
const Digest kThere = DigestOf("there");
const Digest kBack = DigestOf("back");

KeyPrints PrintsWith(const std::string& key, const std::string& other) {
  api::core::v1::ConfigMap config_map;
  config_map.data = {{"key", key}, {"other", other}};
  return KeyPrintsOf(config_map);
}

/// A plan whose workload has kBack, of which only `keys` count.
Plan PlanWithBack(const std::string& keys) {
  Plan plan;
  plan.learnt = {
      {kThereAndBack, {.kind = Kind::kConfirmed, .digest = kBack, .keys = keys, .prints = {}}}};
  return plan;
}

/// The data change at version 23, and come back at 25. `there`: the prints of the other data.
void GoThereAndBack(PairMemory& memory, const KeyPrints& there) {
  const KeyPrints back = there.packed.empty() ? KeyPrints() : PrintsWith("a", "b");
  memory.RecordChange(
      kLateWorkload, kThereAndBack, kBack,
      Move{.digest = kThere, .version = 23, .prints = there, .prints_before = back});
  memory.RecordChange(kLateWorkload, kThereAndBack, kThere,
                      Move{.digest = kBack, .version = 25, .prints = back, .prints_before = there});
}

/// A plan sees what has been told of.
void LookAt(PairMemory& memory, const std::string& keys) {
  Plan plan = PlanWithBack(keys);
  plan.templates = memory.Get(kLateWorkload).templates;
  plan.seen = memory.Get(kLateWorkload).moves;
  EXPECT_TRUE(memory.Apply(kLateWorkload, plan));
}

Digest BeganThereOrBack(const PairMemory& memory) {
  return memory.Get(kLateWorkload).pairs.at(kThereAndBack).digest;
}

/// A workload of which a plan has found that it has kBack, and a release of it.
void ReleaseAt(PairMemory& memory, std::uint64_t since, std::uint64_t until) {
  memory.TemplateChanged(kLateWorkload,
                         {.since = since, .until = until, .before = "1", .now = "2"});
}

TEST(PairMemoryTemplates, AResumeBeginsThePodsOfATemplateThatWasWrittenDuringThePause) {
  for (const bool is_told_of_all : {false, true}) {
    PairMemory memory;
    memory.TemplateChanged(
        kLateWorkload, {.since = 20, .until = 20, .before = "1", .now = "2", .is_paused = true});
    if (!is_told_of_all) {
      memory.Resumed(kLateWorkload, 0);  // it may have been resumed and paused again
    }
    memory.Resumed(kLateWorkload, 30);
    EXPECT_EQ(memory.Get(kLateWorkload).template_since, is_told_of_all ? 30U : 20U);
  }
}

// Seed 188 of ten minutes and seed 497 of 400 hours of the simulation: a release began pods with
// other data of the key that counts. The watch of workloads told of it when plans had forgotten
// the change.
TEST(PairMemoryTemplates, AReleaseThatIsToldOfLateBeganWithOtherDataOfTheKeysThatCount) {
  for (const std::uint64_t released : {24U, 26U}) {
    SCOPED_TRACE(released);
    PairMemory memory;
    LookAt(memory, "key");
    GoThereAndBack(memory, PrintsWith("another", "b"));
    LookAt(memory, "key");
    LookAt(memory, "key");
    memory.TemplateChanged(kLateWorkload,
                           {.since = released, .until = released, .before = "one", .now = "two"});
    EXPECT_EQ(BeganThereOrBack(memory), released < 25 ? UnknownData() : kBack);
    EXPECT_EQ(memory.Get(kLateWorkload).pairs.at(kThereAndBack).keys, "key");
  }
}

TEST(PairMemoryTemplates, ChangesOfOtherKeysLeaveNoDoubtOfALateRelease) {
  const std::vector<std::pair<KeyPrints, Digest>> cases{
      {PrintsWith("a", "another"), kBack},
      {KeyPrints(), UnknownData()},  // nobody knows of which keys
  };
  for (const auto& [there, began] : cases) {
    PairMemory memory;
    LookAt(memory, "key");
    GoThereAndBack(memory, there);
    LookAt(memory, "key");
    memory.TemplateChanged(kLateWorkload,
                           {.since = 24, .until = 24, .before = "one", .now = "two"});
    EXPECT_EQ(BeganThereOrBack(memory), began);
  }
}

// A list tells of the release, so nobody knows when in between it was made.
TEST(PairMemoryTemplates, AReleaseThatAListTellsOfMayHaveBegunWithWhatChangedMeanwhile) {
  for (const bool is_seen : {false, true}) {
    for (const std::uint64_t until : {22U, 26U}) {
      SCOPED_TRACE(until);
      PairMemory memory;
      LookAt(memory, {});
      GoThereAndBack(memory, {});
      if (is_seen) {
        LookAt(memory, {});
      }
      memory.TemplateChanged(kLateWorkload,
                             {.since = 20, .until = until, .before = "one", .now = "two"});
      const bool is_doubt = is_seen || until > 23;
      EXPECT_EQ(BeganThereOrBack(memory), is_doubt ? UnknownData() : kBack);
    }
  }
}

// Seed 497: a list told of a rollout of this process together with a release since then.
TEST(PairMemoryTemplates, ARolloutThatAListTellsOfMayBeFollowedByAReleaseOfOtherData) {
  const std::vector<Change> changes{{.container = "c",
                                     .variable = "V",
                                     .value = "",
                                     .sources = {{kThereAndBack, kBack}},
                                     .causes = {kThereAndBack}}};
  const auto began_with = [&](std::uint64_t rolled_at, const PairMemory::TemplateChange& change) {
    PairMemory memory;
    memory.RecordChange(kLateWorkload, kThereAndBack, kThere, Move{.digest = kBack, .version = 15});
    memory.BeginWrite(kLateWorkload, changes);
    memory.Confirm(kLateWorkload, changes, true, rolled_at);
    GoThereAndBack(memory, {});
    LookAt(memory, {});
    memory.TemplateChanged(kLateWorkload, change);
    return BeganThereOrBack(memory);
  };
  const PairMemory::TemplateChange by_list{
      .since = 16, .until = 26, .before = "one", .now = "two", .is_own = true};
  EXPECT_EQ(began_with(20, by_list), UnknownData());
  EXPECT_EQ(began_with(26, by_list), kBack) << "the rollout came last";
  PairMemory::TemplateChange only_rollout = by_list;
  only_rollout.stamps = {{"V", kBack.ToString()}};
  EXPECT_EQ(began_with(20, only_rollout), kBack);
  const PairMemory::TemplateChange by_watch{
      .since = 20, .until = 20, .before = "one", .now = "two", .is_own = true};
  EXPECT_EQ(began_with(20, by_watch), kBack);
}

// Seed 851 of ten minutes: a list told of a rollout of this process together with a release and
// with another replica's rollout. The watch of the source was further behind.
TEST(PairMemoryTemplates, ARolloutThatAListTellsOfMayBeFollowedByRolloutsOfOthers) {
  const std::vector<Change> changes{{.sources = {{kThereAndBack, kBack}}}};
  for (const bool is_alone : {false, true}) {
    PairMemory memory;
    memory.RecordChange(kLateWorkload, kThereAndBack, kThere, Move{.digest = kBack, .version = 15});
    memory.BeginWrite(kLateWorkload, changes);
    memory.Confirm(kLateWorkload, changes, true, 20);
    PairMemory::TemplateChange by_list{
        .since = 16, .until = 26, .before = "one", .now = "two", .is_own = true};
    by_list.stamps = is_alone ? std::map<std::string, std::string>{{"V", kBack.ToString()}}
                              : std::map<std::string, std::string>();
    memory.TemplateChanged(kLateWorkload, by_list);
    EXPECT_EQ(memory.Get(kLateWorkload).template_since, 20U);
    EXPECT_EQ(memory.Get(kLateWorkload).template_until, is_alone ? 20U : 26U);
  }
}

// Seed 499 of ten minutes: a list told of the rollouts of this process together with an undo from
// before them, and another list then of a source that had changed before these rollouts.
TEST(PairMemoryTemplates, AListThatTellsOfAnUndoFromBeforeAnOwnRolloutTellsOfYoungerPods) {
  const std::vector<Change> changes{
      {.sources = {{{SourceType::kConfigMap, {"ns", "another"}}, kThere}}}};
  const auto has_of_change_at = [&changes](std::uint64_t version) {
    PairMemory memory;
    LookAt(memory, {});
    memory.BeginWrite(kLateWorkload, changes);
    memory.Confirm(kLateWorkload, changes, true, 30);
    memory.TemplateChanged(kLateWorkload, {.since = 16,
                                           .until = 33,
                                           .before = "one",
                                           .now = "two",
                                           .was_rolled_out = true,
                                           .is_undo = true});
    memory.RecordChange(kLateWorkload, kThereAndBack, kBack,
                        Move{.digest = kThere, .version = version});
    return BeganThereOrBack(memory);
  };
  EXPECT_EQ(has_of_change_at(25), kThere) << "the rollout began pods with it";
  EXPECT_EQ(has_of_change_at(31), UnknownData())
      << "the list may tell of pods that began after it, too";
  EXPECT_EQ(has_of_change_at(34), kBack) << "it came after all that the list tells of";
}

// Seed 178 of 400 hours: a list told of a release, and the watch of the source was further behind.
TEST(PairMemoryTemplates, DataThatGoThereAndBackLateMayBeWhatPodsThatAListTellsOfBeganWith) {
  const auto began_with = [](std::uint64_t since, std::uint64_t until, bool is_planned_between) {
    PairMemory memory;
    LookAt(memory, {});
    memory.TemplateChanged(kLateWorkload,
                           {.since = since, .until = until, .before = "one", .now = "two"});
    memory.RecordChange(kLateWorkload, kThereAndBack, kBack, Move{.digest = kThere, .version = 23});
    if (is_planned_between) {  // and something holds the rollout that is due
      Plan plan;
      plan.templates = memory.Get(kLateWorkload).templates;
      plan.seen = memory.Get(kLateWorkload).moves;
      EXPECT_TRUE(memory.Apply(kLateWorkload, plan));
    }
    memory.RecordChange(kLateWorkload, kThereAndBack, kThere, Move{.digest = kBack, .version = 25});
    return BeganThereOrBack(memory);
  };
  for (const bool is_planned_between : {false, true}) {
    EXPECT_EQ(began_with(20, 24, is_planned_between), UnknownData());
    EXPECT_EQ(began_with(20, 30, is_planned_between), UnknownData());
    EXPECT_EQ(began_with(20, 20, is_planned_between), kBack) << "a watch tells when";
    EXPECT_EQ(began_with(20, 22, is_planned_between), kBack) << "both came later";
    EXPECT_EQ(began_with(26, 30, is_planned_between), kBack) << "both came before";
  }
}

// Under the keys that count, the data are as before.
TEST(PairMemoryTemplates, LateDataThatDifferUnderOtherKeysOnlyRaiseNoDoubt) {
  for (const char* keys : {"key", "other"}) {
    PairMemory memory;
    LookAt(memory, keys);
    memory.TemplateChanged(kLateWorkload,
                           {.since = 20, .until = 30, .before = "one", .now = "two"});
    GoThereAndBack(memory, PrintsWith("a", "c"));
    EXPECT_EQ(BeganThereOrBack(memory), std::string(keys) == "key" ? kBack : UnknownData());
  }
}

// Pods of the former template live on beside those that began while the data were others.
TEST(PairMemoryTemplates, ATemplateThatAListTellsToHaveGoneBackMixesPodsOfDataInBetween) {
  for (const std::uint64_t until : {22U, 24U}) {
    for (const bool is_seen : {false, true}) {
      PairMemory memory;
      LookAt(memory, {});
      memory.TemplateChanged(
          kLateWorkload,
          {.since = 20, .until = 20, .before = "one", .now = "two", .was_rolled_out = false});
      GoThereAndBack(memory, {});
      if (is_seen) {
        LookAt(memory, {});
      }
      memory.TemplateChanged(
          kLateWorkload,
          {.since = 21, .until = until, .before = "two", .now = "one", .was_rolled_out = false});
      EXPECT_EQ(BeganThereOrBack(memory), is_seen || until > 23 ? UnknownData() : kBack);
    }
  }
}

// They exist, and wait for nodes and images.
TEST(PairMemoryTemplates, PodsThatAreBeingAddedBeginUntilAnEventSaysThatNoneDo) {
  using PodsBegin = PairMemory::PodsBegin;
  PairMemory memory;
  LookAt(memory, {});
  const auto begin = [&](PodsBegin told) {
    memory.NotePods(kLateWorkload, told);
    return memory.Get(kLateWorkload).pods_begin;
  };
  EXPECT_TRUE(begin(PodsBegin::kAdded));
  EXPECT_TRUE(begin(PodsBegin::kYes)) << "not all of them exist";
  EXPECT_TRUE(begin(PodsBegin::kOnlyAdded)) << "not all of them are available";
  EXPECT_TRUE(begin(PodsBegin::kOnlyAdded)) << "somebody has written an annotation";
  EXPECT_FALSE(begin(PodsBegin::kNo));
  EXPECT_TRUE(begin(PodsBegin::kYes)) << "a rollout";
  EXPECT_FALSE(begin(PodsBegin::kOnlyAdded)) << "all pods of the rollout have begun";
}

TEST(PairMemoryTemplates, TheTemplateOfACronJobBeginsNothing) {
  PairMemory memory;
  LookAt(memory, {});
  GoThereAndBack(memory, {});
  LookAt(memory, {});
  memory.TemplateChanged(kLateWorkload, {.since = 0, .until = 24, .before = "one", .now = "two"});
  EXPECT_EQ(BeganThereOrBack(memory), kBack);
}

TEST(PairMemoryTemplates, PodsThatBeginDuringUnseenWritesMayHaveOtherData) {
  PairMemory memory;
  EXPECT_FALSE(memory.RecordUnseenWrites(kLateWorkload, kThereAndBack, {.from = 10, .to = 20}))
      << "nothing is known";
  LookAt(memory, "");
  ReleaseAt(memory, 15, 15);
  EXPECT_TRUE(memory.RecordUnseenWrites(kLateWorkload, kThereAndBack, {.from = 10, .to = 20}));
  EXPECT_TRUE(MayHaveBegunUnseen(memory.Get(kLateWorkload), kThereAndBack));
  ReleaseAt(memory, 30, 30);
  EXPECT_FALSE(MayHaveBegunUnseen(memory.Get(kLateWorkload), kThereAndBack));
  EXPECT_TRUE(memory.Get(kLateWorkload).unseen_writes.empty()) << "they do not matter any more";
  EXPECT_FALSE(memory.RecordUnseenWrites(kLateWorkload, kThereAndBack, {.from = 10, .to = 20}));
  EXPECT_TRUE(memory.Get(kLateWorkload).unseen_writes.empty());
}

TEST(PairMemoryTemplates, AReleaseThatIsToldOfAfterUnseenWritesMayHaveBegunDuringThem) {
  PairMemory memory;
  LookAt(memory, "");
  EXPECT_FALSE(memory.RecordUnseenWrites(kLateWorkload, kThereAndBack, {.from = 10, .to = 20}));
  EXPECT_FALSE(memory.RecordUnseenWrites(kLateWorkload, kThereAndBack, {.from = 25, .to = 30}))
      << "a watch has told of what was between the two";
  LookAt(memory, "");
  ReleaseAt(memory, 12, 14);
  EXPECT_TRUE(MayHaveBegunUnseen(memory.Get(kLateWorkload), kThereAndBack));
}

TEST(PairMemoryTemplates, WhatAPlanHasFoundOutOfUnseenWritesIsOver) {
  PairMemory memory;
  LookAt(memory, "");
  ReleaseAt(memory, 15, 15);
  memory.RecordUnseenWrites(kLateWorkload, kThereAndBack, {.from = 10, .to = 20});
  Plan plan = PlanWithBack("");
  plan.templates = memory.Get(kLateWorkload).templates;
  plan.judged_writes = memory.Get(kLateWorkload).unseen_writes;
  memory.RecordUnseenWrites(kLateWorkload, kThereAndBack, {.from = 20, .to = 22});
  EXPECT_TRUE(memory.Apply(kLateWorkload, plan));
  EXPECT_TRUE(MayHaveBegunUnseen(memory.Get(kLateWorkload), kThereAndBack))
      << "the plan has not seen all of them";
  plan.judged_writes = memory.Get(kLateWorkload).unseen_writes;
  EXPECT_TRUE(memory.Apply(kLateWorkload, plan));
  EXPECT_FALSE(MayHaveBegunUnseen(memory.Get(kLateWorkload), kThereAndBack));
}

TEST(PairMemoryTemplates, AnOwnRolloutAfterUnseenWritesEndsThem) {
  PairMemory memory;
  LookAt(memory, "");
  ReleaseAt(memory, 15, 15);
  memory.RecordUnseenWrites(kLateWorkload, kThereAndBack, {.from = 10, .to = 20});
  const std::vector<Change> changes{{.sources = {{kThereAndBack, kBack}}}};
  memory.BeginWrite(kLateWorkload, changes);
  memory.Confirm(kLateWorkload, changes, true, 30);
  EXPECT_TRUE(memory.Get(kLateWorkload).unseen_writes.empty());
}

// Seed 166 of ten minutes: nobody led when the template changed.
TEST(PairMemoryTemplates, InAnotherTenureARecordFromBeforeTheTemplateIsNoNews) {
  PairMemory memory;
  memory.BeginTenure(kLateWorkload, 1);
  memory.IsNewRecord(kLateWorkload, PairMemory::SeenRecord::Of("theirs", 20));
  memory.RecordChange(kLateWorkload, kThereAndBack, kBack, Move{kThere, 23});
  ReleaseAt(memory, 24, 24);
  memory.RecordChange(kLateWorkload, kThereAndBack, kThere, Move{kBack, 25});
  memory.BeginTenure(kLateWorkload, 2);
  EXPECT_EQ(BeganThereOrBack(memory), kThere);
  const auto is_ahead = [&] {
    return memory.Get(kLateWorkload).pairs.at(kThereAndBack).is_ahead_of_record;
  };
  EXPECT_TRUE(is_ahead());
  memory.IsNewRecord(kLateWorkload, PairMemory::SeenRecord::Of("later", 30));
  EXPECT_FALSE(is_ahead());
}

}  // namespace
}  // namespace kubexx::reloader
