#include "kubexx/reloader/write/kind_writers.h"

#include <gtest/gtest.h>

namespace kubexx::reloader {
namespace {

using dynamic::Unstructured;

const WorkloadWrite kSetX{.variables = {{"app", "X", "1"}}, .token = "token"};

std::string Json(const apimachinery::Result<Unstructured>& object) {
  EXPECT_TRUE(object) << object.error().ToString();
  return object ? object->ToJson() : "";
}

TEST(InstantiatedJob, IsMadeFromTheTemplateAndOwnedByTheCronJob) {
  const auto cron_job = Unstructured::Parse(
      R"({"metadata":{"name":"backup","namespace":"ns","uid":"u1"},"spec":{"suspend":true,)"
      R"("jobTemplate":{"metadata":{"labels":{"l":"1"},"annotations":{"a":"2"}},)"
      R"("spec":{"backoffLimit":3,"template":{"spec":{"containers":[{"name":"app"}]}}}}}})");
  EXPECT_EQ(
      Json(InstantiatedJob(*cron_job, kSetX, base::WallTime(std::chrono::seconds(7)))),
      R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"generateName":"backup-",)"
      R"("namespace":"ns","labels":{"l":"1"},)"
      R"("annotations":{"cronjob.kubernetes.io/instantiate":"manual","a":"2",)"
      R"("kubexx.io/rolled-for":"7000000 token"},)"
      R"("ownerReferences":[{"kind":"CronJob","name":"backup","uid":"u1","apiVersion":"batch/v1",)"
      R"("controller":true,"blockOwnerDeletion":true}]},)"
      R"("spec":{"backoffLimit":3,"template":{"spec":{"containers":[)"
      R"({"name":"app","env":[{"name":"X","value":"1"}]}]}}}})");
}

TEST(InstantiatedJob, NeedsATemplateWithTheContainer) {
  for (const char* text :
       {"{}", R"({"spec":{"jobTemplate":{"spec":{"template":{"spec":{"containers":[]}}}}}})"}) {
    const auto job = InstantiatedJob(*Unstructured::Parse(text), kSetX, {});
    ASSERT_FALSE(job);
    EXPECT_EQ(job.error().reason, apimachinery::Reason::kConflict);
  }
}

TEST(IsToRun, ASuspendedCronJobIsNotUnlessItSaysSo) {
  EXPECT_TRUE(IsToRun(*Unstructured::Parse(R"({"spec":{"schedule":"0 3 * * *"}})")));
  EXPECT_TRUE(IsToRun(*Unstructured::Parse(R"({"spec":{"suspend":false}})")));
  EXPECT_FALSE(IsToRun(*Unstructured::Parse(R"({"spec":{"suspend":true}})")));
  for (const char* value : {"true", "yes"}) {
    EXPECT_EQ(IsToRun(*Unstructured::Parse(
                  R"({"metadata":{"annotations":{"reloader.kubexx.io/run-suspended":")" +
                  std::string(value) + R"("}},"spec":{"suspend":true}})")),
              value == std::string("true"));
  }
}

TEST(RecreatedJob, LeavesOutWhatTheServerGives) {
  const auto job = Unstructured::Parse(
      R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"migrate","namespace":"ns",)"
      R"("uid":"u1","resourceVersion":"7","generation":1,"creationTimestamp":"2020-01-01T00:00:00Z",)"
      R"("managedFields":[{}],"labels":{"l":"1"},"annotations":{"a":"1"},)"
      R"("ownerReferences":[{"name":"o"}]},"spec":{"selector":{"matchLabels":{"controller-uid":"u1"}},)"
      R"("template":{"metadata":{"labels":{"app":"x","controller-uid":"u1","job-name":"migrate",)"
      R"("batch.kubernetes.io/controller-uid":"u1","batch.kubernetes.io/job-name":"migrate"}},)"
      R"("spec":{"containers":[{"name":"app"}]}}},"status":{"active":1}})");
  WorkloadWrite write = kSetX;
  write.annotations = {{"b", "2"}};
  EXPECT_EQ(
      Json(RecreatedJob(*job, write)),
      R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"migrate","namespace":"ns",)"
      R"("labels":{"l":"1"},"annotations":{"a":"1","b":"2"},"ownerReferences":[{"name":"o"}]},)"
      R"("spec":{"template":{"metadata":{"labels":{"app":"x"}},"spec":{"containers":[)"
      R"({"name":"app","env":[{"name":"X","value":"1"}]}]}}}})");
}

