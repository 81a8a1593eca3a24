// Tests what a user sees who changes, deletes and makes workloads anew. The results are those of
// kube-controller-manager.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "kubexx/api/apps/v1/resources.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/batch/v1/resources.gen.h"
#include "kubexx/api/batch/v1/types.gen.h"
#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apiserver/controllers/pods.h"
#include "kubexx/apiserver/controllers/testing/controllers_fixture.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/controller/conditions.h"
#include "kubexx/kubernetes/options.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::apiserver::controllers {
namespace {

using api::apps::v1::DaemonSet;
using api::apps::v1::Deployment;
using api::apps::v1::ReplicaSet;
using api::apps::v1::StatefulSet;
using api::batch::v1::Job;
using api::core::v1::Node;
using api::core::v1::Pod;
using ::testing::Contains;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kAgain = R"({"spec":{"template":{"metadata":{"annotations":{"a":"b"}}}}})";
/// A node whose kubelet does not answer, so its pods neither run nor end.
constexpr const char* kOther = "other";

class WorkloadSequencesTest : public ControllersFixture {
 protected:
  template <class T>
  T PatchOf(const std::string& name, const std::string& patch) const {
    const auto patched = Client<T>().Patch(name, rest::PatchType::kMerge, patch);
    EXPECT_TRUE(patched.has_value()) << patched.error().ToString();
    return patched ? *patched : T();
  }
  /// Returns once the controller has looked at everything that was there before, and at one more
  /// change.
  template <class T>
  T AwaitLook(const std::string& name) const {
    static int limit = 20;
    const T changed =
        PatchOf<T>(name, R"({"spec":{"revisionHistoryLimit":)" + std::to_string(++limit) + "}}");
    return Await<T>(name, [&](const T& each) {
      return each.status.observed_generation >= changed.metadata.generation;
    });
  }
  template <class T>
  T Get(const std::string& name) const {
    const auto got = Client<T>().Get(name);
    EXPECT_TRUE(got.has_value()) << got.error().ToString();
    return got ? *got : T();
  }
  template <class T>
  void DeleteAndOrphan(const std::string& name) const {
    const auto gone = Client<T>().Delete(name, {.propagation = kubernetes::Propagation::kOrphan});
    EXPECT_TRUE(gone.has_value()) << gone.error().ToString();
    AwaitGone<T>(name);
  }
  std::vector<std::string> PodUids() const {
    std::vector<std::string> uids;
    for (const Pod& pod : All<Pod>()) {
      uids.push_back(pod.metadata.uid);
    }
    std::ranges::sort(uids);
    return uids;
  }
  void AddNode() const {
    Node node;
    node.metadata.name = kOther;
    Create(node);
  }
  /// Returns a pod of that node.
  Pod PodOfNode() const {
    const auto pods = All<Pod>();
    const auto found =
        std::ranges::find_if(pods, [](const Pod& pod) { return pod.spec.node_name == kOther; });
    EXPECT_NE(found, pods.end());
    return found == pods.end() ? Pod() : *found;
  }
  /// Removes the pod as its kubelet does when the containers have ended.
  void Remove(const Pod& pod) const {
    const auto gone = Client<Pod>().Delete(pod.metadata.name, {.grace_period_seconds = 0});
    EXPECT_TRUE(gone.has_value()) << gone.error().ToString();
  }
  static StatefulSet Database(std::int32_t replicas) {
    auto db = Workload<StatefulSet>("db");
    db.spec.replicas = replicas;
    return db;
  }
};

TEST_F(WorkloadSequencesTest, ACordonedNodeKeepsTheDaemonSetsPod) {
  Create(Workload<DaemonSet>("agent"));
  const auto runs = [](const DaemonSet& set) { return set.status.number_available == 1; };
  Await<DaemonSet>("agent", runs);
  const auto before = PodUids();
  PatchOf<Node>("kubexx-node", R"({"spec":{"unschedulable":true}})");
  EXPECT_EQ(AwaitLook<DaemonSet>("agent").status.desired_number_scheduled, 1);
  EXPECT_EQ(PodUids(), before);
  EXPECT_THAT(All<Pod>().at(0).spec.tolerations,
              Contains(Field(&api::core::v1::Toleration::key, "node.kubernetes.io/unschedulable")));
}

TEST_F(WorkloadSequencesTest, ADaemonSetsPodIsReplacedWhenItIsGone) {
  AddNode();
  Create(Workload<DaemonSet>("agent"));
  const auto has = [](std::int32_t pods) {
    return [pods](const DaemonSet& set) { return set.status.updated_number_scheduled == pods; };
  };
  Await<DaemonSet>("agent", has(2));
  const Pod first = PodOfNode();
  ASSERT_TRUE(Client<Pod>().Delete(first.metadata.name));
  Await<DaemonSet>("agent", has(1));
  AwaitLook<DaemonSet>("agent");
  EXPECT_THAT(All<Pod>(), SizeIs(2)) << "two would be on one node";
  Remove(first);
  Await<DaemonSet>("agent", has(2));
  EXPECT_NE(PodOfNode().metadata.uid, first.metadata.uid);
}

TEST_F(WorkloadSequencesTest, AFinalizerOfAPodHoldsUpItsNameOnly) {
  Create(Web(1));
  Await<Deployment>("web", IsDone);
  const std::string pod = All<Pod>().at(0).metadata.name;
  PatchOf<Pod>(pod, R"({"metadata":{"finalizers":["example.com/slow"]}})");
  ASSERT_TRUE(Client<Pod>().Delete(pod));
  const Pod ended =
      Await<Pod>(pod, [](const Pod& each) { return each.status.phase == "Succeeded"; });
  EXPECT_TRUE(ended.metadata.deletion_timestamp.has_value());
  KX_AWAIT_EQ(CountPods(), 2U);
  Await<Deployment>(
      "web", [](const Deployment& d) { return IsDone(d) && d.status.terminating_replicas == 0; });
}

TEST_F(WorkloadSequencesTest, PodsBelowThePartitionComeBackAsTheyWere) {
  StatefulSet db = Database(3);
  db.spec.ordinals.emplace().start = 5;
  db.spec.revision_history_limit = 0;
  db.spec.update_strategy.type = "RollingUpdate";
  db.spec.update_strategy.rolling_update.emplace().partition = 2;
  Create(db);
  const auto updated = [](std::int32_t pods) {
    return [pods](const StatefulSet& set) {
      return set.status.observed_generation >= set.metadata.generation &&
             set.status.ready_replicas == 3 && set.status.updated_replicas == pods;
    };
  };
  const StatefulSet first = Await<StatefulSet>("db", updated(3));
  PatchOf<StatefulSet>("db", kAgain);
  StatefulSet now = Await<StatefulSet>("db", updated(1));
  EXPECT_EQ(now.status.current_revision, first.status.update_revision);
  EXPECT_EQ(now.status.current_replicas, 2);
  EXPECT_TRUE(Get<Pod>("db-7").metadata.annotations.contains("a")) << "the third, counted from 5";
  const Pod old = Get<Pod>("db-5");
  ASSERT_TRUE(Client<Pod>().Delete("db-5"));
  const Pod back =
      Await<Pod>("db-5", [&](const Pod& pod) { return pod.metadata.uid != old.metadata.uid; });
  EXPECT_FALSE(back.metadata.annotations.contains("a"));
  EXPECT_EQ(back.metadata.labels.at("controller-revision-hash"), now.status.current_revision);
  PatchOf<StatefulSet>("db", R"({"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}})");
  now = Await<StatefulSet>("db", updated(3));
  EXPECT_EQ(now.status.current_revision, now.status.update_revision);
  EXPECT_EQ(Get<Pod>("db-5").metadata.labels.at("controller-revision-hash"),
            now.status.update_revision);
}

