// Rollouts that somebody undoes, and data that are mended afterwards, for the kinds that no kubelet
// of the end-to-end tests runs: the test plays their controllers, against a real API server.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/group_version.h"
#include "kubexx/base/clock.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/dynamic/dynamic_client.h"
#include "kubexx/reloader/plan/baseline.h"
#include "kubexx/reloader/plan/strategy.h"
#include "reloader_kinds_fixture.h"

namespace kubexx::reloader {
namespace {

using apimachinery::GroupVersionResource;
using codec::JsonTree;
using dynamic::Unstructured;
using integration::Await;

/// An object by its name.
struct Named {
  GroupVersionResource resource{};
  std::string name{};
};

/// A workload, and the object that has its pod template.
struct Undone {
  Named workload{};
  Named template_in{};
};

/// What is tried with each strategy, and with an operator that is away while the rollout is undone.
struct UndoCase {
  std::string name{};
  ReloadStrategy strategy = ReloadStrategy::kEnvVars;
  bool is_away = false;
};

class ReloaderUndo : public ReloaderKinds, public testing::WithParamInterface<UndoCase> {
 protected:
  void MakeKinds() {
    MakeCrd(kRollouts, "Rollout", true);
    MakeCrd(kDeploymentConfigs, "DeploymentConfig", true);
    MakeAuto(kRollouts, "Rollout", "web", kPods);
    MakeAuto(kDeploymentConfigs, "DeploymentConfig", "dc", kPods);
    Make(kDeployments, R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"base"},)"
                       R"("spec":{"replicas":0,"selector":{"matchLabels":{"app":"x"}},)" +
                           std::string(kPods) + "}}");
    MakeAuto(kRollouts, "Rollout", "by-ref",
             R"("workloadRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"base"})");
    kinds_ = {{{kRollouts, "web"}, {kRollouts, "web"}},
              {{kDeploymentConfigs, "dc"}, {kDeploymentConfigs, "dc"}},
              {{kRollouts, "by-ref"}, {kDeployments, "base"}}};
  }

  Unstructured Get(const Named& object) const {
    return In(object.resource).Get(object.name).value_or(Unstructured());
  }
  std::string Recorded(const Undone& kind) const {
    const auto annotations = Get(kind.workload).Annotations();
    const auto found = annotations.find(std::string(kBaselineAnnotation));
    return found == annotations.end() ? "" : found->second;
  }
  std::string TemplateAnnotation(const Undone& kind, std::string_view key) const {
    return Get(kind.template_in)
        .GetStringMap({"spec", "template", "metadata", "annotations"})[std::string(key)];
  }
  /// Whether the template says that it was rolled for `data`.
  bool IsStamped(const Undone& kind, const std::string& data) const {
    return GetParam().strategy == ReloadStrategy::kEnvVars
               ? Variable(kind.template_in.resource, kind.template_in.name) == Value(data)
               : TemplateAnnotation(kind, kLastReloadedFrom)
                     .contains(R"("hash":")" + Value(data) + '"');
  }
  void PatchStatus(const Named& object, const std::string& status) const {
    const auto patched =
        In(object.resource)
            .Patch(object.name,
                   {.type = rest::PatchType::kMerge, .text = R"({"status":)" + status + "}"},
                   {.subresource = "status"});
    ASSERT_TRUE(patched) << patched.error().ToString();
  }
  /// What the controllers write when all pods are of the present template.
  void RolloutsEnd() const {
    for (const Undone& kind : kinds_) {
      const std::string seen = std::to_string(Get(kind.workload).Generation());
      if (kind.workload.resource == kDeploymentConfigs) {
        PatchStatus(kind.workload, R"({"observedGeneration":)" + seen +
                                       R"(,"updatedReplicas":1,"availableReplicas":1})");
        continue;
      }
      const std::string of_template = std::to_string(Get(kind.template_in).Generation());
      PatchStatus(kind.workload, R"({"phase":"Healthy","observedGeneration":")" + seen +
                                     R"(","workloadObservedGeneration":")" + of_template + R"("})");
      if (kind.template_in.resource == kDeployments) {
        PatchStatus(kind.template_in, R"({"observedGeneration":)" + of_template + "}");
      }
    }
  }
  /// The data change, and all are rolled for it. Times in last-reloaded-from are whole seconds.
  void RollAll(const std::string& data) {
    AwaitNextSecond();
    Update("cfg", data);
    for (const Undone& kind : kinds_) {
      ASSERT_TRUE(Await([&] { return IsStamped(kind, data); })) << kind.workload.name;
      ASSERT_TRUE(Await([&] { return Recorded(kind).contains(Value(data)); }));
    }
    RolloutsEnd();
  }
  static void AwaitNextSecond() {
    const auto now = [] {
      return std::chrono::floor<std::chrono::seconds>(base::Clock::Real().Wall());
    };
    const auto then = now();
    ASSERT_TRUE(Await([&] { return now() > then; }));
  }
  std::vector<JsonTree> Templates() const {
    std::vector<JsonTree> templates;
    for (const Undone& kind : kinds_) {
      const Unstructured object = Get(kind.template_in);
      const JsonTree* pods = object.Get({"spec", "template"});
      templates.push_back(pods == nullptr ? JsonTree() : *pods);
    }
    return templates;
  }
  /// As `kubectl argo rollouts undo` and `oc rollout undo` do: the template and nothing else.
  void BringBack(const std::vector<JsonTree>& templates) const {
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      const Named& object = kinds_[i].template_in;
      const auto patched = In(object.resource)
                               .Patch(object.name,
                                      {.type = rest::PatchType::kJson,
                                       .text = R"([{"op":"replace","path":"/spec/template",)"
                                               R"("value":)" +
                                               templates[i].ToJson() + "}]"},
                                      {.field_manager = "undo"});
      ASSERT_TRUE(patched) << patched.error().ToString();
    }
  }
  std::vector<std::int64_t> Generations() const {
    std::vector<std::int64_t> generations;
    for (const Undone& kind : kinds_) {
      generations.push_back(Get(kind.template_in).Generation());
    }
    return generations;
  }

  std::vector<Undone> kinds_;
};

