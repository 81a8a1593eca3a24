#include "kubexx/reloader/policy/trouble_reporter.h"

#include <gmock/gmock.h>

#include <chrono>
#include <string>

namespace kubexx::reloader {
namespace {

using reloadpolicy::HoldReason;
using std::chrono::minutes;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class TroubleReporterTest : public testing::Test, public TroubleObserver {
 protected:
  void OnTrouble(const RolloutTrouble& trouble) override {
    told_.push_back(trouble.message);
    last_ = trouble;
  }

  /// Returns the state of a policy because of which Deployment ns/web has waited since the
  /// beginning.
  static PolicyState Holding(HoldReason reason) {
    PolicyState state{.id = {"ns", "gentle"}, .pending = 3};
    const PolicyState::Waiting web{.workload = {"Deployment", {"ns", "web"}},
                                   .hold = {.reason = reason, .message = "why"},
                                   .since = base::WallTime()};
    state.listed.push_back(web);
    if (IsForOthers(reason)) {
      state.longest_for_others = web;
    }
    return state;
  }
  static base::WallTime At(minutes time) { return base::WallTime(time); }

  std::vector<std::string> told_;
  RolloutTrouble last_;
  TroubleReporter reporter_{{this}};
};

TEST_F(TroubleReporterTest, AStopIsToldOnceWhenItLasts) {
  const PolicyState well{.id = {"ns", "gentle"}};
  PolicyState stopped = well;
  stopped.stopped = true;
  stopped.failed = 2;
  reporter_.Look({stopped}, At(minutes(0)));
  reporter_.Look({well}, At(minutes(0)));
  EXPECT_THAT(told_, IsEmpty()) << "what failures there are may not be known yet";
  for (int look = 0; look < 5; ++look) {
    reporter_.Look({stopped}, At(minutes(0)));
  }
  EXPECT_THAT(told_, ElementsAre(HasSubstr("because of ReloadPolicy *ns/gentle*: 2 failed")));
  reporter_.Look({well}, At(minutes(0)));
  reporter_.Look({stopped}, At(minutes(0)));
  reporter_.Look({stopped}, At(minutes(0)));
  EXPECT_EQ(told_.size(), 2U) << "it stopped again";
}

TEST_F(TroubleReporterTest, AFailedWaveIsToldOnceWhenItLasts) {
  const PolicyState well{.id = {"ns", "gentle"}};
  PolicyState failed = well;
  failed.failed_waves = 1;
  failed.failed_in_waves.push_back(
      {.workload = {"Deployment", {"ns", "web"}}, .data = {"ConfigMap/config=1"}});
  reporter_.Look({failed}, At(minutes(0)));
  EXPECT_THAT(told_, IsEmpty());
  for (int look = 0; look < 5; ++look) {
    reporter_.Look({failed}, At(minutes(0)));
  }
  EXPECT_THAT(told_, ElementsAre(HasSubstr("a wave has failed under ReloadPolicy *ns/gentle*: "
                                           "*Deployment/ns/web* for ConfigMap/config")));
  reporter_.Look({well}, At(minutes(0)));
  reporter_.Look({failed}, At(minutes(0)));
  reporter_.Look({failed}, At(minutes(0)));
  EXPECT_EQ(told_.size(), 2U) << "another one failed";
}

TEST_F(TroubleReporterTest, ALongWaitForOthersIsToldOnce) {
  for (const HoldReason reason : {HoldReason::kLimit, HoldReason::kUnhealthy, HoldReason::kOrder}) {
    told_.clear();
    reporter_.Look({Holding(reason)}, At(minutes(59)));
    EXPECT_THAT(told_, IsEmpty());
    reporter_.Look({Holding(reason)}, At(minutes(60)));
    reporter_.Look({Holding(reason)}, At(minutes(70)));
    EXPECT_THAT(told_, ElementsAre(HasSubstr("ns/gentle*, 3 in all: *Deployment/ns/web*: ")));
    reporter_.Look({PolicyState{.id = {"ns", "gentle"}}}, At(minutes(71)));
  }
}

TEST_F(TroubleReporterTest, OneThatIsNotListedIsFound) {
  PolicyState state = Holding(HoldReason::kLimit);
  state.listed.clear();
  reporter_.Look({state}, At(minutes(60)));
  EXPECT_THAT(told_, ElementsAre(HasSubstr("*Deployment/ns/web*: ConcurrencyLimit")));
}

TEST_F(TroubleReporterTest, SaysWhomItIsAbout) {
  PolicyState state = Holding(HoldReason::kLimit);
  state.longest_for_others->hold.message = "window 0 2 * * *";
  reporter_.Look({state}, At(minutes(60)));
  EXPECT_EQ(last_.reason, "RolloutsWait");
  EXPECT_FALSE(last_.is_bad);
  EXPECT_EQ(last_.policy, (reloadpolicy::PolicyId{"ns", "gentle"}));
  EXPECT_EQ(last_.workload, (WorkloadId{WorkloadKind::kDeployment, {"ns", "web"}}));
  EXPECT_THAT(last_.plain, HasSubstr("ReloadPolicy ns/gentle, 3 in all: Deployment/ns/web: "
                                     "ConcurrencyLimit: window 0 2 * * *"));

  PolicyState stopped{.id = {"", "all"}, .failed = 2, .stopped = true};
  stopped.failed_waves = 1;
  stopped.failed_in_waves.push_back(
      {.workload = {"Deployment", {"ns", "api"}}, .data = {"ConfigMap/config=1"}});
  reporter_.Look({stopped}, At(minutes(60)));
  reporter_.Look({stopped}, At(minutes(60)));
  EXPECT_EQ(last_.reason, "WaveFailed");
  EXPECT_TRUE(last_.is_bad);
  EXPECT_EQ(last_.policy, (reloadpolicy::PolicyId{"", "all"}));
  EXPECT_EQ(last_.workload->key.name, "api");
  EXPECT_THAT(told_, testing::Contains(HasSubstr("because of ClusterReloadPolicy *all*: 2")));
}

TEST_F(TroubleReporterTest, AWishIsNoTrouble) {
  for (const HoldReason reason : {HoldReason::kPaused, HoldReason::kSourcePaused,
                                  HoldReason::kOutsideWindow, HoldReason::kMinInterval}) {
    reporter_.Look({Holding(reason)}, At(minutes(600)));
  }
  EXPECT_THAT(told_, IsEmpty());
}

}  // namespace
}  // namespace kubexx::reloader