TEST_F(WorkloadSequencesTest, AStatefulSetThatIsMadeAnewGoesOnWithThePodsOfTheLastOne) {
  Create(Database(2));
  const auto runs = [](const StatefulSet& set) { return set.status.available_replicas == 2; };
  Await<StatefulSet>("db", runs);
  const auto before = PodUids();
  DeleteAndOrphan<StatefulSet>("db");
  ASSERT_EQ(PodUids(), before);
  const StatefulSet again = Create(Database(2));
  Await<StatefulSet>("db", runs);
  EXPECT_EQ(PodUids(), before);
  EXPECT_EQ(Get<Pod>("db-1").metadata.owner_references.at(0).uid, again.metadata.uid);
}

TEST_F(WorkloadSequencesTest, ADeploymentThatIsMadeAnewGoesOnWithThePodsOfTheLastOne) {
  Create(Web(2));
  Await<Deployment>("web", IsDone);
  const auto before = PodUids();
  DeleteAndOrphan<Deployment>("web");
  const Deployment again = Create(Web(2));
  Await<Deployment>("web", IsDone);
  EXPECT_EQ(PodUids(), before);
  const auto sets = All<ReplicaSet>();
  ASSERT_THAT(sets, SizeIs(1));
  EXPECT_EQ(sets[0].metadata.owner_references.at(0).uid, again.metadata.uid);
}

