#include "kubexx/reloader/plan/told_templates.h"

#include <gtest/gtest.h>

namespace kubexx::reloader {
namespace {

using Telling = ToldTemplates::Telling;

const WorkloadId kToldWorkload{WorkloadKind::kDeployment, {"ns", "w"}};

TEST(ToldTemplates, ATemplateIsOnTheWayUntilItsEventIsKnown) {
  ToldTemplates told;
  const TemplateVersion first{1, "a"};
  const TemplateVersion second{2, "b"};
  const TemplateVersion back{3, "a"};
  told.Told(kToldWorkload, first);
  EXPECT_EQ(told.LookFor(kToldWorkload, first), Telling::kTold);
  EXPECT_EQ(told.LookFor(kToldWorkload, second), Telling::kOnTheWay);
  EXPECT_EQ(told.LookFor(kToldWorkload, back), Telling::kOnTheWay)
      << "what it was in between is not known yet";
  told.Told(kToldWorkload, back);
  EXPECT_EQ(told.LookFor(kToldWorkload, back), Telling::kTold);
}

// The changes that came before a workload are told of together with its first template.
TEST(ToldTemplates, SoIsTheFirstTemplate) {
  ToldTemplates told;
  EXPECT_EQ(told.LookFor(kToldWorkload, {1, "a"}), Telling::kOnTheWay);
  told.Told(kToldWorkload, {1, "a"});
  EXPECT_EQ(told.LookFor(kToldWorkload, {1, "a"}), Telling::kTold);
  told.Forget(kToldWorkload);
  EXPECT_EQ(told.LookFor(kToldWorkload, {1, "a"}), Telling::kOnTheWay) << "it was made anew";
}

TEST(ToldTemplates, EachWorkloadHasItsOwn) {
  ToldTemplates told;
  told.Told(kToldWorkload, {1, "a"});
  EXPECT_EQ(told.LookFor({WorkloadKind::kStatefulSet, kToldWorkload.key}, {1, "a"}),
            Telling::kOnTheWay);
  EXPECT_EQ(told.LookFor({WorkloadKind::kDeployment, {"ns", "x"}}, {1, "a"}), Telling::kOnTheWay);
}

// A handler may throw, and then no event tells of the template any more.
TEST(ToldTemplates, AnEventThatIsLostHoldsNothingUpForEver) {
  ToldTemplates told;
  told.Told(kToldWorkload, {1, "a"});
  for (std::uint32_t look = 0; look < ToldTemplates::kMostLooks; ++look) {
    ASSERT_EQ(told.LookFor(kToldWorkload, {2, "b"}), Telling::kOnTheWay);
  }
  EXPECT_EQ(told.LookFor(kToldWorkload, {2, "b"}), Telling::kLost);
  EXPECT_EQ(told.LookFor(kToldWorkload, {2, "b"}), Telling::kTold) << "said once";
}

TEST(ToldTemplates, ATemplateWithoutAVersionIsNotWaitedFor) {
  ToldTemplates told;
  EXPECT_EQ(told.LookFor(kToldWorkload, {}), Telling::kTold);
}

}  // namespace
}  // namespace kubexx::reloader
