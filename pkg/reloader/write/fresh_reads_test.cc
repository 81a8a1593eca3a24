#include "kubexx/reloader/write/fresh_reads.h"

#include <gtest/gtest.h>

namespace kubexx::reloader {
namespace {

using apimachinery::Reason;
using apimachinery::Result;

Workload Of(WorkloadKind kind) { return {.id = {kind, {"ns", "x"}}}; }

TEST(FreshReads, AreForWhatARepeatedWriteHarms) {
  const FreshReads reads([](const WorkloadId&, const std::stop_token&) {
    return Result<std::optional<Workload>>(std::nullopt);
  });
  for (const WorkloadKind kind : kWorkloadKinds) {
    const bool by_creating = kind == WorkloadKind::kCronJob || kind == WorkloadKind::kJob ||
                             kind == WorkloadKind::kRollout;
    EXPECT_EQ(reads.AreWanted(Of(kind), ReloadStrategy::kEnvVars, 1), by_creating);
    EXPECT_TRUE(reads.AreWanted(Of(kind), ReloadStrategy::kAnnotations, 1));
  }
  EXPECT_FALSE(FreshReads({}).AreWanted(Of(WorkloadKind::kJob), ReloadStrategy::kEnvVars, 1));
}

TEST(FreshReads, AreOncePerWorkloadAndTenure) {
  bool fails = true;
  FreshReads reads(
      [&](const WorkloadId& id, const std::stop_token&) -> Result<std::optional<Workload>> {
        if (fails) {
          return apimachinery::Fail(Reason::kServiceUnavailable, "down");
        }
        return Workload{.id = id};
      });
  const Workload job = Of(WorkloadKind::kJob);
  EXPECT_FALSE(reads.Read(job.id, 1, {}));
  EXPECT_TRUE(reads.AreWanted(job, ReloadStrategy::kEnvVars, 1));
  fails = false;
  EXPECT_TRUE(reads.Read(job.id, 1, {}));
  EXPECT_FALSE(reads.AreWanted(job, ReloadStrategy::kEnvVars, 1));
  EXPECT_TRUE(reads.AreWanted(job, ReloadStrategy::kEnvVars, 2));
  reads.Forget(job.id);
  EXPECT_TRUE(reads.AreWanted(job, ReloadStrategy::kEnvVars, 1));
}

}  // namespace
}  // namespace kubexx::reloader
