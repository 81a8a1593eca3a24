#include "kubexx/reloader/model/rollout_phase.h"

#include <gtest/gtest.h>

#include "kubexx/api/apps/v1/schema.gen.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/model/projection.h"

namespace kubexx::reloader {
namespace {

namespace apps = api::apps::v1;
using reloadpolicy::Phase;

apps::Deployment Deployment(int updated, int available, int replicas = 3) {
  apps::Deployment deployment;
  deployment.metadata.name = "web";
  deployment.metadata.generation = 5;
  deployment.spec.replicas = 3;
  deployment.status.observed_generation = 5;
  deployment.status.replicas = replicas;
  deployment.status.updated_replicas = updated;
  deployment.status.available_replicas = available;
  return deployment;
}

TEST(RolloutPhase, OfADeployment) {
  EXPECT_EQ(PhaseOf(Deployment(3, 3)), Phase::kComplete);
  EXPECT_EQ(PhaseOf(Deployment(2, 3)), Phase::kUpdating);
  EXPECT_EQ(PhaseOf(Deployment(3, 3, 4)), Phase::kUpdating) << "an old pod is left";
  EXPECT_EQ(PhaseOf(Deployment(3, 2)), Phase::kUnavailable);
  apps::Deployment unseen = Deployment(3, 3);
  unseen.metadata.generation = 6;
  EXPECT_EQ(PhaseOf(unseen), Phase::kUnseen);
  apps::Deployment paused = Deployment(0, 3);
  paused.spec.paused = true;
  EXPECT_EQ(PhaseOf(paused), Phase::kPaused);
  apps::Deployment failed = Deployment(1, 2);
  auto& condition = failed.status.conditions.emplace_back();
  condition.type = "Progressing";
  condition.status = "False";
  condition.reason = "ProgressDeadlineExceeded";
  EXPECT_EQ(PhaseOf(failed), Phase::kFailed);
  apps::Deployment none = Deployment(0, 0, 0);
  none.spec.replicas = 0;
  EXPECT_EQ(PhaseOf(none), Phase::kWithoutPods);
}

TEST(RolloutPhase, OfAStatefulSet) {
  apps::StatefulSet set;
  set.metadata.generation = 2;
  set.spec.replicas = 3;
  set.status.observed_generation = 2;
  set.status.current_revision = "r1";
  set.status.update_revision = "r2";
  set.status.updated_replicas = 1;
  set.status.available_replicas = 3;
  EXPECT_EQ(PhaseOf(set), Phase::kUpdating);
  set.spec.update_strategy.rolling_update.emplace().partition = 2;
  EXPECT_EQ(PhaseOf(set), Phase::kComplete) << "the others are kept back";
  set.status.available_replicas = 2;
  EXPECT_EQ(PhaseOf(set), Phase::kUnavailable);
  set.spec.update_strategy.type = "OnDelete";
  EXPECT_EQ(PhaseOf(set), Phase::kComplete);
  set.metadata.generation = 3;
  EXPECT_EQ(PhaseOf(set), Phase::kUnseen);
}

TEST(RolloutPhase, OfADaemonSet) {
  apps::DaemonSet set;
  set.metadata.generation = 1;
  set.status.observed_generation = 1;
  set.status.desired_number_scheduled = 2;
  set.status.updated_number_scheduled = 1;
  set.status.number_available = 2;
  EXPECT_EQ(PhaseOf(set), Phase::kUpdating);
  set.status.updated_number_scheduled = 2;
  EXPECT_EQ(PhaseOf(set), Phase::kComplete);
  set.status.number_available = 1;
  EXPECT_EQ(PhaseOf(set), Phase::kUnavailable);
}

TEST(RolloutPhase, OfARolloutIsOfItsGeneration) {
  const auto phase = [](const std::string& spec, const std::string& status) {
    const auto tree = codec::JsonTree::Parse(R"({"metadata":{"generation":7},"spec":)" + spec +
                                             R"(,"status":)" + status + "}");
    EXPECT_TRUE(tree) << status;
    return tree ? PhaseOfRollout(*tree) : Phase::kComplete;
  };
  EXPECT_EQ(phase("{}", R"({"phase":"Healthy","observedGeneration":"7"})"), Phase::kComplete);
  EXPECT_EQ(phase("{}", R"({"phase":"Healthy","observedGeneration":"6"})"), Phase::kUnseen);
  EXPECT_EQ(phase("{}", R"({"phase":"Healthy","observedGeneration":6})"), Phase::kUnseen);
  EXPECT_EQ(phase("{}", R"({"phase":"Degraded","observedGeneration":6})"), Phase::kUnseen);
  EXPECT_EQ(phase("{}", R"({"phase":"Degraded","observedGeneration":7})"), Phase::kFailed);
  EXPECT_EQ(phase("{}", R"({"phase":"Progressing","observedGeneration":"7"})"), Phase::kUpdating);
  EXPECT_EQ(phase("{}", R"({"phase":"Paused","observedGeneration":"7"})"), Phase::kWaiting)
      << "a canary";
  EXPECT_EQ(phase(R"({"paused":true})", R"({"phase":"Paused","observedGeneration":"7"})"),
            Phase::kPaused)
      << "its user";
  EXPECT_EQ(phase("{}", "null"), Phase::kUnseen);
  EXPECT_EQ(phase("{}", R"({"phase":"Healthy","observedGeneration":"6f8d9c7b"})"), Phase::kComplete)
      << "older versions write a hash";
}

TEST(RolloutPhase, OfARolloutThatRunsADeploymentsTemplateIsOfThatGeneration) {
  const auto phase = [](const std::string& spec, const std::string& annotations,
                        const std::string& seen) {
    const auto tree = codec::JsonTree::Parse(
        R"({"metadata":{"generation":7,"annotations":{)" + annotations + R"(}},"spec":)" + spec +
        R"(,"status":{"phase":"Healthy","observedGeneration":"7")" + seen + "}}");
    EXPECT_TRUE(tree) << annotations;
    return tree ? PhaseOfRollout(*tree) : Phase::kComplete;
  };
  const std::string by_ref = R"({"workloadRef":{"kind":"Deployment","name":"base"}})";
  const std::string ours = R"("reloader.kubexx.io/template-generation":"4")";
  const std::string of_argo = R"("rollout.argoproj.io/workload-generation":"4")";
  const std::string old = R"(,"workloadObservedGeneration":"3")";
  EXPECT_EQ(phase(by_ref, ours, old), Phase::kUnseen) << "Argo has not heard of our change yet";
  EXPECT_EQ(phase(by_ref, of_argo, old), Phase::kUnseen) << "it has, and has not acted yet";
  EXPECT_EQ(phase(by_ref, ours, R"(,"workloadObservedGeneration":"4")"), Phase::kComplete);
  EXPECT_EQ(phase(by_ref, ours, R"(,"workloadObservedGeneration":"5")"), Phase::kComplete);
  EXPECT_EQ(phase(by_ref, "", old), Phase::kComplete);
  EXPECT_EQ(phase(by_ref, ours, ""), Phase::kComplete) << "older versions do not tell";
  EXPECT_EQ(phase("{}", ours, old), Phase::kComplete) << "it has a template of its own by now";
}

TEST(RolloutPhase, AFailureOfAnEarlierRolloutIsNoneOfTheLast) {
  // The template was put back: its ReplicaSet has its pod, so the controller counts no progress,
  // and keeps the condition as it is until the other pod is gone.
  apps::Deployment deployment = Deployment(3, 3, 4);
  deployment.spec.progress_deadline_seconds = 10;
  deployment.metadata.annotations["reloader.kubexx.io/last-rollout"] = "2026-01-05T09:00:20Z";
  const auto told = [](std::string_view time) { return *apimachinery::Time::Parse(time); };
  auto& condition = deployment.status.conditions.emplace_back();
  condition = {.type = "Progressing",
               .status = "False",
               .reason = "ProgressDeadlineExceeded",
               .last_update_time = told("2026-01-05T09:00:19Z")};
  EXPECT_EQ(PhaseOf(deployment), Phase::kUpdating);
  condition.last_update_time = told("2026-01-05T09:00:22Z");
  EXPECT_EQ(PhaseOf(deployment), Phase::kUpdating) << "the controller's clock is fast";
  condition.last_update_time = told("2026-01-05T09:00:30Z");
  EXPECT_EQ(PhaseOf(deployment), Phase::kFailed);
  condition.last_update_time = told("2026-01-05T09:00:28Z");
  EXPECT_EQ(PhaseOf(deployment), Phase::kFailed) << "the controller's clock is slow";
  deployment.spec.progress_deadline_seconds.reset();
  EXPECT_EQ(PhaseOf(deployment), Phase::kUpdating) << "it would have taken ten minutes";
  condition.last_update_time = {};
  EXPECT_EQ(PhaseOf(deployment), Phase::kFailed) << "nobody knows when";
  deployment.metadata.annotations.clear();
  condition.last_update_time = told("2026-01-05T09:00:19Z");
  EXPECT_EQ(PhaseOf(deployment), Phase::kFailed) << "the operator has not rolled it";
}

TEST(RolloutPhase, AnArgoRolloutIsNotDegradedByAnEarlierRolloutOfIt) {
  const auto phase = [](const std::string& last, const std::string& told,
                        const std::string& reason = "ProgressDeadlineExceeded") {
    const auto tree = codec::JsonTree::Parse(
        R"({"metadata":{"generation":7,"annotations":{"reloader.kubexx.io/last-rollout":")" + last +
        R"("}},"spec":{"progressDeadlineSeconds":10},"status":{"phase":"Degraded","observedGeneration":"7",)"
        R"("conditions":[{"type":"Available"},{"type":"Progressing","reason":")" +
        reason + R"(","lastUpdateTime":")" + told + R"("}]}})");
    EXPECT_TRUE(tree);
    return tree ? PhaseOfRollout(*tree) : Phase::kComplete;
  };
  EXPECT_EQ(phase("2026-01-05T09:00:20Z", "2026-01-05T09:00:19Z"), Phase::kUpdating);
  EXPECT_EQ(phase("2026-01-05T09:00:20Z", "2026-01-05T09:00:30Z"), Phase::kFailed);
  EXPECT_EQ(phase("2026-01-05T09:00:20Z", "2026-01-05T09:00:19Z", "RolloutAborted"),
            Phase::kFailed);
  EXPECT_EQ(phase("soon", "2026-01-05T09:00:19Z"), Phase::kFailed);
  EXPECT_EQ(phase("2026-01-05T09:00:20Z", "soon"), Phase::kFailed);
}

