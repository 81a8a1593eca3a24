#include "kubexx/reloader/operator/held_up_plans.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::reloader {
namespace {

const WorkloadId kHeldUp{WorkloadKind::kDeployment, {"ns", "held-up"}};

TEST(HeldUpPlans, PatienceEndsAndBeginsAnewAfterAPlan) {
  base::testing::FakeClock clock;
  HeldUpPlans plans(clock);
  EXPECT_TRUE(plans.IsPatient(kHeldUp));
  EXPECT_TRUE(plans.Note(kHeldUp));
  clock.Advance(HeldUpPlans::kMost - std::chrono::seconds(1));
  EXPECT_FALSE(plans.Note(kHeldUp)) << "said once";
  EXPECT_TRUE(plans.IsPatient(kHeldUp));
  clock.Advance(std::chrono::seconds(1));
  EXPECT_FALSE(plans.IsPatient(kHeldUp)) << "by the first failure";
  EXPECT_FALSE(plans.Note(kHeldUp));
  EXPECT_FALSE(plans.IsPatient(kHeldUp));
  plans.Forget(kHeldUp);
  EXPECT_TRUE(plans.IsPatient(kHeldUp));
  EXPECT_TRUE(plans.Note(kHeldUp));
}

TEST(HeldUpPlans, AnotherReplicaBeginsWithPatience) {
  base::testing::FakeClock clock;
  HeldUpPlans plans(clock);
  plans.Note(kHeldUp);
  plans.Leave([](const std::string& name) { return name == "other"; });
  EXPECT_FALSE(plans.Note(kHeldUp));
  plans.Leave([](const std::string& name) { return name == "ns"; });
  EXPECT_TRUE(plans.Note(kHeldUp));
}

}  // namespace
}  // namespace kubexx::reloader
