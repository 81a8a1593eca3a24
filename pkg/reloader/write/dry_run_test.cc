#include "kubexx/reloader/write/dry_run.h"

#include <gtest/gtest.h>

namespace kubexx::reloader {
namespace {

TEST(DryRun, CountsWhatWouldRollAndSaysThatNothingWasWritten) {
  metrics::Registry registry;
  DryRunWriter writer(&registry);
  const WorkloadId web{WorkloadKind::kDeployment, {"shop", "web"}};
  const metrics::Counter counter =
      registry.Counter("kubexx_reloader_dry_run_rollouts_total", "", {{"kind", "Deployment"}});

  const auto recorded = writer.Write(web, {.annotations = {{"a", "b"}}}, {});
  ASSERT_TRUE(recorded);
  EXPECT_FALSE(recorded->made);
  EXPECT_EQ(counter.Value(), 0);

  const auto rolled = writer.Write(web, {.template_annotations = {{"a", "b"}}}, {});
  ASSERT_TRUE(rolled);
  EXPECT_FALSE(rolled->made);
  EXPECT_FALSE(rolled->rolled) << "no pods come";
  EXPECT_EQ(counter.Value(), 1);
}

TEST(DryRun, ASuspendedCronJobWouldBeLeftAlone) {
  metrics::Registry registry;
  DryRunWriter writer(&registry);
  const auto written = writer.Write({WorkloadKind::kCronJob, {"shop", "backup"}},
                                    {.template_annotations = {{"a", "b"}}, .suspended = true}, {});
  ASSERT_TRUE(written);
  EXPECT_FALSE(written->made);
  EXPECT_EQ(written->left_alone, kSuspendedText);
  EXPECT_EQ(
      registry.Counter("kubexx_reloader_dry_run_rollouts_total", "", {{"kind", "CronJob"}}).Value(),
      0);
}

}  // namespace
}  // namespace kubexx::reloader
