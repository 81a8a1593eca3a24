#include "kubexx/reloader/history/rollout_ends.h"

#include <gtest/gtest.h>

#include <string>

#include "kubexx/reloader/history/history.h"
#include "kubexx/reloader/model/annotations.h"

namespace kubexx::reloader {
namespace {

using reloadpolicy::Phase;

/// One that says when the last rollout began.
std::string HistoryText(int number) {
  return History{.owner = "u", .rollouts = {{.at = {.seconds = number}}}}.ToString();
}

Workload AtTemplate(int number, Phase phase) {
  Workload workload{.id = {WorkloadKind::kStatefulSet, {"ns", "db"}},
                    .uid = "u",
                    .template_version = {.generation = number, .digest = std::to_string(number)},
                    .phase = phase};
  workload.annotations[std::string(kHistoryAnnotation)] = HistoryText(number);
  return workload;
}

TEST(RolloutEnds, TellWhenTheRolloutThatWasSeenHasEnded) {
  RolloutEnds ends;
  const WorkloadId id = AtTemplate(1, Phase::kComplete).id;
  ends.Observe(AtTemplate(1, Phase::kComplete), AtTemplate(2, Phase::kUnseen), {.seconds = 10});
  EXPECT_FALSE(ends.EndOf(id));
  ends.Observe(AtTemplate(2, Phase::kUnseen), AtTemplate(2, Phase::kUpdating), {.seconds = 11});
  ends.Observe(AtTemplate(2, Phase::kUpdating), AtTemplate(2, Phase::kComplete), {.seconds = 20});
  EXPECT_EQ(ends.EndOf(id), (RolloutEnd{.time = {.seconds = 20}}));
  // When a pod fails later, that is not a rollout.
  ends.Observe(AtTemplate(2, Phase::kComplete), AtTemplate(2, Phase::kUnavailable),
               {.seconds = 30});
  ends.Observe(AtTemplate(2, Phase::kUnavailable), AtTemplate(2, Phase::kComplete),
               {.seconds = 40});
  EXPECT_EQ(ends.EndOf(id), (RolloutEnd{.time = {.seconds = 20}}));
  ends.Observe(AtTemplate(2, Phase::kComplete), AtTemplate(3, Phase::kUnseen), {.seconds = 50});
  EXPECT_FALSE(ends.EndOf(id));
}

TEST(RolloutEnds, TellNothingOfARolloutWhoseBeginWasNotSeen) {
  RolloutEnds ends;
  ends.Observe(AtTemplate(2, Phase::kUpdating), AtTemplate(2, Phase::kComplete), {.seconds = 20});
  EXPECT_FALSE(ends.EndOf(AtTemplate(2, Phase::kComplete).id));
}

TEST(RolloutEnds, CountOneThatFailedAndGotWellFromItsGoodEnd) {
  RolloutEnds ends;
  const WorkloadId id = AtTemplate(1, Phase::kComplete).id;
  ends.Observe(AtTemplate(1, Phase::kComplete), AtTemplate(2, Phase::kUnseen), {.seconds = 10});
  ends.Observe(AtTemplate(2, Phase::kUnseen), AtTemplate(2, Phase::kFailed), {.seconds = 20});
  EXPECT_EQ(ends.EndOf(id), (RolloutEnd{.time = {.seconds = 20}, .has_failed = true}));
  ends.Observe(AtTemplate(2, Phase::kFailed), AtTemplate(2, Phase::kComplete), {.seconds = 30});
  EXPECT_EQ(ends.EndOf(id), (RolloutEnd{.time = {.seconds = 30}}));
  ends.Forget(id);
  EXPECT_FALSE(ends.EndOf(id));
}

TEST(RolloutEnds, AreThoseOfTheOperatorsRolloutsWhateverOthersRollOut) {
  RolloutEnds ends;
  const WorkloadId id = AtTemplate(1, Phase::kComplete).id;
  ends.Observe(AtTemplate(1, Phase::kComplete), AtTemplate(2, Phase::kUnseen), {.seconds = 10});
  ends.Observe(AtTemplate(2, Phase::kUnseen), AtTemplate(2, Phase::kFailed), {.seconds = 20});
  const auto release = [](int number, Phase phase) {
    Workload workload = AtTemplate(number, phase);
    workload.annotations[std::string(kHistoryAnnotation)] = HistoryText(2);
    return workload;
  };
  ends.Observe(AtTemplate(2, Phase::kFailed), release(3, Phase::kUnseen), {.seconds = 500});
  ends.Observe(release(3, Phase::kUnseen), release(3, Phase::kComplete), {.seconds = 520});
  EXPECT_EQ(ends.EndOf(id), (RolloutEnd{.time = {.seconds = 20}, .has_failed = true}));
  // Nor is the end of a release that of a rollout that it has overtaken.
  ends.Observe(release(3, Phase::kComplete), AtTemplate(4, Phase::kUnseen), {.seconds = 600});
  Workload overtaking = AtTemplate(5, Phase::kUnseen);
  overtaking.annotations[std::string(kHistoryAnnotation)] = HistoryText(4);
  ends.Observe(AtTemplate(4, Phase::kUnseen), overtaking, {.seconds = 610});
  Workload through = overtaking;
  through.phase = Phase::kComplete;
  ends.Observe(overtaking, through, {.seconds = 620});
  EXPECT_FALSE(ends.EndOf(id));
}

// An undo brings back the history of the revision before, too.
TEST(RolloutEnds, AreNotThoseOfUndos) {
  RolloutEnds ends;
  const WorkloadId id = AtTemplate(1, Phase::kComplete).id;
  ends.Observe(AtTemplate(1, Phase::kComplete), AtTemplate(2, Phase::kUnseen), {.seconds = 10});
  Workload undone = AtTemplate(3, Phase::kComplete);
  undone.annotations[std::string(kHistoryAnnotation)] = HistoryText(1);
  ends.Observe(AtTemplate(2, Phase::kUnseen), undone, {.seconds = 20});
  EXPECT_FALSE(ends.EndOf(id));
}

TEST(RolloutEnds, AreNotKeptOfAWorkloadWithoutHistoryOrOfAnother) {
  RolloutEnds ends;
  Workload bare = AtTemplate(2, Phase::kComplete);
  bare.annotations.clear();
  ends.Observe(AtTemplate(1, Phase::kComplete), bare, {.seconds = 10});
  EXPECT_FALSE(ends.EndOf(bare.id));
  Workload other = AtTemplate(2, Phase::kComplete);
  other.uid = "other";
  ends.Observe(AtTemplate(1, Phase::kComplete), AtTemplate(2, Phase::kComplete), {.seconds = 10});
  ends.Observe(AtTemplate(1, Phase::kComplete), other, {.seconds = 20});
  EXPECT_FALSE(ends.EndOf(other.id));
}

}  // namespace
}  // namespace kubexx::reloader