TEST(RolloutPhase, IsInTheProjectionUnlessComplete) {
  const auto project = [](const apps::Deployment& deployment) {
    cache::Object object{.encoding = codec::Encoding::kJson,
                         .bytes = codec::EncodeJson(deployment)};
    EXPECT_TRUE(ProjectWorkload(WorkloadKind::kDeployment, {}, object));
    return object;
  };
  const cache::Object complete = project(Deployment(3, 3));
  const cache::Object updating = project(Deployment(1, 3));
  EXPECT_EQ(WorkloadFrom(WorkloadKind::kDeployment, complete)->phase, Phase::kComplete);
  EXPECT_EQ(WorkloadFrom(WorkloadKind::kDeployment, updating)->phase, Phase::kUpdating);
  EXPECT_EQ(project(Deployment(2, 3)).bytes, updating.bytes) << "progress is not a change";
}

TEST(EndOfRollout, IsToldByTheConditionOfProgress) {
  apps::Deployment deployment = Deployment(3, 3);
  EXPECT_FALSE(EndOfRollout(deployment));
  auto& condition = deployment.status.conditions.emplace_back();
  condition.type = "Progressing";
  condition.reason = "ReplicaSetUpdated";
  condition.last_update_time = {.seconds = 700};
  EXPECT_FALSE(EndOfRollout(deployment));
  for (const char* reason : {"NewReplicaSetAvailable", "ProgressDeadlineExceeded"}) {
    condition.reason = reason;
    EXPECT_EQ(EndOfRollout(deployment), (apimachinery::Time{.seconds = 700})) << reason;
  }
  const auto tree = codec::JsonTree::Parse(
      R"({"status":{"conditions":[{"type":"Available"},{"type":"Progressing","reason":"NewReplicationControllerAvailable",)"
      R"("lastUpdateTime":"1970-01-01T00:11:40Z"}]}})");
  ASSERT_TRUE(tree);
  EXPECT_EQ(EndOfRollout(*tree), (apimachinery::Time{.seconds = 700}));
  for (
      const char* text :
      {"{}", R"({"status":{"conditions":7}})", R"({"status":{"conditions":[1,{}]}})",
       R"({"status":{"conditions":[{"type":"Progressing","reason":"NewReplicaSetAvailable"}]}})"}) {
    EXPECT_FALSE(EndOfRollout(*codec::JsonTree::Parse(text))) << text;
  }
}