TEST_P(ReloaderUndo, DataMendedAfterwardsRollOnce) {
  MakeKinds();
  StartOperator(client_, GetParam().strategy);
  for (const Undone& kind : kinds_) {
    ASSERT_TRUE(Await([&] { return Recorded(kind).contains(Value("old")); })) << kind.workload.name;
  }
  RolloutsEnd();
  RollAll("good");
  const std::vector<JsonTree> good = Templates();
  RollAll("bad");
  if (GetParam().is_away) {
    operator_.reset();
  }
  BringBack(good);
  RolloutsEnd();
  if (GetParam().is_away) {
    StartOperator(client_, GetParam().strategy);
  }
  const std::vector<std::int64_t> undone = Generations();
  AwaitNextSecond();

  Update("cfg", "good");
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const Undone& kind = kinds_[i];
    EXPECT_TRUE(Await([&] { return Get(kind.template_in).Generation() > undone[i]; }))
        << kind.workload.name << " runs with the bad data";
    EXPECT_TRUE(IsStamped(kind, "good"));
    // That of a Deployment which a Rollout uses names versions there, too.
    const bool is_lent = kind.template_in.name != kind.workload.name;
    EXPECT_EQ(!TemplateAnnotation(kind, kRestartedFor).empty(),
              is_lent || GetParam().strategy == ReloadStrategy::kEnvVars)
        << "the variable alone would change nothing";
    EXPECT_TRUE(Await([&] { return Recorded(kind).contains(Value("good")); }));
  }
  operator_.reset();
  std::vector<std::int64_t> once = undone;
  for (std::int64_t& generation : once) {
    ++generation;
  }
  EXPECT_EQ(Generations(), once) << "neither the undo nor the start of an operator rolls";
}

INSTANTIATE_TEST_SUITE_P(
    All, ReloaderUndo,
    testing::Values(UndoCase{.name = "ByVariables"},
                    UndoCase{.name = "ByVariablesAndAway", .is_away = true},
                    UndoCase{.name = "ByAnnotations", .strategy = ReloadStrategy::kAnnotations},
                    UndoCase{.name = "ByAnnotationsAndAway",
                             .strategy = ReloadStrategy::kAnnotations,
                             .is_away = true}),
    [](const testing::TestParamInfo<UndoCase>& each) { return each.param.name; });

// What is brought back on a CronJob starts nothing, and the change that mends the data is one Job.
TEST_F(ReloaderKinds, ACronJobWhoseTemplateIsBroughtBackGetsOneJobWhenTheDataAreMended) {
  const Unstructured cron_job = MakeCronJob("backup");
  StartOperator(client_);
  Update("cfg", "bad");
  ASSERT_TRUE(Await([&] { return JobsOf(cron_job).size() == 1; }));
  const auto patched = In(kCronJobs).Patch(
      "backup",
      {.type = rest::PatchType::kJson,
       .text = R"([{"op":"replace","path":"/spec/jobTemplate","value":)" +
               cron_job.Get({"spec", "jobTemplate"})->ToJson() +
               R"(},{"op":"add","path":"/spec/jobTemplate/metadata/labels/undone","value":"1"}])"},
      {.field_manager = "undo"});
  ASSERT_TRUE(patched) << patched.error().ToString();
  Update("cfg", "old");
  ASSERT_TRUE(Await([&] { return JobsOf(cron_job).size() >= 2; }));
  operator_.reset();
  const std::vector<Unstructured> jobs = JobsOf(cron_job);
  ASSERT_EQ(jobs.size(), 2U);
  int mended = 0;
  for (const Unstructured& job : jobs) {
    mended +=
        VariableIn(job.Get({"spec", "template", "spec", "containers"})) == Value("old") ? 1 : 0;
  }
  EXPECT_EQ(mended, 1);
}

}  // namespace
}  // namespace kubexx::reloader
