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
  EXPECT_EQ(memory.Get(kWorkload).at(kSource), (PairState{Kind::kObserved, kOld}));
}

TEST(PairMemory, AWriteIsUncertainUntilConfirmed) {
  PairMemory memory;
  memory.Confirm(kWorkload, ChangeTo(kOld));
  EXPECT_EQ(memory.Get(kWorkload).at(kSource), (PairState{Kind::kConfirmed, kOld}));
  memory.BeginWrite(kWorkload, ChangeTo(kNew));
  EXPECT_EQ(memory.Get(kWorkload).at(kSource), (PairState{Kind::kUncertain, kOld}));
  memory.Confirm(kWorkload, ChangeTo(kNew));
  EXPECT_EQ(memory.Get(kWorkload).at(kSource), (PairState{Kind::kConfirmed, kNew}));
}

TEST(PairMemory, AppliesPlansAndForgets) {
  PairMemory memory;
  Plan plan;
  plan.confirmed = {{kSource, kOld}};
  memory.Apply(kWorkload, plan);
  EXPECT_TRUE(memory.Get(kWorkload).contains(kSource));
  EXPECT_EQ(memory.size(), 1U);
  plan.confirmed.clear();
  plan.dropped = {kSource};
  memory.Apply(kWorkload, plan);
  EXPECT_TRUE(memory.Get(kWorkload).empty());
  memory.RecordChange(kWorkload, kSource, kOld);
  memory.Forget(kWorkload);
  EXPECT_EQ(memory.size(), 0U);
}

}  // namespace
}  // namespace kubexx::reloader
