#include "kubexx/reloader/plan/strategy.h"

#include <gtest/gtest.h>

namespace kubexx::reloader {
namespace {

const base::WallTime kNow{std::chrono::seconds(1700000000)};
const SourceId kStrategyConfig{SourceType::kConfigMap, {"ns", "config"}};
const SourceId kStrategyPassword{SourceType::kSecret, {"ns", "password"}};

std::vector<Change> TwoChanges() {
  return {{.container = "app",
           .variable = "STAKATER_CONFIG_CONFIGMAP",
           .value = "01",
           .sources = {{kStrategyConfig, DigestOf("a")}},
           .causes = {kStrategyConfig}},
          {.container = "app",
           .variable = "STAKATER_PASSWORD_SECRET",
           .value = "02",
           .sources = {{kStrategyPassword, DigestOf("b")}},
           .causes = {kStrategyPassword}}};
}

TEST(LastReloadedFrom, IsTheOriginalsText) {
  EXPECT_EQ(LastReloadedFrom(kStrategyConfig, DigestOf("key=updated"), "app", kNow),
            R"({"type":"CONFIGMAP","name":"config","namespace":"ns",)"
            R"("hash":"6b3093988321555757cc9b88a5f2d59101a0261c",)"
            R"("containerRefs":["app"],"observedAt":1700000000})");
}

TEST(LastReloadedFrom, IsReadBack) {
  Workload workload;
  EXPECT_FALSE(ParseReloadedFrom(workload));
  std::string& text = workload.template_annotations[std::string(kLastReloadedFrom)];
  text = LastReloadedFrom(kStrategyPassword, DigestOf("x"), "app", kNow);
  EXPECT_EQ(ParseReloadedFrom(workload),
            (ReloadedFrom{kStrategyPassword, DigestOf("x").ToString()}));
  for (const char* bad : {"", "{", "[]", "{}", R"({"type":"POD","name":"a"})", R"({"type":1})"}) {
    text = bad;
    EXPECT_FALSE(ParseReloadedFrom(workload)) << bad;
  }
}

TEST(MakeWrite, EnvVarsSetsEachVariable) {
  const WorkloadWrite write = MakeWrite({.uid = "u"}, TwoChanges(), ReloadStrategy::kEnvVars, kNow);
  EXPECT_EQ(write.uid, "u");
  EXPECT_EQ(write.variables,
            (std::vector<VariableEdit>{{"app", "STAKATER_CONFIG_CONFIGMAP", "01"},
                                       {"app", "STAKATER_PASSWORD_SECRET", "02"}}));
  EXPECT_TRUE(write.template_annotations.empty());
}

TEST(MakeWrite, AnnotationsNamesTheLastCause) {
  const WorkloadWrite write = MakeWrite({}, TwoChanges(), ReloadStrategy::kAnnotations, kNow);
  EXPECT_TRUE(write.variables.empty());
  EXPECT_EQ(write.template_annotations,
            (AnnotationEdits{{std::string(kLastReloadedFrom),
                              LastReloadedFrom(kStrategyPassword, DigestOf("b"), "app", kNow)}}));
}

TEST(MakeWrite, TheTokenTellsChangesApartAndTimesDoNotCount) {
  const std::vector<Change> changes = TwoChanges();
  const std::string token = MakeWrite({}, changes, ReloadStrategy::kAnnotations, kNow).token;
  EXPECT_EQ(
      MakeWrite({}, changes, ReloadStrategy::kAnnotations, kNow + std::chrono::hours(1)).token,
      token);
  EXPECT_NE(MakeWrite({}, {changes[0]}, ReloadStrategy::kAnnotations, kNow).token, token);
}

TEST(MakeWrite, ARolloutRestartsWithoutAChangeOfItsTemplateWhenItSaysSo) {
  Workload rollout{.id = {WorkloadKind::kRollout, {"ns", "web"}},
                   .annotations = {{"reloader.stakater.com/rollout-strategy", "restart"}}};
  WorkloadWrite write = MakeWrite(rollout, TwoChanges(), ReloadStrategy::kEnvVars, kNow);
  EXPECT_EQ(write.restart_at, "2023-11-14T22:13:20Z");
  EXPECT_TRUE(write.variables.empty());
  EXPECT_TRUE(write.Rolls());
  rollout.annotations.begin()->second = "rollout";
  EXPECT_FALSE(MakeWrite(rollout, TwoChanges(), ReloadStrategy::kEnvVars, kNow).restart_at);
  rollout.annotations.begin()->second = "restart";
  rollout.id.kind = WorkloadKind::kDeployment;
  EXPECT_FALSE(MakeWrite(rollout, TwoChanges(), ReloadStrategy::kEnvVars, kNow).restart_at);
}

TEST(AttemptOf, AVariableThatIsNewTellsOfTheWrite) {
  Workload workload{.containers = {{.name = "app"}}};
  const WorkloadWrite write = MakeWrite(workload, TwoChanges(), ReloadStrategy::kEnvVars, kNow);
  EXPECT_EQ(AttemptOf(workload, write), Attempt{});
}

TEST(AttemptOf, AWriteInPlaceHasAMark) {
  Workload workload{.containers = {{.name = "app",
                                    .variables = {{"STAKATER_CONFIG_CONFIGMAP", "01"},
                                                  {"STAKATER_PASSWORD_SECRET", "02"}}}}};
  const WorkloadWrite write = MakeWrite(workload, TwoChanges(), ReloadStrategy::kEnvVars, kNow);
  const Attempt attempt = AttemptOf(workload, write);
  EXPECT_TRUE(attempt.is_in_place);
  EXPECT_FALSE(HasMark(workload, attempt));
  workload.template_annotations[std::string(kRestartedFor)] = attempt.mark;
  EXPECT_TRUE(HasMark(workload, attempt));
  EXPECT_NE(AttemptOf(workload, MakeWrite(workload, TwoChanges(), ReloadStrategy::kEnvVars, kNow)),
            attempt)
      << "the next one is another";
  workload.stampers[std::string(kRestartedFor)] = {.is_operator = false};
  EXPECT_FALSE(HasMark(workload, attempt)) << "somebody has brought it back";
}

TEST(AttemptOf, AnAnnotationIsAMarkByItsTime) {
  Workload workload;
  const auto attempt = [&](base::WallTime now) {
    return AttemptOf(workload,
                     MakeWrite(workload, TwoChanges(), ReloadStrategy::kAnnotations, now));
  };
  const Attempt first = attempt(kNow);
  EXPECT_FALSE(first.is_in_place);
  workload.template_annotations[std::string(kLastReloadedFrom)] = first.mark;
  EXPECT_TRUE(HasMark(workload, first));
  const Attempt second = attempt(kNow + std::chrono::seconds(1));
  EXPECT_TRUE(second.is_in_place) << "the digest is there already";
  EXPECT_FALSE(HasMark(workload, second));
}

TEST(MakeWrite, NamesTheDeploymentWhoseTemplateARolloutRuns) {
  const Workload rollout{.id = {WorkloadKind::kRollout, {"ns", "web"}},
                         .template_ref = TemplateRef{"Deployment", "base"}};
  EXPECT_EQ(MakeWrite(rollout, TwoChanges(), ReloadStrategy::kEnvVars, kNow).template_of, "base");
}

}  // namespace
}  // namespace kubexx::reloader