TEST(EndOfRollout, IsInTheProjectionOfAWorkloadWithAHistoryOrWithARolloutThatIsFollowed) {
  apps::Deployment deployment = Deployment(3, 3);
  deployment.status.conditions.push_back({.type = "Progressing",
                                          .reason = "NewReplicaSetAvailable",
                                          .last_update_time = {.seconds = 700}});
  const auto ended = [&] {
    cache::Object object{.encoding = codec::Encoding::kJson,
                         .bytes = codec::EncodeJson(deployment)};
    EXPECT_TRUE(ProjectWorkload(WorkloadKind::kDeployment, {}, object));
    return WorkloadFrom(WorkloadKind::kDeployment, object)->ended;
  };
  EXPECT_FALSE(ended());
  deployment.metadata.annotations["reloader.kubexx.io/history"] = "{}";
  EXPECT_EQ(ended(), (apimachinery::Time{.seconds = 700}));
  deployment.metadata.uid = "u";
  deployment.metadata.annotations = {{"reloader.kubexx.io/rollout-state", "started u"}};
  EXPECT_EQ(ended(), (apimachinery::Time{.seconds = 700}));
  deployment.metadata.annotations = {{"reloader.kubexx.io/rollout-state", "completed u"}};
  EXPECT_FALSE(ended());
}

