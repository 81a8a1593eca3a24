#include "kubexx/reloader/pair_memory.h"

#include <gtest/gtest.h>

namespace kubexx::reloader {
namespace {

using Kind = PairState::Kind;

const WorkloadId kWorkload{WorkloadKind::kDeployment, {"ns", "w"}};
const SourceId kSource{SourceType::kConfigMap, {"ns", "s"}};
const Digest kOld = DigestOf("old");
const Digest kNew = DigestOf("new");

std::vector<Change> ChangeTo(const Digest& digest) {
  return {{.container = "c",
           .variable = "V",
           .value = "",
           .sources = {{kSource, digest}},
           .causes = {kSource}}};
}

TEST(PairMemory, KeepsTheOldestUnactedState) {
  PairMemory memory;
  memory.RecordChange(kWorkload, kSource, kOld);
  memory.RecordChange(kWorkload, kSource, kNew);
  EXPECT_EQ(memory.Get(kWorkload).pairs.at(kSource), (PairState{Kind::kObserved, kOld}));
}

TEST(PairMemory, AWriteIsUncertainUntilConfirmed) {
  PairMemory memory;
  memory.Confirm(kWorkload, ChangeTo(kOld));
  EXPECT_EQ(memory.Get(kWorkload).pairs.at(kSource), (PairState{Kind::kConfirmed, kOld}));
  memory.BeginWrite(kWorkload, ChangeTo(kNew));
  EXPECT_EQ(memory.Get(kWorkload).pairs.at(kSource), (PairState{Kind::kUncertain, kOld}));
  memory.Confirm(kWorkload, ChangeTo(kNew));
  EXPECT_EQ(memory.Get(kWorkload).pairs.at(kSource), (PairState{Kind::kConfirmed, kNew}));
}

TEST(PairMemory, AppliesPlansAndForgets) {
  PairMemory memory;
  Plan plan;
  plan.learnt = {{kSource, {Kind::kConfirmed, kOld}}};
  memory.Apply(kWorkload, plan);
  EXPECT_TRUE(memory.Get(kWorkload).pairs.contains(kSource));
  EXPECT_EQ(memory.size(), 1U);
  plan.learnt.clear();
  plan.dropped = {kSource};
  memory.Apply(kWorkload, plan);
  EXPECT_TRUE(memory.Get(kWorkload).pairs.empty());
  memory.RecordChange(kWorkload, kSource, kOld);
  memory.Forget(kWorkload);
  EXPECT_EQ(memory.size(), 0U);
}

TEST(PairMemory, AWorkloadIsNewUntilItHasBeenPlannedWithoutAChange) {
  PairMemory memory;
  memory.MarkNew(kWorkload);
  Plan plan;
  plan.changes = ChangeTo(kNew);
  memory.Apply(kWorkload, plan);
  EXPECT_TRUE(memory.Get(kWorkload).is_new) << "the write may fail";
  memory.Confirm(kWorkload, plan.changes);
  EXPECT_FALSE(memory.Get(kWorkload).is_new);
  memory.MarkNew(kWorkload);
  memory.Apply(kWorkload, {});
  EXPECT_FALSE(memory.Get(kWorkload).is_new);
}

}  // namespace
}  // namespace kubexx::reloader
