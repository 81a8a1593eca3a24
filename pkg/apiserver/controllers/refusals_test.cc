#include "kubexx/apiserver/controllers/refusals.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/api/admissionregistration/v1/resources.gen.h"
#include "kubexx/api/admissionregistration/v1/types.gen.h"
#include "kubexx/api/apps/v1/resources.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/batch/v1/resources.gen.h"
#include "kubexx/api/batch/v1/types.gen.h"
#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apiserver/controllers/testing/controllers_fixture.h"
#include "kubexx/cache/list_watch_from_client.h"
#include "kubexx/cache/typed_object.h"
#include "kubexx/cache/watch/until.h"

namespace kubexx::apiserver::controllers {
namespace {

using api::admissionregistration::v1::ValidatingWebhookConfiguration;
using api::apps::v1::DaemonSet;
using api::apps::v1::Deployment;
using api::apps::v1::ReplicaSet;
using api::apps::v1::StatefulSet;
using api::batch::v1::Job;
using api::core::v1::Event;
using api::core::v1::Pod;
using ::testing::HasSubstr;

class RefusalsTest : public ControllersFixture {
 protected:
  /// A webhook that nobody serves, so that no such object can be created.
  static ValidatingWebhookConfiguration Refusal(const std::string& resource) {
    ValidatingWebhookConfiguration refusal;
    refusal.metadata.name = "refusal";
    auto& hook = refusal.webhooks.emplace_back();
    hook.name = "no." + resource + ".example";
    hook.client_config.url = "https://127.0.0.1:1/";
    hook.side_effects = "None";
    hook.admission_review_versions = {"v1"};
    auto& rule = hook.rules.emplace_back();
    rule.operations = {"CREATE"};
    rule.rule.api_groups = {""};
    rule.rule.api_versions = {"v1"};
    rule.rule.resources = {resource};
    return refusal;
  }
  /// Refuses new pods and deletes the present ones.
  void RefuseAllPods() const {
    Create(Refusal("pods"));
    for (const Pod& pod : All<Pod>()) {
      (void)Client<Pod>().Delete(pod.metadata.name);
    }
  }
  void Allow() const {
    const auto gone = Client<ValidatingWebhookConfiguration>().Delete("refusal");
    EXPECT_TRUE(gone.has_value()) << gone.error().ToString();
  }
  template <class T>
  static const auto* ConditionOf(const T& object, std::string_view type) {
    const auto& all = object.status.conditions;
    const auto found = std::ranges::find_if(all, [&](const auto& c) { return c.type == type; });
    return found == all.end() ? nullptr : &*found;
  }
  /// Returns the Event once there is one.
  Event AwaitWarning(const std::string& kind, const std::string& reason) const {
    std::optional<Event> found;
    const auto matches = [&](const cache::WatchEvent& seen) -> apimachinery::Result<bool> {
      KX_ASSIGN_OR_RETURN(Event event, cache::DecodeObject<Event>(seen.object));
      if (event.involved_object.kind == kind && event.reason == reason) {
        found = std::move(event);
      }
      return found.has_value();
    };
    const auto waited = cache::UntilWithSync(
        cache::NewListWatchFromClient(client_, api::ResourceOf<Event>(), "default"), {}, {matches},
        {}, {.timeout = std::chrono::minutes(3)});
    EXPECT_TRUE(waited.has_value()) << kind << ": " << waited.error().ToString();
    return found.value_or(Event());
  }
};

TEST_F(RefusalsTest, ADeploymentTellsThatItsPodsAreRefusedUntilTheyAreNot) {
  Create(Web(3));
  Await<Deployment>("web", IsDone);
  const auto sets = All<ReplicaSet>();
  ASSERT_EQ(sets.size(), 1U);
  const std::string name = sets[0].metadata.name;
  RefuseAllPods();
  const auto set = Await<ReplicaSet>(name, [](const ReplicaSet& each) {
    return each.status.replicas == 0 && ConditionOf(each, "ReplicaFailure") != nullptr;
  });
  EXPECT_EQ(set.status.ready_replicas + set.status.available_replicas, 0);
  EXPECT_EQ(ConditionOf(set, "ReplicaFailure")->status, "True");
  EXPECT_EQ(ConditionOf(set, "ReplicaFailure")->reason, "FailedCreate");
  EXPECT_THAT(ConditionOf(set, "ReplicaFailure")->message, HasSubstr("no.pods.example"));
  const auto web = Await<Deployment>("web", [](const Deployment& each) {
    return each.status.replicas == 0 && ConditionOf(each, "ReplicaFailure") != nullptr;
  });
  EXPECT_EQ(web.status.unavailable_replicas, 3);
  EXPECT_EQ(ConditionOf(web, "Available")->reason, "MinimumReplicasUnavailable");
  EXPECT_EQ(ConditionOf(web, "ReplicaFailure")->reason, "FailedCreate");
  const Event event = AwaitWarning("ReplicaSet", "FailedCreate");
  EXPECT_EQ(event.type, "Warning");
  EXPECT_EQ(event.involved_object.name, name);
  EXPECT_EQ(event.source.component, "replicaset-controller");
  EXPECT_THAT(event.message, ::testing::StartsWith("Error creating: "));
  Allow();
  Await<ReplicaSet>(name, [](const ReplicaSet& each) {
    return each.status.available_replicas == 3 && each.status.conditions.empty();
  });
  Await<Deployment>("web", [](const Deployment& each) {
    return IsDone(each) && ConditionOf(each, "ReplicaFailure") == nullptr &&
           ConditionOf(each, "Available")->status == "True";
  });
}

TEST_F(RefusalsTest, AStatefulSetADaemonSetAndAJobSayHowManyPodsThereAreWhenNewOnesAreRefused) {
  auto job = Workload<Job>("once");
  job.spec.suspend = true;
  Create(job);
  auto db = Workload<StatefulSet>("db");
  db.spec.replicas = 2;
  Create(db);
  Create(Workload<DaemonSet>("agent"));
  const auto db_runs = [](const StatefulSet& each) { return each.status.available_replicas == 2; };
  const auto agent_runs = [](const DaemonSet& each) { return each.status.number_available == 1; };
  Await<StatefulSet>("db", db_runs);
  Await<DaemonSet>("agent", agent_runs);
  RefuseAllPods();
  ASSERT_TRUE(
      Client<Job>().Patch("once", rest::PatchType::kMerge, R"({"spec":{"suspend":false}})"));
  const auto set =
      Await<StatefulSet>("db", [](const StatefulSet& each) { return each.status.replicas == 0; });
  EXPECT_EQ(set.status.ready_replicas + set.status.updated_replicas, 0);
  Await<DaemonSet>("agent", [](const DaemonSet& each) {
    return each.status.number_ready == 0 && each.status.current_number_scheduled == 0 &&
           each.status.number_unavailable == 1;
  });
  Await<Job>("once", [](const Job& each) { return each.status.start_time.has_value(); });
  EXPECT_THAT(AwaitWarning("StatefulSet", "FailedCreate").message,
              ::testing::StartsWith("create Pod db-0 in StatefulSet db failed error: "));
  AwaitWarning("DaemonSet", "FailedCreate");
  AwaitWarning("Job", "FailedCreate");
  Allow();
  Await<StatefulSet>("db", db_runs);
  Await<DaemonSet>("agent", agent_runs);
  Await<Job>("once", [](const Job& each) { return each.status.succeeded == 1; });
}

TEST_F(RefusalsTest, ADeploymentTellsThatItsReplicaSetIsRefusedUntilItIsNot) {
  ValidatingWebhookConfiguration refusal = Refusal("replicasets");
  refusal.webhooks[0].rules[0].rule.api_groups = {"apps"};
  Create(refusal);
  Create(Web(1));
  const auto web = Await<Deployment>(
      "web", [](const Deployment& each) { return ConditionOf(each, "Progressing") != nullptr; });
  EXPECT_EQ(ConditionOf(web, "Progressing")->status, "False");
  EXPECT_EQ(ConditionOf(web, "Progressing")->reason, "ReplicaSetCreateError");
  EXPECT_EQ(web.status.observed_generation, 0);
  AwaitWarning("Deployment", "ReplicaSetCreateError");
  Allow();
  Await<Deployment>("web", IsDone);
}

}  // namespace
}  // namespace kubexx::apiserver::controllers
