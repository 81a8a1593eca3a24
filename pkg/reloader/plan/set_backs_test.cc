#include "kubexx/reloader/plan/set_backs.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::reloader {
namespace {

const WorkloadId kSetBackWeb{WorkloadKind::kDeployment, {"ns", "web"}};

std::vector<Change> ForData(const std::string& value) {
  return {{.container = "app", .variable = "V", .value = value}};
}

TEST(SetBacks, ARolloutIsMadeAgainAtOnceAndThenEverMoreRarely) {
  base::testing::FakeClock clock;
  SetBacks set_backs(clock);
  const auto wait = [&] { return set_backs.Ask(kSetBackWeb, ForData("one")).wait; };
  EXPECT_EQ(wait(), base::Duration(0)) << "nothing was set back";
  set_backs.SetBack(kSetBackWeb);
  EXPECT_EQ(wait(), base::Duration(0));
  set_backs.SetBack(kSetBackWeb);
  EXPECT_EQ(wait(), SetBacks::kFirst);
  clock.Advance(SetBacks::kFirst);
  EXPECT_EQ(wait(), base::Duration(0));
  set_backs.SetBack(kSetBackWeb);
  EXPECT_EQ(wait(), 2 * SetBacks::kFirst);
  for (int i = 0; i < 50; ++i) {
    set_backs.SetBack(kSetBackWeb);
  }
  EXPECT_EQ(wait(), SetBacks::kMost);
}

TEST(SetBacks, OtherDataDoNotWait) {
  base::testing::FakeClock clock;
  SetBacks set_backs(clock);
  for (int i = 0; i < 3; ++i) {
    set_backs.SetBack(kSetBackWeb);
    set_backs.Ask(kSetBackWeb, ForData("one"));
  }
  EXPECT_EQ(set_backs.Ask(kSetBackWeb, ForData("two")).wait, base::Duration(0));
  set_backs.SetBack(kSetBackWeb);
  EXPECT_EQ(set_backs.Ask(kSetBackWeb, ForData("two")).wait, SetBacks::kFirst);
}

TEST(SetBacks, WhoKeepsDoingItIsToldOnce) {
  base::testing::FakeClock clock;
  SetBacks set_backs(clock);
  int told = 0;
  for (int i = 0; i < 10; ++i) {
    set_backs.SetBack(kSetBackWeb);
    told += set_backs.Ask(kSetBackWeb, ForData("one")).is_fought ? 1 : 0;
    EXPECT_EQ(told, i < 2 ? 0 : 1);
  }
}

TEST(SetBacks, AreForgotten) {
  base::testing::FakeClock clock;
  SetBacks set_backs(clock);
  const WorkloadId other{WorkloadKind::kDeployment, {"ns", "other"}};
  set_backs.SetBack(kSetBackWeb);
  clock.Advance(std::chrono::hours(2));
  set_backs.SetBack(other);
  EXPECT_EQ(set_backs.size(), 1U);
  set_backs.Forget(other);
  EXPECT_EQ(set_backs.size(), 0U);
}

}  // namespace
}  // namespace kubexx::reloader
