#include "kubexx/reloadpolicy/wave_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace kubexx::reloadpolicy {
namespace {

using ::testing::ElementsAre;

ObjectRef LinedUp(const std::string& name, const std::string& kind = "Deployment") {
  return {kind, {"shop", name}};
}

std::vector<WaveMember> NamedMembers(const std::vector<std::string>& names) {
  std::vector<WaveMember> members;
  for (const std::string& name : names) {
    members.push_back({.workload = LinedUp(name)});
  }
  return members;
}

/// The names of the workloads in each wave, which commas separate.
std::vector<std::string> NamesIn(const WaveLine& line) {
  std::vector<std::string> waves(line.waves());
  for (const WaveMember& member : line.members()) {
    std::string& wave = waves[line.WaveOf(member.workload)];
    wave += (wave.empty() ? "" : ",") + member.workload.key.name;
  }
  return waves;
}

TEST(WaveLine, SizesAreTakenInTurnAndTheRestIsTheLast) {
  const WaveLine line({.sizes = {{.count = 1}, {.percent = 34}}},
                      NamedMembers({"e", "d", "c", "b", "a"}));
  EXPECT_THAT(NamesIn(line), ElementsAre("a", "b,c", "d,e")) << "34% of 5, rounded up, are 2";
  EXPECT_EQ(line.MembersBefore(0), 0U);
  EXPECT_EQ(line.MembersBefore(2), 3U);
  EXPECT_EQ(line.WaveOf(LinedUp("z")), 2U) << "who is not in the line is of the last wave";
}

TEST(WaveLine, CanariesAreAWaveOfTheirOwnAndBeforeLowerOrders) {
  std::vector<WaveMember> members = NamedMembers({"a", "b", "c"});
  members[0].order = 5;
  members[2].order = 7;
  members[2].is_canary = true;
  EXPECT_THAT(NamesIn(WaveLine({.canaries = {"c"}, .sizes = {{.count = 1}}}, members)),
              ElementsAre("c", "b", "a"));
}

TEST(WaveLine, WhoTellsNothingIsInTheLastWaveUnlessItIsACanary) {
  std::vector<WaveMember> members = NamedMembers({"a", "b", "c", "d"});
  members[0].tells = false;
  members[1].tells = false;
  members[1].is_canary = true;
  EXPECT_THAT(NamesIn(WaveLine({.sizes = {{.count = 1}, {.percent = 100}}}, members)),
              ElementsAre("b", "c", "d", "a"));
}

TEST(WaveLine, WavesWithoutMembersAreLeftOut) {
  EXPECT_THAT(NamesIn(WaveLine({.canaries = {"x"}, .sizes = {{.count = 2}, {.count = 9}}},
                               NamedMembers({"a", "b"}))),
              ElementsAre("a,b"));
  const WaveLine empty({.sizes = {{.count = 2}}}, {});
  EXPECT_EQ(empty.waves(), 1U);
  EXPECT_EQ(empty.WaveOf(LinedUp("a")), 0U);
  EXPECT_EQ(empty.MembersBefore(0), 0U);
}

TEST(WaveLine, AMemberIsACanaryByItsAnnotationOrByThePolicy) {
  Effective effective;
  effective.waves = Setting<Waves>{{.canaries = {"can*", "StatefulSet/db"}}, "p"};
  const auto is_canary = [&](const ObjectRef& ref, const Annotations& own = {}) {
    return WaveMemberFor(ref, own, effective, Phase::kComplete).is_canary;
  };
  EXPECT_TRUE(is_canary(LinedUp("canary")));
  EXPECT_TRUE(is_canary(LinedUp("db", "StatefulSet")));
  EXPECT_FALSE(is_canary(LinedUp("db")));
  EXPECT_TRUE(is_canary(LinedUp("db"), {{std::string(kCanaryAnnotation), "true"}}));
  EXPECT_FALSE(is_canary(LinedUp("db"), {{std::string(kCanaryAnnotation), "yes"}}));
}

TEST(WaveLine, WithoutPodsOrAStatusAWorkloadTellsNothing) {
  const auto tells = [](const std::string& kind, Phase phase) {
    return WaveMemberFor(LinedUp("a", kind), {}, {}, phase).tells;
  };
  EXPECT_TRUE(tells("Deployment", Phase::kUnavailable));
  EXPECT_FALSE(tells("Deployment", Phase::kWithoutPods));
  EXPECT_FALSE(tells("CronJob", Phase::kComplete));
}

}  // namespace
}  // namespace kubexx::reloadpolicy
