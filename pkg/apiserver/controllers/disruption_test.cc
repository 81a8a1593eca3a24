#include <gtest/gtest.h>

#include <string>

#include "kubexx/api/policy/v1/resources.gen.h"
#include "kubexx/api/policy/v1/types.gen.h"
#include "kubexx/apiserver/controllers/testing/controllers_fixture.h"
#include "kubexx/kubernetes/core_v1.gen.h"

namespace kubexx::apiserver::controllers {
namespace {

using api::apps::v1::Deployment;
using api::core::v1::Node;
using api::core::v1::Pod;
using api::policy::v1::PodDisruptionBudget;
using api::policy::v1::PodDisruptionBudgetStatus;
using apimachinery::IntOrString;

class DisruptionTest : public ControllersFixture {
 protected:
  static PodDisruptionBudget Budget() {
    PodDisruptionBudget budget;
    budget.metadata.name = "web";
    budget.spec.selector.emplace().match_labels["app"] = "web";
    return budget;
  }

  // Returns the status when this many pods may be evicted and this many are healthy.
  PodDisruptionBudgetStatus Awaited(std::int32_t allowed, std::int32_t healthy) const {
    return Await<PodDisruptionBudget>("web",
                                      [&](const PodDisruptionBudget& budget) {
                                        return budget.status.observed_generation ==
                                                   budget.metadata.generation &&
                                               budget.status.disruptions_allowed == allowed &&
                                               budget.status.current_healthy == healthy;
                                      })
        .status;
  }

  apimachinery::Result<void> Evict(const std::string& pod) const {
    api::policy::v1::Eviction eviction;
    eviction.metadata.name = pod;
    return kubernetes::CoreV1Client(client_).Pods("default").Evict(eviction);
  }
};

TEST_F(DisruptionTest, SoManyMayGoAsThereAreHealthyPodsTooMany) {
  PodDisruptionBudget budget = Budget();
  budget.spec.max_unavailable = IntOrString(1);
  Create(budget);
  EXPECT_EQ(Awaited(0, 0).conditions.at(0).reason, "InsufficientPods");
  Create(Web(3));
  auto status = Awaited(1, 3);
  EXPECT_EQ(status.expected_pods, 3);
  EXPECT_EQ(status.desired_healthy, 2);
  EXPECT_EQ(status.conditions.at(0).type, "DisruptionAllowed");
  EXPECT_EQ(status.conditions.at(0).status, "True");
  EXPECT_EQ(status.conditions.at(0).reason, "SufficientPods");

  Patch(R"({"spec":{"replicas":5}})");
  EXPECT_EQ(Awaited(1, 5).desired_healthy, 4);
  budget = Await<PodDisruptionBudget>("web", [](const PodDisruptionBudget&) { return true; });
  budget.spec.max_unavailable.reset();
  budget.spec.min_available = IntOrString("50%");
  ASSERT_TRUE(Client<PodDisruptionBudget>().Update(budget));
  EXPECT_EQ(Awaited(2, 5).desired_healthy, 3);
}

TEST_F(DisruptionTest, AnEvictedPodIsReplacedAndTheNextMayGo) {
  PodDisruptionBudget budget = Budget();
  budget.spec.min_available = IntOrString(1);
  Create(budget);
  Create(Web(2));
  for (int round = 0; round < 3; ++round) {
    Awaited(1, 2);
    const std::string pod = All<Pod>().at(0).metadata.name;
    const auto evicted = Evict(pod);
    ASSERT_TRUE(evicted) << evicted.error().ToString();
    AwaitGone<Pod>(pod);
  }
  EXPECT_TRUE(Awaited(1, 2).disrupted_pods.empty());
}

TEST_F(DisruptionTest, PodsWithoutAScaleAllowNoneAndSayWhy) {
  PodDisruptionBudget budget = Budget();
  budget.spec.max_unavailable = IntOrString(1);
  Create(budget);
  Pod pod;
  pod.metadata.name = "alone";
  pod.metadata.labels["app"] = "web";
  pod.metadata.owner_references.resize(1);
  auto& owner = pod.metadata.owner_references[0];
  owner.api_version = "v1";
  owner.kind = "Node";
  owner.name = "kubexx-node";
  owner.uid = Await<Node>("kubexx-node", [](const Node&) { return true; }).metadata.uid;
  owner.controller = true;
  pod.spec.containers.resize(1);
  pod.spec.containers[0].name = "main";
  pod.spec.containers[0].image = "web:1";
  Create(pod);
  const auto status = Awaited(0, 1);
  EXPECT_EQ(status.conditions.at(0).reason, "SyncFailed");
  EXPECT_EQ(status.conditions.at(0).message,
            "the pod alone is controlled by the Node kubexx-node, which has no scale");
}

}  // namespace
}  // namespace kubexx::apiserver::controllers