TEST(RecreatedJob, KeepsASelectorThatIsTheUsers) {
  const auto job = Unstructured::Parse(
      R"({"metadata":{"name":"m","uid":"u1"},"spec":{"manualSelector":true,)"
      R"("selector":{"matchLabels":{"job-name":"mine"}},)"
      R"("template":{"metadata":{"labels":{"job-name":"mine"}},"spec":{"containers":[{"name":"app"}]}}}})");
  const auto made = RecreatedJob(*job, kSetX);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->GetString({"spec", "selector", "matchLabels", "job-name"}), "mine");
  EXPECT_EQ(made->GetString({"spec", "template", "metadata", "labels", "job-name"}), "mine");
}

TEST(MergePatch, OfVariablesReplacesTheContainersOfOneVersion) {
  const auto rollout = Unstructured::Parse(
      R"({"metadata":{"name":"web","resourceVersion":"7"},"spec":{"strategy":{"unknown":1},)"
      R"("template":{"spec":{"volumes":[],"containers":[{"name":"app","extra":true}]}}}})");
  WorkloadWrite write = kSetX;
  write.annotations = {{"a", "1"}, {"b", std::nullopt}};
  const auto patch = MergePatch(write, *rollout);
  ASSERT_TRUE(patch);
  EXPECT_EQ(patch->ToJson(),
            R"({"metadata":{"annotations":{"a":"1","b":null},"resourceVersion":"7"},)"
            R"("spec":{"template":{"spec":{"containers":[)"
            R"({"name":"app","extra":true,"env":[{"name":"X","value":"1"}]}]}}}})");
}

TEST(MergePatch, OfACustomKindIsAboutItsOwnTemplate) {
  const CustomKind kind{.pod_template = {"spec", "pool", "pods"}};
  const auto object = Unstructured::Parse(
      R"({"metadata":{"name":"web","resourceVersion":"7"},"spec":{"pool":{"size":1,)"
      R"("pods":{"spec":{"containers":[{"name":"app","extra":true}]}}}}})");
  WorkloadWrite write = kSetX;
  write.template_annotations = {{"from", "x"}};
  const auto patch = MergePatch(write, *object, &kind);
  ASSERT_TRUE(patch) << patch.error().message;
  EXPECT_EQ(patch->ToJson(),
            R"({"spec":{"pool":{"pods":{"metadata":{"annotations":{"from":"x"}},"spec":)"
            R"({"containers":[{"name":"app","extra":true,"env":[{"name":"X","value":"1"}]}]}}}},)"
            R"("metadata":{"resourceVersion":"7"}})");
}

TEST(PatchOutcome, IsNoRolloutWhenTheServerHasChangedNothing) {
  WorkloadWrite write = kSetX;
  EXPECT_TRUE(PatchOutcome(write, 7).rolled) << "nothing to compare with";
  write.generation = 7;
  EXPECT_TRUE(PatchOutcome(write, 8).rolled);
  const WriteOutcome same = PatchOutcome(write, 7);
  EXPECT_FALSE(same.rolled);
  EXPECT_FALSE(same.left_alone.empty());
  write.variables.clear();
  EXPECT_TRUE(PatchOutcome(write, 7).left_alone.empty()) << "nothing was to change";
}

// A Deployment's generation changes with the annotations that the same patch sets.
TEST(PatchOutcome, OfADeploymentGoesByItsPodTemplate) {
  const auto answer = [](const std::string& container) {
    return *Unstructured::Parse(
        R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","generation":9},)"
        R"("spec":{"template":{"spec":{"containers":[)" +
        container + "]}}}}");
  };
  WorkloadWrite write{.variables = {{"app", "X", "1"}}};
  write.generation = 7;
  EXPECT_TRUE(
      PatchOutcome(write, answer(R"({"name":"app","env":[{"name":"X","value":"1"}]})")).rolled);
  for (const char* kept : {R"({"name":"app"})", R"({"name":"other"})",
                           R"({"name":"app","env":[{"name":"X","value":"0"}]})"}) {
    const WriteOutcome outcome = PatchOutcome(write, answer(kept));
    EXPECT_FALSE(outcome.rolled) << kept;
    EXPECT_FALSE(outcome.left_alone.empty()) << kept;
  }
  write.variables = {{"app", "X", std::nullopt}};
  EXPECT_TRUE(PatchOutcome(write, answer(R"({"name":"app"})")).rolled);
}

TEST(MergePatch, OfEverythingElseNamesNoVersion) {
  const WorkloadWrite write{.template_annotations = {{"from", "x"}},
                            .restart_at = "2024-01-01T00:00:00Z"};
  const auto patch = MergePatch(write, Unstructured());
  ASSERT_TRUE(patch);
  EXPECT_EQ(patch->ToJson(), R"({"spec":{"restartAt":"2024-01-01T00:00:00Z",)"
                             R"("template":{"metadata":{"annotations":{"from":"x"}}}}})");
}

}  // namespace
}  // namespace kubexx::reloader
