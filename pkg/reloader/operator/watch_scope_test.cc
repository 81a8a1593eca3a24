#include "kubexx/reloader/operator/watch_scope.h"

#include <gmock/gmock.h>

namespace kubexx::reloader {
namespace {

using apimachinery::LabelMap;
using apimachinery::Result;
using testing::HasSubstr;

Result<LabelMap> NobodyAsks() {
  ADD_FAILURE() << "asked for labels";
  return LabelMap();
}

std::string Why(WorkloadKind kind, const Config& config,
                const NamespaceLabels& labels = NobodyAsks) {
  const auto why = WhyNotWatched(kind, "shop", config, labels);
  EXPECT_TRUE(why);
  return why.value_or("");
}

TEST(WatchScope, ByDefaultAllIsWatchedButRollouts) {
  const Config config;
  EXPECT_EQ(WatchedKinds(config).size(), kWorkloadKinds.size() - 1);
  EXPECT_EQ(Why(WorkloadKind::kJob, config), "");
  EXPECT_THAT(Why(WorkloadKind::kRollout, config), HasSubstr("--is-Argo-Rollouts"));
  EXPECT_EQ(Why(WorkloadKind::kRollout, {.argo_rollouts = true}), "");
}

TEST(WatchScope, ACustomKindIsWatchedWhereAFlagNamesIt) {
  const CustomKind kind{.group = "stable.example.com",
                        .version = "v1",
                        .kind = "ScopedWorker",
                        .resource = "scopedworkers"};
  AddCustomKinds({kind});
  const WorkloadKind known = *ParseWorkloadKind("ScopedWorker");
  EXPECT_EQ(Why(known, {.workload_kinds = {kind}}), "");
  EXPECT_TRUE(WatchedKinds({.workload_kinds = {kind}}).contains(known));
  EXPECT_FALSE(WatchedKinds({}).contains(known));
  EXPECT_EQ(Why(known, {}),
            "ScopedWorkers are not watched, because of --workload-kinds: it does not name them");
}

TEST(WatchScope, NamesTheFlagOfAKind) {
  const Config config{.ignore_jobs = true, .ignore_cron_jobs = true};
  EXPECT_EQ(Why(WorkloadKind::kJob, config),
            "Jobs are not watched, because of --ignored-workload-types");
  EXPECT_EQ(Why(WorkloadKind::kCronJob, config),
            "CronJobs are not watched, because of --ignored-workload-types");
  EXPECT_EQ(Why(WorkloadKind::kDeployment, config), "");
  EXPECT_FALSE(WatchedKinds(config).contains(WorkloadKind::kJob));
}

TEST(WatchScope, NamesTheFlagOfANamespace) {
  EXPECT_THAT(Why(WorkloadKind::kDeployment, {.namespaces = {"other"}}),
              HasSubstr("because of --namespaces"));
  EXPECT_EQ(Why(WorkloadKind::kDeployment, {.namespaces = {"other", "shop"}}), "");
  EXPECT_THAT(Why(WorkloadKind::kDeployment, {.ignored_namespaces = {"shop"}}),
              HasSubstr("the namespace shop is not watched, because of --namespaces-to-ignore"));
  EXPECT_THAT(Why(WorkloadKind::kDeployment, {.webhook_url = "http://example.com"}),
              HasSubstr("--webhook-url"));
}

TEST(WatchScope, TheSelectorIsAskedOfTheNamespacesLabels) {
  const Config config{.namespace_selector = "tier=front"};
  const auto front = [] { return Result<LabelMap>(LabelMap{{"tier", "front"}}); };
  const auto none = [] { return Result<LabelMap>(LabelMap()); };
  EXPECT_EQ(Why(WorkloadKind::kDeployment, config, front), "");
  EXPECT_THAT(Why(WorkloadKind::kDeployment, config, none),
              HasSubstr("--namespace-selector: its labels do not match tier=front"));
  const auto refused = []() -> Result<LabelMap> {
    return apimachinery::Fail(apimachinery::Reason::kForbidden, "no", 403);
  };
  EXPECT_FALSE(WhyNotWatched(WorkloadKind::kDeployment, "shop", config, refused));
}

}  // namespace
}  // namespace kubexx::reloader
