#include "kubexx/apiserver/controllers/deployment_status.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/controller/conditions.h"

namespace kubexx::apiserver::controllers {
namespace {

using api::apps::v1::Deployment;
using api::apps::v1::DeploymentStatus;
using api::apps::v1::ReplicaSet;
using apimachinery::Time;

class DeploymentStatusTest : public ::testing::Test {
 protected:
  DeploymentStatusTest() {
    web_.metadata.generation = 1;
    web_.spec.replicas = 3;
    web_.spec.progress_deadline_seconds = 600;
    current_ = SetOf("web-2", 3, 3);
    sets_.current = &current_;
  }
  static ReplicaSet SetOf(const std::string& name, std::int32_t replicas, std::int32_t available) {
    ReplicaSet set;
    set.metadata.name = name;
    set.spec.replicas = replicas;
    set.status.observed_generation = 1;
    set.status.replicas = replicas;
    set.status.ready_replicas = available;
    set.status.available_replicas = available;
    set.status.terminating_replicas = 0;
    return set;
  }
  /// Reconciles once, `elapsed` seconds after the start.
  const DeploymentStatus& Reconcile(std::int64_t elapsed) {
    web_.status = NextStatus(web_, sets_, {}, Time{.seconds = elapsed});
    return web_.status;
  }
  std::string Progressing() const {
    const auto* const found = controller::FindCondition(web_.status.conditions, "Progressing");
    return found == nullptr ? "" : found->status + " " + found->reason;
  }

  Deployment web_;
  ReplicaSet current_;
  ReplicaSet old_;
  ReplicaSets sets_;
};

// Otherwise the rollout of a Deployment that has ended long ago would fail when new pods do not
// fit.
TEST_F(DeploymentStatusTest, ScalingIsNoRollout) {
  Reconcile(0);
  ASSERT_EQ(Progressing(), "True NewReplicaSetAvailable");
  web_.spec.replicas = 5;
  web_.metadata.generation = 2;
  current_ = SetOf("web-2", 5, 3);
  Reconcile(10);
  EXPECT_EQ(Progressing(), "True NewReplicaSetAvailable");
  Reconcile(10000);
  EXPECT_EQ(Progressing(), "True NewReplicaSetAvailable");
  EXPECT_EQ(web_.status.unavailable_replicas, 2);
}

TEST_F(DeploymentStatusTest, ARolloutThatMakesNoProgressFailsAtItsDeadline) {
  old_ = SetOf("web-1", 3, 3);
  current_ = SetOf("web-2", 1, 0);
  sets_.old = {&old_};
  Reconcile(0);
  EXPECT_EQ(Progressing(), "True ReplicaSetUpdated");
  Reconcile(599);
  EXPECT_EQ(Progressing(), "True ReplicaSetUpdated");
  Reconcile(601);
  EXPECT_EQ(Progressing(), "False ProgressDeadlineExceeded");
  // A failed rollout does not become a good one when it is paused.
  web_.spec.paused = true;
  Reconcile(602);
  EXPECT_EQ(Progressing(), "False ProgressDeadlineExceeded");
}

TEST_F(DeploymentStatusTest, TheLargestDeadlineIsNone) {
  old_ = SetOf("web-1", 3, 3);
  current_ = SetOf("web-2", 1, 0);
  sets_.old = {&old_};
  Reconcile(0);
  ASSERT_NE(Progressing(), "");
  web_.spec.progress_deadline_seconds = std::numeric_limits<std::int32_t>::max();
  Reconcile(1);
  EXPECT_EQ(Progressing(), "");
  EXPECT_FALSE(ProgressDeadlineOf(web_).has_value());
}

TEST_F(DeploymentStatusTest, APauseStopsTheClockOfTheDeadline) {
  old_ = SetOf("web-1", 3, 3);
  current_ = SetOf("web-2", 1, 0);
  sets_.old = {&old_};
  Reconcile(0);
  web_.spec.paused = true;
  Reconcile(100);
  EXPECT_EQ(Progressing(), "Unknown DeploymentPaused");
  web_.spec.paused = false;
  Reconcile(5000);
  EXPECT_EQ(Progressing(), "Unknown DeploymentResumed");
  Reconcile(5599);
  EXPECT_EQ(Progressing(), "Unknown DeploymentResumed");
  Reconcile(5601);
  EXPECT_EQ(Progressing(), "False ProgressDeadlineExceeded");
}

TEST_F(DeploymentStatusTest, PodsThatEndAreCountedOverAllSets) {
  old_ = SetOf("web-1", 0, 0);
  old_.status.terminating_replicas = 2;
  current_.status.terminating_replicas = 1;
  sets_.old = {&old_};
  EXPECT_EQ(Reconcile(0).terminating_replicas, 3);
  old_.status.terminating_replicas.reset();
  EXPECT_FALSE(Reconcile(1).terminating_replicas.has_value()) << "nobody knows";
}

// As in kube-controller-manager, the unavailable pods are the pods of the sets that are wanted and
// not available.
TEST_F(DeploymentStatusTest, UnavailableAreThosePodsThatTheSetsAreToHave) {
  web_.spec.strategy.type = "Recreate";
  old_ = SetOf("web-1", 0, 0);
  sets_ = {.current = nullptr, .old = {&old_}};
  EXPECT_EQ(Reconcile(0).unavailable_replicas, 0);
  constexpr std::int32_t kMax = std::numeric_limits<std::int32_t>::max();
  old_.spec.replicas = kMax;
  current_.spec.replicas = kMax;
  current_.status.available_replicas = 0;
  sets_.current = &current_;
  EXPECT_EQ(Reconcile(1).unavailable_replicas, kMax);
}

}  // namespace
}  // namespace kubexx::apiserver::controllers
