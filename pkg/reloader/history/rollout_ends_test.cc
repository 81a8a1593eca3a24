#include "kubexx/reloader/history/rollout_ends.h"

#include <gtest/gtest.h>

#include "kubexx/reloader/model/annotations.h"

namespace kubexx::reloader {
namespace {

using reloadpolicy::Phase;

Workload AtTemplate(int number, Phase phase) {
  Workload workload{.id = {WorkloadKind::kStatefulSet, {"ns", "db"}},
                    .uid = "u",
                    .template_version = {.generation = number, .digest = std::to_string(number)},
                    .phase = phase};
  workload.annotations[std::string(kHistoryAnnotation)] = "{}";
  return workload;
}

TEST(RolloutEnds, TellWhenTheRolloutThatWasSeenHasEnded) {
  RolloutEnds ends;
  const WorkloadId id = AtTemplate(1, Phase::kComplete).id;
  ends.Observe(AtTemplate(1, Phase::kComplete), AtTemplate(2, Phase::kUnseen), {.seconds = 10});
  EXPECT_FALSE(ends.EndOf(id));
  ends.Observe(AtTemplate(2, Phase::kUnseen), AtTemplate(2, Phase::kUpdating), {.seconds = 11});
  ends.Observe(AtTemplate(2, Phase::kUpdating), AtTemplate(2, Phase::kComplete), {.seconds = 20});
  EXPECT_EQ(ends.EndOf(id), (apimachinery::Time{.seconds = 20}));
  // When a pod fails later, that is not a rollout.
  ends.Observe(AtTemplate(2, Phase::kComplete), AtTemplate(2, Phase::kUnavailable),
               {.seconds = 30});
  ends.Observe(AtTemplate(2, Phase::kUnavailable), AtTemplate(2, Phase::kComplete),
               {.seconds = 40});
  EXPECT_EQ(ends.EndOf(id), (apimachinery::Time{.seconds = 20}));
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
  EXPECT_EQ(ends.EndOf(id), (apimachinery::Time{.seconds = 20}));
  ends.Observe(AtTemplate(2, Phase::kFailed), AtTemplate(2, Phase::kComplete), {.seconds = 30});
  EXPECT_EQ(ends.EndOf(id), (apimachinery::Time{.seconds = 30}));
  ends.Forget(id);
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
