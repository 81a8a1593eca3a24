#include "kubexx/reloader/in_place/in_place_verdict.h"

#include <gmock/gmock.h>

namespace kubexx::reloader {
namespace {

using testing::HasSubstr;

const SourceId kJudgedConfig{SourceType::kConfigMap, {"ns", "config"}};

/// A Deployment whose container mounts the ConfigMap, with an action.
Workload Reloadable() {
  Workload workload{.id = {WorkloadKind::kDeployment, {"ns", "web"}}};
  workload.annotations[std::string(kReloadInPlace)] = "signal:HUP";
  workload.volumes = {{"v", {{SourceType::kConfigMap, "config"}}}};
  workload.containers = {{.name = "app", .mounts = {"v"}}};
  return workload;
}

std::string Judged(const Workload& workload, const SourceId& source = kJudgedConfig,
                   bool records = true) {
  const InPlaceVerdict verdict = JudgeInPlace(workload, std::vector{source}, records);
  return verdict.action ? "it is reloaded in place" : verdict.why_not;
}

TEST(InPlaceVerdictTest, AWorkloadThatMountsItsSourceIsReloadedInPlace) {
  EXPECT_EQ(Judged(Reloadable()), "it is reloaded in place");
  for (const WorkloadKind kind :
       {WorkloadKind::kDaemonSet, WorkloadKind::kStatefulSet, WorkloadKind::kRollout}) {
    Workload workload = Reloadable();
    workload.id.kind = kind;
    EXPECT_EQ(Judged(workload), "it is reloaded in place");
  }
}

TEST(InPlaceVerdictTest, WithoutTheAnnotationThereIsNothingToSay) {
  Workload workload = Reloadable();
  workload.annotations.clear();
  EXPECT_EQ(Judged(workload), "");
}

TEST(InPlaceVerdictTest, WhatOnlyNewPodsTakeIsRolled) {
  Workload by_env = Reloadable();
  by_env.containers[0].references = {{SourceType::kConfigMap, "config"}};
  EXPECT_THAT(Judged(by_env), HasSubstr("in its environment"));
  Workload by_init = Reloadable();
  by_init.init_containers = {{.name = "init", .references = {{SourceType::kConfigMap, "config"}}}};
  EXPECT_THAT(Judged(by_init), HasSubstr("container init has ConfigMap config"));
  EXPECT_THAT(Judged(Reloadable(), {SourceType::kSecret, {"ns", "config"}}),
              HasSubstr("no container mounts Secret config"));
  EXPECT_THAT(Judged(Reloadable(), {SourceType::kSecretProviderClass, {"ns", "config"}}),
              HasSubstr("does not write the files"));
  EXPECT_THAT(Judged(Reloadable(), kJudgedConfig, false), HasSubstr("no baseline"));
  Workload job = Reloadable();
  job.id.kind = WorkloadKind::kCronJob;
  EXPECT_THAT(Judged(job), HasSubstr("pods of a CronJob"));
  Workload by_reference = Reloadable();
  by_reference.id.kind = WorkloadKind::kRollout;
  by_reference.template_ref = TemplateRef{"Deployment", "other"};
  EXPECT_THAT(Judged(by_reference), HasSubstr("template of another workload"));
  Workload invalid = Reloadable();
  invalid.annotations[std::string(kReloadInPlace)] = "signal:KILL";
  EXPECT_THAT(Judged(invalid), HasSubstr("HUP, USR1, USR2 and WINCH"));
}

TEST(InPlaceVerdictTest, ADeletionIsRolled) {
  Change change{
      .container = "app", .sources = {{kJudgedConfig, kNoSource}}, .causes = {kJudgedConfig}};
  EXPECT_THAT(JudgeInPlace(Reloadable(), std::vector{change}, true).why_not,
              HasSubstr("was deleted"));
  change.sources = {{kJudgedConfig, DigestOf("key=1")}};
  EXPECT_TRUE(JudgeInPlace(Reloadable(), std::vector{change}, true).action);
}

}  // namespace
}  // namespace kubexx::reloader