TEST_F(WorkloadSequencesTest, APodWhoseLabelsAreChangedLeavesItsReplicaSetAndMayComeBack) {
  Create(Web(1));
  Await<Deployment>("web", IsDone);
  const std::string pod = All<Pod>().at(0).metadata.name;
  PatchOf<Pod>(pod, R"({"metadata":{"labels":{"app":"under-examination"}}})");
  Await<Pod>(pod, [](const Pod& each) { return each.metadata.owner_references.empty(); });
  KX_AWAIT_EQ(CountPods(), 2U);
  PatchOf<Pod>(pod, R"({"metadata":{"labels":{"app":"web"}}})");
  KX_AWAIT_EQ(CountPods(), 1U);
  EXPECT_THAT(All<Pod>().at(0).metadata.owner_references, SizeIs(1)) << "it is not too much";
}

TEST_F(WorkloadSequencesTest, APodThatHasEndedIsNeitherTakenNorLetGo) {
  Pod ended = PodOf(Workload<ReplicaSet>("set").spec.template_, "default");
  ended.metadata.name = "ended";
  ended.spec.restart_policy = "Never";
  Create(ended);
  Await<Pod>("ended", [](const Pod& pod) { return pod.status.phase == "Succeeded"; });
  Create(Workload<ReplicaSet>("set"));
  Await<ReplicaSet>("set", [](const ReplicaSet& set) { return set.status.ready_replicas == 1; });
  EXPECT_THAT(Get<Pod>("ended").metadata.owner_references, IsEmpty());
}

TEST_F(WorkloadSequencesTest, RecreateWaitsUntilTheOldPodsAreGone) {
  AddNode();
  Deployment web = Web(1);
  web.spec.strategy.type = "Recreate";
  web.spec.template_.spec.node_name = kOther;
  Create(web);
  KX_AWAIT_EQ(CountPods(), 1U);
  const Pod pod = PodOfNode();
  ASSERT_TRUE(Client<Pod>().PatchStatus(
      pod.metadata.name, rest::PatchType::kMerge,
      R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})"));
  Await<Deployment>("web", IsDone);
  Patch(kAgain);
  Await<Deployment>("web", [](const Deployment& d) { return d.status.terminating_replicas == 1; });
  AwaitLook<Deployment>("web");
  EXPECT_THAT(All<Pod>(), SizeIs(1)) << "the old one still runs";
  Remove(pod);
  Await<Deployment>("web", [](const Deployment& d) { return d.status.updated_replicas == 1; });
  EXPECT_NE(PodOfNode().metadata.uid, pod.metadata.uid);
}

TEST_F(WorkloadSequencesTest, APausedDeploymentIsScaledWithTheTemplateThatItHad) {
  Create(Web(0));
  Await<Deployment>("web", [](const Deployment& d) { return d.status.observed_generation > 0; });
  Patch(
      R"({"spec":{"paused":true,"replicas":2,"template":{"metadata":{"annotations":{"a":"b"}}}}})");
  const Deployment web = Await<Deployment>(
      "web", [](const Deployment& d) { return d.status.available_replicas == 2; });
  EXPECT_EQ(web.status.updated_replicas, 0);
}

TEST_F(WorkloadSequencesTest, AJobThatFailsTakesItsPodsAlong) {
  auto job = Workload<Job>("twice");
  job.spec.completions = 2;
  job.spec.parallelism = 2;
  job.spec.backoff_limit = 0;
  job.spec.template_.spec.node_selector["where"] = "nowhere";  // so that none ends by itself
  Create(job);
  Await<Job>("twice", [](const Job& each) { return each.status.active == 2; });
  const auto pods = All<Pod>();
  ASSERT_THAT(pods, SizeIs(2));
  ASSERT_TRUE(Client<Pod>().PatchStatus(pods[0].metadata.name, rest::PatchType::kMerge,
                                        R"({"status":{"phase":"Failed"}})"));
  const Job failed = Await<Job>("twice", [](const Job& each) {
    return controller::IsConditionTrue(each.status.conditions, "Failed");
  });
  EXPECT_EQ(failed.status.active, 0);
  AwaitGone<Pod>(pods[1].metadata.name);
}

TEST_F(WorkloadSequencesTest, AJobGoesWithItsPodsWhenItsTimeIsOver) {
  auto job = Workload<Job>("once");
  job.spec.ttl_seconds_after_finished = 0;
  Create(job);
  AwaitGone<Job>("once");
  EXPECT_THAT(All<Pod>(), IsEmpty()) << "they are deleted first";
}

TEST_F(WorkloadSequencesTest, AJobOfAnotherControllerIsLeftToIt) {
  auto job = Workload<Job>("theirs");
  job.spec.managed_by = "example.com/controller";
  Create(job);
  Create(Workload<Job>("ours"));
  Await<Job>("ours", [](const Job& each) { return each.status.succeeded == 1; });
  EXPECT_FALSE(Get<Job>("theirs").status.start_time.has_value());
  EXPECT_THAT(All<Pod>(), SizeIs(1));
}

}  // namespace
}  // namespace kubexx::apiserver::controllers
