#include "kubexx/reloader/write/traces.h"

#include <gmock/gmock.h>

#include <string>

#include "kubexx/reloader/kinds/custom_kind.h"
#include "kubexx/reloader/write/patch.h"

namespace kubexx::reloader {
namespace {

using dynamic::Unstructured;
using testing::ElementsAre;
using testing::IsEmpty;

const AnnotationKeys kDefaultKeys;
constexpr char kSha1[] = "da39a3ee5e6b4b0d3255bfef95601890afd80709";

/// A workload with these annotations, variables as JSON, annotations of its template, and spec.
Unstructured Traced(const std::string& annotations, const std::string& variables = "",
                    const std::string& template_annotations = "", const std::string& spec = "",
                    const std::string& metadata = "") {
  const auto object = Unstructured::Parse(
      R"({"metadata":{"name":"web","namespace":"shop","uid":"u1","annotations":{)" + annotations +
      "}" + metadata + R"(},"spec":{)" + spec + R"("template":{"metadata":{"annotations":{)" +
      template_annotations + R"(}},"spec":{"containers":[{"name":"side"},{"name":"app","env":[)" +
      variables + "]}]}}}}");
  EXPECT_TRUE(object) << object.error().ToString();
  return object ? *object : Unstructured();
}

std::string TracedVariable(const std::string& name, const std::string& value = kSha1) {
  return R"({"name":")" + name + R"(","value":")" + value + R"("})";
}

TEST(Traces, AreFoundOnTheWorkloadAndInItsPodTemplate) {
  const Traces traces = TracesOn(
      WorkloadKind::kDeployment,
      Traced(
          R"("reloader.kubexx.io/baseline":"v1 u1","reloader.kubexx.io/rollout-state":"completed u1",)"
          R"("reloader.kubexx.io/history":"{}",)"
          R"("reloader.stakater.com/auto":"true","note":"mine")",
          TracedVariable("STAKATER_SETTINGS_CONFIGMAP"),
          R"("reloader.stakater.com/last-reloaded-from":"{}","note":"mine")"),
      kDefaultKeys);
  EXPECT_EQ(traces.workload, (WorkloadId{WorkloadKind::kDeployment, {"shop", "web"}}));
  EXPECT_THAT(traces.annotations,
              ElementsAre("reloader.kubexx.io/baseline", "reloader.kubexx.io/history",
                          "reloader.kubexx.io/rollout-state"));
  EXPECT_THAT(traces.template_annotations, ElementsAre("reloader.stakater.com/last-reloaded-from"));
  EXPECT_THAT(traces.variables, ElementsAre(VariableTrace{.container = "app",
                                                          .name = "STAKATER_SETTINGS_CONFIGMAP"}));
  EXPECT_EQ(TextOf(traces),
            "annotation reloader.kubexx.io/baseline, annotation reloader.kubexx.io/history, "
            "annotation reloader.kubexx.io/rollout-state, "
            "annotation reloader.stakater.com/last-reloaded-from of the pod template, variable "
            "STAKATER_SETTINGS_CONFIGMAP of container app");
}

TEST(Traces, OfACustomKindAreFoundInItsOwnTemplate) {
  AddCustomKinds({{.group = "stable.example.com",
                   .version = "v1",
                   .kind = "TracedWorker",
                   .resource = "tracedworkers",
                   .pod_template = {"spec", "pods"}}});
  const auto object = Unstructured::Parse(
      R"({"metadata":{"name":"web","namespace":"shop"},"spec":{"pods":{"spec":{"containers":[)"
      R"({"name":"app","env":[)" +
      TracedVariable("STAKATER_SETTINGS_CONFIGMAP") + "]}]}}}}");
  ASSERT_TRUE(object);
  EXPECT_THAT(
      TracesOn(*ParseWorkloadKind("TracedWorker"), *object, kDefaultKeys).variables,
      ElementsAre(VariableTrace{.container = "app", .name = "STAKATER_SETTINGS_CONFIGMAP"}));
}

TEST(Traces, WhatAPersonHasSetIsNone) {
  const Traces traces =
      TracesOn(WorkloadKind::kDeployment,
               Traced(R"("reloader.stakater.com/auto":"true","reloader.kubexx.io/paused":"true",)"
                      R"("reloader.kubexx.io/record-baseline":"false")",
                      TracedVariable("STAKATER_TOKEN", "secret") + "," +
                          TracedVariable("STAKATER_OWN_SECRET", "not a digest") + "," +
                          TracedVariable("SETTINGS_CONFIGMAP")),
               kDefaultKeys);
  EXPECT_TRUE(traces.empty()) << TextOf(traces);
}

TEST(Traces, ThoseOfTheTemplateOfAJobOrCronJobDoNotCount) {
  for (const WorkloadKind kind : {WorkloadKind::kJob, WorkloadKind::kCronJob}) {
    const Traces traces =
        TracesOn(kind, Traced(R"("kubexx.io/rolled-for":"x")", TracedVariable("STAKATER_A_SECRET")),
                 kDefaultKeys);
    EXPECT_THAT(traces.annotations, ElementsAre("kubexx.io/rolled-for"));
    EXPECT_FALSE(traces.InTemplate());
  }
}

TEST(Traces, APauseIsTheOperatorsUnlessSomebodyElseHasSetItToo) {
  const std::string mark = R"("deployment.reloader.stakater.com/paused-at":"2026-01-01T00:00:00Z")";
  const Traces own =
      TracesOn(WorkloadKind::kDeployment, Traced(mark, "", "", R"("paused":true,)"), kDefaultKeys);
  EXPECT_TRUE(own.paused);
  EXPECT_THAT(own.annotations, IsEmpty()) << "it says whose pause it is";
  const std::string by_a_person =
      R"(,"managedFields":[{"manager":"kubectl","operation":"Update","fieldsV1":{"f:spec":{"f:paused":{}}}}])";
  const Traces others =
      TracesOn(WorkloadKind::kDeployment, Traced(mark, "", "", R"("paused":true,)", by_a_person),
               kDefaultKeys);
  EXPECT_FALSE(others.paused);
  EXPECT_THAT(others.annotations, ElementsAre(kDefaultKeys.paused_at));
  const Traces resumed = TracesOn(WorkloadKind::kDeployment, Traced(mark), kDefaultKeys);
  EXPECT_FALSE(resumed.paused);
  EXPECT_THAT(resumed.annotations, ElementsAre(kDefaultKeys.paused_at));
}

TEST(Traces, AKeeperIsLeftAlone) {
  const Traces traces = TracesOn(
      WorkloadKind::kJob,
      Traced(R"("reloader.kubexx.io/recreates":"migrate","reloader.kubexx.io/baseline":"v1 u1")"),
      kDefaultKeys);
  EXPECT_EQ(traces.keeps, "migrate");
  EXPECT_TRUE(RemovalOf(traces, {.templates = true, .pauses = true}, kDefaultKeys).empty());
}

TEST(Traces, WhatRollsIsTakenAwayOnlyWhenThatIsAskedFor) {
  const Traces traces{.workload = {WorkloadKind::kDeployment, {"shop", "web"}},
                      .annotations = {"reloader.kubexx.io/baseline"},
                      .variables = {{.container = "app", .name = "STAKATER_A_SECRET"}},
                      .template_annotations = {"reloader.kubexx.io/restarted-for"},
                      .paused = true};
  const WorkloadWrite gentle = RemovalOf(traces, {}, kDefaultKeys);
  EXPECT_FALSE(gentle.Rolls());
  EXPECT_FALSE(gentle.paused);
  EXPECT_EQ(StrategicMergePatch(gentle),
            R"({"metadata":{"annotations":{"reloader.kubexx.io/baseline":null}}})");
  EXPECT_TRUE(LeftBy(traces, {}).InTemplate());
  EXPECT_TRUE(LeftBy(traces, {}).paused);

  const Removal all{.templates = true, .pauses = true};
  const WorkloadWrite thorough = RemovalOf(traces, all, kDefaultKeys);
  EXPECT_TRUE(thorough.Rolls());
  EXPECT_EQ(StrategicMergePatch(thorough),
            R"({"metadata":{"annotations":{"deployment.reloader.stakater.com/paused-at":null,)"
            R"("reloader.kubexx.io/baseline":null}},"spec":{"paused":false,"template":{)"
            R"("metadata":{"annotations":{"reloader.kubexx.io/restarted-for":null}},)"
            R"("spec":{"containers":[{"name":"app","env":[{"name":"STAKATER_A_SECRET",)"
            R"("$patch":"delete"}]}]}}}})");
  EXPECT_TRUE(LeftBy(traces, all).empty());
}

}  // namespace
}  // namespace kubexx::reloader
