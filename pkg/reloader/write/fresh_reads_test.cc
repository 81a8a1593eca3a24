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

TEST(FreshReads, TellWhetherACacheHasSeenWhatOthersWrote) {
  int count = 0;
  std::optional<Reason> failure = Reason::kServiceUnavailable;
  bool exists = true;
  FreshReads reads(
      [&](const WorkloadId& id, const std::stop_token&) -> Result<std::optional<Workload>> {
        ++count;
        if (failure) {
          return apimachinery::Fail(*failure, "down");
        }
        return exists ? std::optional(Workload{.id = id, .resource_version = "20"}) : std::nullopt;
      });
  Workload cached = Of(WorkloadKind::kDeployment);
  cached.resource_version = "19";
  EXPECT_FALSE(reads.IsCurrent(cached, 1, {})) << "it cannot be read";
  failure.reset();
  EXPECT_FALSE(reads.IsCurrent(cached, 1, {}));
  cached.resource_version = "20";
  EXPECT_TRUE(reads.IsCurrent(cached, 1, {}));
  EXPECT_EQ(count, 2) << "once in a tenure";
  EXPECT_TRUE(reads.IsCurrent(cached, 2, {}));
  EXPECT_EQ(count, 3);
  exists = false;
  EXPECT_TRUE(reads.IsCurrent(cached, 3, {})) << "its event will come";
  failure = Reason::kForbidden;
  EXPECT_TRUE(reads.IsCurrent(cached, 4, {})) << "there is only the cache";
  EXPECT_EQ(count, 5);
  EXPECT_TRUE(reads.IsCurrent(cached, 4, {}));
  EXPECT_EQ(count, 5) << "it is not asked again and again";
  EXPECT_TRUE(FreshReads({}).IsCurrent(cached, 1, {})) << "nothing can be read";
}

}  // namespace
}  // namespace kubexx::reloader
