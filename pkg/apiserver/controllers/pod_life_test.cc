#include "kubexx/apiserver/controllers/pod_life.h"

#include <gmock/gmock.h>

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "kubexx/apiserver/controllers/pods.h"
#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::apiserver::controllers {
namespace {

using std::chrono::milliseconds;

Pod PodOn(const char* node) {
  Pod pod;
  pod.metadata.name = "web";
  pod.metadata.uid = "uid";
  pod.spec.node_name = node;
  pod.spec.containers.resize(1);
  pod.spec.containers[0].name = "main";
  pod.spec.containers[0].image = "web:1";
  return pod;
}

class PodLivesTest : public ::testing::Test {
 protected:
  PodLives::Next Next(const Pod& pod) { return lives_.Of(pod, clock_.Now()); }
  apimachinery::Time Now() const { return apimachinery::Time::From(clock_.Wall()); }

  base::testing::FakeClock clock_;
  PodLives lives_{milliseconds(200)};
};

TEST_F(PodLivesTest, APodWithoutANodeIsScheduledAtOnce) {
  EXPECT_EQ(Next(PodOn("")).step, PodStep::kSchedule);
}

TEST_F(PodLivesTest, APodWithSchedulingGatesWaitsForThem) {
  Pod pod = PodOn("");
  pod.spec.scheduling_gates.resize(1);
  pod.spec.scheduling_gates[0].name = "e.example/wait";
  EXPECT_EQ(Next(pod).step, PodStep::kNothing);
  pod.spec.scheduling_gates.clear();
  EXPECT_EQ(Next(pod).step, PodStep::kSchedule);
}

TEST_F(PodLivesTest, AnotherNodesPodIsLeftAlone) {
  Pod pod = PodOn("other");
  EXPECT_EQ(Next(pod).step, PodStep::kNothing);
}

TEST_F(PodLivesTest, AnotherSchedulersPodIsLeftToIt) {
  Pod pod = PodOn("");
  pod.spec.scheduler_name = "mine";
  EXPECT_EQ(Next(pod).step, PodStep::kNothing);
  pod.spec.scheduler_name = "default-scheduler";
  EXPECT_EQ(Next(pod).step, PodStep::kSchedule);
  pod = PodOn(kNodeName);
  pod.spec.scheduler_name = "mine";
  EXPECT_EQ(Next(pod).step, PodStep::kWait) << "bound here, it runs";
}

TEST_F(PodLivesTest, APodRunsAfterTheDelay) {
  Pod pod = PodOn(kNodeName);
  EXPECT_EQ(Next(pod), (PodLives::Next{.step = PodStep::kWait, .wait = milliseconds(200)}));
  clock_.Advance(milliseconds(150));
  EXPECT_EQ(Next(pod), (PodLives::Next{.step = PodStep::kWait, .wait = milliseconds(50)}));
  clock_.Advance(milliseconds(50));
  EXPECT_EQ(Next(pod).step, PodStep::kRun);
  pod.status = RunningStatus(pod, "10.244.0.2", Now());
  lives_.Forget({"", "web"});
  EXPECT_EQ(Next(pod).step, PodStep::kNothing);
}

TEST_F(PodLivesTest, APodThatGoesWhileItWaitsIsForgotten) {
  Pod pod = PodOn(kNodeName);
  EXPECT_EQ(Next(pod).step, PodStep::kWait);
  EXPECT_EQ(lives_.waiting(), 1U);
  clock_.Advance(milliseconds(200));
  pod.metadata.uid = "another of its name";
  EXPECT_EQ(Next(pod), (PodLives::Next{.step = PodStep::kWait, .wait = milliseconds(200)}));
  EXPECT_EQ(lives_.waiting(), 1U);
  lives_.Forget({"", "web"});
  EXPECT_EQ(lives_.waiting(), 0U);
}

TEST_F(PodLivesTest, APodThatIsNotAlwaysRestartedEnds) {
  Pod pod = PodOn(kNodeName);
  pod.spec.restart_policy = "Never";
  pod.status = RunningStatus(pod, "10.244.0.2", Now());
  EXPECT_EQ(Next(pod).step, PodStep::kWait);
  clock_.Advance(milliseconds(200));
  EXPECT_EQ(Next(pod).step, PodStep::kSucceed);
  pod.status = SucceededStatus(pod, Now());
  EXPECT_EQ(Next(pod).step, PodStep::kNothing);
  EXPECT_FALSE(IsActive(pod));
  EXPECT_FALSE(IsReady(pod));
}

TEST_F(PodLivesTest, ADeletedPodIsRemoved) {
  Pod pod = PodOn(kNodeName);
  pod.metadata.deletion_timestamp = Now();
  EXPECT_EQ(Next(pod).step, PodStep::kRemove);
  pod.spec.node_name = "another";
  EXPECT_EQ(Next(pod).step, PodStep::kOrphan);
}

TEST_F(PodLivesTest, ADeletedPodEndsAlsoWhereAFinalizerKeepsIt) {
  Pod pod = PodOn(kNodeName);
  pod.status = RunningStatus(pod, "10.244.0.2", Now());
  pod.metadata.finalizers = {"example.com/slow"};
  pod.metadata.deletion_timestamp = Now();
  EXPECT_TRUE(IsTerminating(pod));
  EXPECT_EQ(Next(pod).step, PodStep::kSucceed);
  pod.status = SucceededStatus(pod, Now());
  EXPECT_FALSE(IsTerminating(pod));
  EXPECT_EQ(Next(pod).step, PodStep::kRemove);
}

TEST_F(PodLivesTest, ARunningPodIsReadyAndTellsOfItsContainers) {
  Pod pod = PodOn(kNodeName);
  pod.status = RunningStatus(pod, "10.244.0.2", Now());
  EXPECT_EQ(pod.status.phase, "Running");
  EXPECT_TRUE(IsReady(pod));
  EXPECT_TRUE(IsAvailable(pod, 0, Now()));
  EXPECT_FALSE(IsAvailable(pod, 5, Now()));
  clock_.Advance(std::chrono::seconds(5));
  EXPECT_TRUE(IsAvailable(pod, 5, Now()));
  ASSERT_EQ(pod.status.container_statuses.size(), 1U);
  EXPECT_EQ(pod.status.container_statuses[0].image, "web:1");
  EXPECT_TRUE(pod.status.container_statuses[0].ready);
}

TEST_F(PodLivesTest, APodIsReadyWhenItsReadinessGatesAllowIt) {
  Pod pod = PodOn(kNodeName);
  pod.spec.readiness_gates.resize(1);
  pod.spec.readiness_gates[0].condition_type = "example.com/in-balancer";
  pod.status = RunningStatus(pod, "10.244.0.2", Now());
  EXPECT_FALSE(IsReady(pod));
  EXPECT_EQ(ConditionOf(pod, "ContainersReady"), "True");
  EXPECT_EQ(Next(pod).step, PodStep::kNothing);
  auto& gate = pod.status.conditions.emplace_back();
  gate.type = "example.com/in-balancer";
  gate.status = "True";
  EXPECT_EQ(Next(pod).step, PodStep::kGate);
  pod.status = GatedStatus(pod, Now());
  EXPECT_TRUE(IsReady(pod));
  EXPECT_EQ(Next(pod).step, PodStep::kNothing);
  pod.status.conditions.back().status = "False";
  ASSERT_EQ(pod.status.conditions.back().type, "example.com/in-balancer");
  EXPECT_EQ(Next(pod).step, PodStep::kGate);
  pod.status = GatedStatus(pod, Now());
  EXPECT_FALSE(IsReady(pod));
}

TEST(PodsTest, AHashTellsTemplatesApart) {
  PodTemplateSpec one;
  one.spec.containers.resize(1);
  PodTemplateSpec other = one;
  other.spec.containers[0].image = "web:2";
  EXPECT_EQ(TemplateHash(one), TemplateHash(PodTemplateSpec(one)));
  EXPECT_NE(TemplateHash(one), TemplateHash(other));
  EXPECT_NE(TemplateHash(one), TemplateHash(one, 1));
  EXPECT_EQ(TemplateHash(one).size(), 7U);
}

TEST(PodsTest, TheLeastMissedGoFirst) {
  const auto make = [](const char* name, const char* node, const char* phase) {
    Pod pod = PodOn(node);
    pod.metadata.name = name;
    pod.status.phase = phase;
    return std::make_shared<const Pod>(std::move(pod));
  };
  std::vector<PodRef> pods = {make("runs", "n", "Running"), make("waits", "n", "Pending"),
                              make("nowhere", "", "Pending")};
  SortForDeletion(pods);
  EXPECT_EQ(pods[0]->metadata.name, "nowhere");
  EXPECT_EQ(pods[1]->metadata.name, "waits");
  EXPECT_EQ(pods[2]->metadata.name, "runs");
}

TEST(PodsTest, OfPodsThatServeAlikeTheCheapestGoesFirst) {
  const auto make = [](const char* name, const char* cost) {
    Pod pod = PodOn("n");
    pod.metadata.name = name;
    pod.status.phase = "Running";
    pod.metadata.annotations["controller.kubernetes.io/pod-deletion-cost"] = cost;
    return std::make_shared<const Pod>(std::move(pod));
  };
  std::vector<PodRef> pods = {make("a", "10"), make("b", "much"), make("c", "-3")};
  SortForDeletion(pods);
  EXPECT_EQ(pods[0]->metadata.name, "c");
  EXPECT_EQ(pods[1]->metadata.name, "b") << "what is no number counts as 0";
  EXPECT_EQ(pods[2]->metadata.name, "a");
}

TEST(DeletionsTest, AreForgottenWithTheirOwnerOrWhenTheCacheKnows) {
  Pod pod = PodOn("n");
  const apimachinery::ObjectKey owner{"default", "web"};
  const std::vector<PodRef> cached = {std::make_shared<const Pod>(pod)};
  Deletions deletions;
  deletions.Note(owner, "uid");
  std::vector<PodRef> pods = cached;
  EXPECT_EQ(deletions.Filter(owner, pods).size(), 1U);
  EXPECT_TRUE(pods.empty());
  deletions.Forget(owner);
  pods = cached;
  EXPECT_TRUE(deletions.Filter(owner, pods).empty());
  EXPECT_EQ(pods.size(), 1U);
  deletions.Note(owner, "uid");
  pods.clear();
  EXPECT_TRUE(deletions.Filter(owner, pods).empty()) << "the cache knows";
  pods = cached;
  EXPECT_TRUE(deletions.Filter(owner, pods).empty());
}

}  // namespace
}  // namespace kubexx::apiserver::controllers