TEST(WantedPods, AreInTheProjectionOfAWorkloadWithARolloutThatIsFollowed) {
  const auto wanted = [](WorkloadKind kind, const std::string& record, const std::string& rest) {
    cache::Object object{
        .encoding = codec::Encoding::kJson,
        .bytes = R"({"metadata":{"namespace":"ns","name":"w","uid":"u","annotations":)"
                 R"({"reloader.kubexx.io/rollout-state":")" +
                 record + R"("}},)" + rest + "}"};
    EXPECT_TRUE(ProjectWorkload(kind, {}, object));
    return WorkloadFrom(kind, object)->wanted;
  };
  const std::string four = R"("spec":{"replicas":4,"template":{}})";
  const std::string none = R"("spec":{"template":{}})";
  for (const WorkloadKind kind : {WorkloadKind::kDeployment, WorkloadKind::kStatefulSet,
                                  WorkloadKind::kRollout, WorkloadKind::kDeploymentConfig}) {
    EXPECT_EQ(wanted(kind, "started u", four), 4);
    EXPECT_EQ(wanted(kind, "completed u", four), std::nullopt);
  }
  EXPECT_EQ(wanted(WorkloadKind::kDeployment, "started u", none), 1) << "the API's default";
  EXPECT_EQ(wanted(WorkloadKind::kRollout, "started u", none), std::nullopt);
  EXPECT_EQ(wanted(WorkloadKind::kDaemonSet, "started u",
                   none + R"(,"status":{"desiredNumberScheduled":7})"),
            7);
}

}  // namespace
}  // namespace kubexx::reloader
