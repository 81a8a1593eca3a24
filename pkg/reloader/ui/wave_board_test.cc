#include "kubexx/reloader/ui/wave_board.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubexx/reloader/model/object_refs.h"
#include "kubexx/reloadpolicy/rolled_data.h"

namespace kubexx::reloader {
namespace {

using reloadpolicy::Phase;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kWaveDigest[] = "0123456789abcdef0123456789abcdef01234567";
const SourceId kWaveSource{SourceType::kConfigMap, {"shop", "settings"}};

class WaveBoardTest : public ::testing::Test {
 protected:
  enum class Is { kDone, kRolling, kFailed, kDue };

  /// Notes a workload of the policy shop/careful, whose waves are two workloads and the rest.
  void Note(const std::string& name, Is what) {
    Workload workload{.id = {WorkloadKind::kDeployment, {"shop", name}},
                      .uid = "uid-" + name,
                      .phase = what == Is::kRolling  ? Phase::kUpdating
                               : what == Is::kFailed ? Phase::kFailed
                                                     : Phase::kComplete};
    if (what != Is::kDue) {
      workload.annotations[std::string(reloadpolicy::kRolledDataAnnotation)] = reloadpolicy::TextOf(
          {.versions = {reloadpolicy::DataVersion(RefOf(kWaveSource), kWaveDigest)}}, workload.uid);
    }
    Explanation explanation{.workload = workload.id, .due = what == Is::kDue};
    explanation.sources.push_back({.id = kWaveSource,
                                   .exists = true,
                                   .verdict = Verdict::kAuto,
                                   .container = "app",
                                   .digest = kWaveDigest,
                                   .due = what == Is::kDue});
    reloadpolicy::Effective effective;
    effective.waves = {.value = {.sizes = {{.count = 2}}},
                       .policy = reloadpolicy::PolicyId{"shop", "careful"}};
    board_.Note(workload, explanation, effective);
  }
  /// What is under way, as "done/rolling/failed/waiting" of each wave.
  std::vector<std::string> Waves() const {
    std::vector<std::string> waves;
    for (const auto& [policy, lines] : board_.UnderWay()) {
      EXPECT_EQ(policy.ToString(), "shop/careful");
      for (const codec::JsonTree& line : lines.elements()) {
        EXPECT_EQ(line.TextAt("name"), "settings");
        EXPECT_EQ(line.TextAt("digest"), "0123456789ab");
        for (const codec::JsonTree& wave : line.Find("waves")->elements()) {
          waves.push_back(wave.Find("done")->ToJson() + "/" + wave.Find("rolling")->ToJson() + "/" +
                          wave.Find("failed")->ToJson() + "/" + wave.Find("waiting")->ToJson());
        }
      }
    }
    return waves;
  }

  WaveBoard board_;
};

TEST_F(WaveBoardTest, CountsTheWorkloadsOfEachWave) {
  Note("a", Is::kDone);
  Note("b", Is::kRolling);
  Note("c", Is::kDue);
  Note("d", Is::kDue);
  EXPECT_THAT(Waves(), ElementsAre("1/1/0/0", "0/0/0/2"));
  Note("b", Is::kFailed);
  EXPECT_THAT(Waves(), ElementsAre("1/0/1/0", "0/0/0/2"));
}

TEST_F(WaveBoardTest, WhatIsDoneIsNotUnderWay) {
  Note("a", Is::kDone);
  Note("b", Is::kDone);
  EXPECT_THAT(Waves(), IsEmpty());
  Note("c", Is::kDue);
  EXPECT_THAT(Waves(), ElementsAre("2/0/0/0", "0/0/0/1"));
  board_.Forget({WorkloadKind::kDeployment, {"shop", "c"}});
  EXPECT_THAT(Waves(), IsEmpty());
}

}  // namespace
}  // namespace kubexx::reloader
