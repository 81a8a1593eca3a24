#include "kubexx/reloader/write/hand_edits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "kubexx/reloader/kinds/custom_kind.h"
#include "kubexx/reloadpolicy/policy.h"

namespace kubexx::reloader {
namespace {

using dynamic::Unstructured;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr base::WallTime kHandTime{std::chrono::seconds(1'795'000'000)};

Unstructured ObjectWith(const std::string& annotations, const std::string& spec = "{}") {
  auto object = Unstructured::Parse(R"({"metadata":{"name":"web","uid":"u1","annotations":{)" +
                                    annotations + R"(}},"spec":)" + spec + "}");
  EXPECT_TRUE(object);
  return object ? *std::move(object) : Unstructured();
}

std::string PatchBy(HandEdit edit, const std::string& kind, const Unstructured& object) {
  const auto change = HandChangeOf(edit, kind, object, kHandTime);
  return change ? change->patch : "failed: " + change.error().message;
}

TEST(HandEdits, APauseIsAnAnnotationAndOfAPolicyAField) {
  const Unstructured plain = ObjectWith("");
  for (const char* kind : {"Deployment", "CronJob", "ConfigMap", "Secret", "SecretProviderClass"}) {
    EXPECT_EQ(PatchBy(HandEdit::kPause, kind, plain),
              R"({"metadata":{"uid":"u1","annotations":{"reloader.kubexx.io/paused":"true"}}})")
        << kind;
    const Unstructured paused = ObjectWith(R"("reloader.kubexx.io/paused":"true")");
    EXPECT_THAT(PatchBy(HandEdit::kPause, kind, paused), IsEmpty()) << kind;
    EXPECT_EQ(PatchBy(HandEdit::kResume, kind, paused),
              R"({"metadata":{"uid":"u1","annotations":{"reloader.kubexx.io/paused":null}}})")
        << kind;
    EXPECT_THAT(PatchBy(HandEdit::kResume, kind, plain), IsEmpty()) << kind;
  }
  EXPECT_EQ(PatchBy(HandEdit::kPause, "ReloadPolicy", plain),
            R"({"metadata":{"uid":"u1"},"spec":{"paused":true}})");
  const Unstructured paused = ObjectWith("", R"({"paused":true})");
  EXPECT_THAT(PatchBy(HandEdit::kPause, "ClusterReloadPolicy", paused), IsEmpty());
  EXPECT_EQ(PatchBy(HandEdit::kResume, "ClusterReloadPolicy", paused),
            R"({"metadata":{"uid":"u1"},"spec":{"paused":null}})");
  EXPECT_THAT(PatchBy(HandEdit::kPause, "Pod", plain), HasSubstr("a Pod cannot be paused"));
}

TEST(HandEdits, AnExemptionFromPausesIsNoPause) {
  const Unstructured exempt = ObjectWith(R"("reloader.kubexx.io/paused":"false")");
  EXPECT_THAT(PatchBy(HandEdit::kResume, "Deployment", exempt), IsEmpty());
  const auto paused = HandChangeOf(HandEdit::kPause, "Deployment", exempt, kHandTime);
  ASSERT_TRUE(paused);
  EXPECT_THAT(paused->told, HasSubstr("exempted it from the pauses of policies"));
}

TEST(HandEdits, APauseThatCannotBeReadIsTakenOffAsWell) {
  EXPECT_EQ(
      PatchBy(HandEdit::kResume, "Deployment", ObjectWith(R"("reloader.kubexx.io/paused":"yes")")),
      R"({"metadata":{"uid":"u1","annotations":{"reloader.kubexx.io/paused":null}}})");
}

TEST(HandEdits, WhatHasFailedIsRetried) {
  const Unstructured failed = ObjectWith(R"("reloader.kubexx.io/rollout-state":"failed u1")");
  EXPECT_EQ(PatchBy(HandEdit::kRetry, "Deployment", failed),
            R"({"metadata":{"uid":"u1"},"spec":{"template":{"metadata":{"annotations":)"
            R"({"kubectl.kubernetes.io/restartedAt":"2026-11-18T11:06:40Z"}}}}})");
  EXPECT_EQ(PatchBy(HandEdit::kRetry, "Rollout", failed),
            R"({"metadata":{"uid":"u1"},"spec":{"restartAt":"2026-11-18T11:06:40Z"}})");
  AddCustomKinds({{.group = "stable.example.com",
                   .version = "v1",
                   .kind = "EditedWorker",
                   .resource = "editedworkers",
                   .pod_template = {"spec", "pods"}}});
  EXPECT_EQ(PatchBy(HandEdit::kRetry, "EditedWorker", failed),
            R"({"metadata":{"uid":"u1"},"spec":{"pods":{"metadata":{"annotations":)"
            R"({"kubectl.kubernetes.io/restartedAt":"2026-11-18T11:06:40Z"}}}}})");
  EXPECT_EQ(PatchBy(HandEdit::kMended, "Deployment", failed),
            R"({"metadata":{"uid":"u1","annotations":)"
            R"({"reloader.kubexx.io/rollout-state":"completed u1"}}})");
}

TEST(HandEdits, ARetryLetsLaterWavesGoOn) {
  const Unstructured failed =
      ObjectWith(R"("reloader.kubexx.io/rollout-state":"failed u1",)"
                 R"("reloader.kubexx.io/rolled-data":"failed u1 ConfigMap/config=1")");
  for (const HandEdit edit : {HandEdit::kRetry, HandEdit::kMended}) {
    EXPECT_THAT(PatchBy(edit, "Deployment", failed),
                HasSubstr(R"("reloader.kubexx.io/rolled-data":"released u1 ConfigMap/config=1")"));
  }
  const auto change = HandChangeOf(HandEdit::kMended, "Deployment", failed, kHandTime);
  ASSERT_TRUE(change);
  EXPECT_THAT(change->told, HasSubstr("later waves for ConfigMap/config are not held back"));
  const Unstructured healthy =
      ObjectWith(R"("reloader.kubexx.io/rollout-state":"completed u1",)"
                 R"("reloader.kubexx.io/rolled-data":"failed u1 ConfigMap/config=1")");
  EXPECT_THAT(PatchBy(HandEdit::kMended, "Deployment", healthy), HasSubstr("released u1"))
      << "it has become healthy by itself, and holds the waves back still";
  EXPECT_THAT(PatchBy(HandEdit::kMended, "Deployment",
                      ObjectWith(R"("reloader.kubexx.io/rolled-data":"rolled u1 ConfigMap/c=1")")),
              HasSubstr("no rollout of it has failed"));
}

TEST(HandEdits, WhatIsOnTrialIsNotRetried) {
  for (const HandEdit edit : {HandEdit::kRetry, HandEdit::kMended}) {
    EXPECT_THAT(
        PatchBy(edit, "Deployment",
                ObjectWith(R"("reloader.kubexx.io/rollout-state":"started u1",)"
                           R"("reloader.kubexx.io/rolled-data":"rolled u1 ConfigMap/c=1")")),
        HasSubstr("is on trial: it has neither failed nor become healthy"));
    EXPECT_THAT(PatchBy(edit, "Deployment",
                        ObjectWith(R"("reloader.kubexx.io/rollout-state":"started-broken u1")")),
                HasSubstr("under way, and has neither failed nor ended"));
  }
}

TEST(HandEdits, WhatIsPausedByItsSpecIsMendedAndNotRetried) {
  const Unstructured failed =
      ObjectWith(R"("reloader.kubexx.io/rollout-state":"failed u1")", R"({"paused":true})");
  EXPECT_THAT(PatchBy(HandEdit::kRetry, "Deployment", failed), HasSubstr("paused (spec.paused)"));
  EXPECT_THAT(PatchBy(HandEdit::kMended, "Deployment", failed), HasSubstr("completed u1"));
}

TEST(HandEdits, WhatHasNotFailedIsNotRetried) {
  for (const HandEdit edit : {HandEdit::kRetry, HandEdit::kMended}) {
    EXPECT_THAT(PatchBy(edit, "Deployment", ObjectWith("")),
                HasSubstr("no rollout of it has failed"));
    EXPECT_THAT(PatchBy(edit, "Deployment",
                        ObjectWith(R"("reloader.kubexx.io/rollout-state":"failed other")")),
                HasSubstr("no rollout of it has failed"))
        << "copied from another object";
    EXPECT_THAT(PatchBy(edit, "Job", ObjectWith("")), HasSubstr("a Job has no rollouts"));
    EXPECT_THAT(PatchBy(edit, "ConfigMap", ObjectWith("")), HasSubstr("a ConfigMap has no"));
  }
}

}  // namespace
}  // namespace kubexx::reloader
