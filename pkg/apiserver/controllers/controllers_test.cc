#include "kubexx/apiserver/controllers/controllers.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
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
#include "kubexx/apiserver/server/testing/api_server.h"
#include "kubexx/cache/list_watch_from_client.h"
#include "kubexx/cache/until.h"
#include "kubexx/controller/object_helpers.h"
#include "kubexx/kubernetes/authentication_v1.gen.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::apiserver::controllers {
namespace {

using api::admissionregistration::v1::ValidatingWebhookConfiguration;
using api::apps::v1::DaemonSet;
using api::apps::v1::Deployment;
using api::apps::v1::ReplicaSet;
using api::apps::v1::StatefulSet;
using api::batch::v1::Job;
using api::core::v1::ConfigMap;
using api::core::v1::Event;
using api::core::v1::Namespace;
using api::core::v1::Pod;
using api::core::v1::Secret;
using api::core::v1::ServiceAccount;
using ::testing::HasSubstr;

/// All controllers against a server in the same process; pods are ready at once.
class ControllersTest : public ::testing::Test {
 protected:
  ControllersTest() {
    const rest::Config config{.host = server_.url(), .qps = -1};
    client_ = *rest::RESTClient::New(config);
    auto made = Controllers::New(config, server_.storage(),
                                 {.pod_start_delay = base::Duration(0), .root_ca = "a CA"});
    controllers_ = std::move(*made);
    controllers_->Start();
  }

  template <class T>
  kubernetes::ResourceClient<T> Client() const {
    return {client_, api::ResourceOf<T>().namespaced ? "default" : ""};
  }

  template <class T>
  T Create(const T& object) const {
    auto created = Client<T>().Create(object);
    EXPECT_TRUE(created.has_value()) << created.error().ToString();
    return created ? *created : object;
  }

  /// The object once it is as wanted.
  template <class T>
  T Await(const std::string& name, const std::function<bool(const T&)>& wanted) const {
    const bool namespaced = api::ResourceOf<T>().namespaced;
    const auto found = cache::WaitFor<T>(
        cache::NewListWatchFromClient(client_, api::ResourceOf<T>(), namespaced ? "default" : ""),
        {namespaced ? "default" : "", name},
        [&wanted](const T* object) { return object != nullptr && wanted(*object); }, {},
        {.timeout = std::chrono::minutes(3)});
    EXPECT_TRUE(found.has_value()) << name << ": " << found.error().ToString();
    return found && *found ? **found : T();
  }
  template <class T>
  void AwaitGone(const std::string& name) const {
    const auto gone =
        cache::WaitFor<T>(cache::NewListWatchFromClient(client_, api::ResourceOf<T>(), "default"),
                          {"default", name}, [](const T* object) { return object == nullptr; }, {},
                          {.timeout = std::chrono::minutes(3)});
    EXPECT_TRUE(gone.has_value()) << name << ": " << gone.error().ToString();
  }

  template <class T>
  static T Workload(const std::string& name) {
    T workload;
    workload.metadata.name = name;
    if constexpr (!std::is_same_v<T, Job>) {
      workload.spec.selector.emplace().match_labels["app"] = name;
      workload.spec.template_.metadata.labels["app"] = name;
    } else {
      workload.spec.template_.spec.restart_policy = "Never";
    }
    workload.spec.template_.spec.containers.resize(1);
    workload.spec.template_.spec.containers[0].name = "main";
    workload.spec.template_.spec.containers[0].image = "web:1";
    return workload;
  }
  static Deployment Web(std::int32_t replicas) {
    auto web = Workload<Deployment>("web");
    web.spec.replicas = replicas;
    return web;
  }
  static bool IsDone(const Deployment& deployment) {
    const auto& status = deployment.status;
    return status.observed_generation >= deployment.metadata.generation &&
           status.updated_replicas == *deployment.spec.replicas &&
           status.replicas == *deployment.spec.replicas &&
           status.available_replicas == *deployment.spec.replicas;
  }
  Deployment Patch(const std::string& patch) const {
    const auto patched = Client<Deployment>().Patch("web", rest::PatchType::kMerge, patch);
    EXPECT_TRUE(patched.has_value()) << patched.error().ToString();
    return patched ? *patched : Deployment();
  }
  template <class T>
  std::vector<T> All() const {
    const auto listed = Client<T>().List();
    EXPECT_TRUE(listed.has_value()) << listed.error().ToString();
    return listed ? listed->items : std::vector<T>();
  }
  std::size_t CountPods() const { return All<Pod>().size(); }

  /// A webhook that nobody serves: none of them can be made.
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
  /// Those that are there go.
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
  /// Once there is one.
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

  testing::ApiServer server_;
  std::shared_ptr<rest::RESTClient> client_;
  std::unique_ptr<Controllers> controllers_;
};

TEST_F(ControllersTest, ADeploymentIsRolledOutScaledAndRolledAgain) {
  Create(Web(3));
  Deployment web = Await<Deployment>("web", IsDone);
  EXPECT_EQ(web.metadata.annotations["deployment.kubernetes.io/revision"], "1");
  EXPECT_EQ(CountPods(), 3U);
  Patch(R"({"spec":{"replicas":5}})");
  Await<Deployment>("web", [](const Deployment& d) { return IsDone(d) && d.spec.replicas == 5; });
  Patch(R"({"spec":{"template":{"metadata":{"annotations":{"again":"yes"}}}}})");
  web = Await<Deployment>("web", [](const Deployment& d) {
    return IsDone(d) && d.metadata.annotations.at("deployment.kubernetes.io/revision") == "2";
  });
  EXPECT_EQ(All<ReplicaSet>().size(), 2U);
  ASSERT_EQ(web.status.conditions.size(), 2U);
  for (const auto& condition : web.status.conditions) {
    EXPECT_EQ(condition.status, "True") << condition.type;
  }
}

TEST_F(ControllersTest, AnEarlierTemplateBecomesTheNewestRevision) {
  Create(Web(1));
  Await<Deployment>("web", IsDone);
  Patch(R"({"spec":{"template":{"metadata":{"annotations":{"a":"b"}}}}})");
  const auto at = [](const char* revision) {
    return [revision](const Deployment& d) {
      const auto found = d.metadata.annotations.find("deployment.kubernetes.io/revision");
      return IsDone(d) && found != d.metadata.annotations.end() && found->second == revision;
    };
  };
  Await<Deployment>("web", at("2"));
  Patch(R"({"spec":{"template":{"metadata":{"annotations":null}}}})");
  Await<Deployment>("web", at("3"));
  EXPECT_EQ(All<ReplicaSet>().size(), 2U);
}

TEST_F(ControllersTest, RecreateAndPauseAndNoHistory) {
  Deployment web = Web(2);
  web.spec.strategy.type = "Recreate";
  web.spec.revision_history_limit = 0;
  Create(web);
  Await<Deployment>("web", IsDone);
  Patch(R"({"spec":{"paused":true,"template":{"metadata":{"annotations":{"a":"b"}}}}})");
  Await<Deployment>("web", [](const Deployment& d) {
    return d.status.observed_generation == d.metadata.generation &&
           d.status.updated_replicas == 0 && d.status.available_replicas == 2;
  });
  Patch(R"({"spec":{"paused":false}})");
  Await<Deployment>("web", IsDone);
  const auto sets = Client<ReplicaSet>().List();
  for (const ReplicaSet& set : sets->items) {
    if (set.status.replicas == 0) {
      AwaitGone<ReplicaSet>(set.metadata.name);
    }
  }
}

TEST_F(ControllersTest, WhatADeletedDeploymentOwnsGoes) {
  Create(Web(2));
  Await<Deployment>("web", IsDone);
  const auto pods = Client<Pod>().List();
  const auto sets = Client<ReplicaSet>().List();
  ASSERT_TRUE(Client<Deployment>().Delete("web").has_value());
  for (const Pod& pod : pods->items) {
    AwaitGone<Pod>(pod.metadata.name);
  }
  for (const ReplicaSet& set : sets->items) {
    AwaitGone<ReplicaSet>(set.metadata.name);
  }
}

TEST_F(ControllersTest, AnOwnerThatIsGoneTakesItsObjectsAlongAndOneThatStaysKeepsThem) {
  ConfigMap owner;
  owner.metadata.name = "owner";
  owner = Create(owner);
  ConfigMap stays;
  stays.metadata.name = "stays";
  stays = Create(stays);
  ConfigMap owned;
  owned.metadata.name = "owned";
  owned.metadata.namespace_ = "default";
  ASSERT_TRUE(controller::SetOwnerReference(owner, owned).has_value());
  Create(owned);
  owned.metadata.name = "shared";
  ASSERT_TRUE(controller::SetOwnerReference(stays, owned).has_value());
  Create(owned);
  ASSERT_TRUE(Client<ConfigMap>().Delete("owner").has_value());
  AwaitGone<ConfigMap>("owned");
  const auto shared = Await<ConfigMap>(
      "shared", [](const ConfigMap& map) { return map.metadata.owner_references.size() == 1; });
  EXPECT_EQ(shared.metadata.owner_references[0].name, "stays");
}

TEST_F(ControllersTest, AStatefulSetHasNumberedPodsAndReplacesThem) {
  auto db = Workload<StatefulSet>("db");
  db.spec.replicas = 2;
  Create(db);
  const auto done = [](const StatefulSet& set) {
    return set.status.observed_generation >= set.metadata.generation &&
           set.status.ready_replicas == 2 && set.status.updated_replicas == 2 &&
           set.status.current_revision == set.status.update_revision;
  };
  const StatefulSet first = Await<StatefulSet>("db", done);
  EXPECT_TRUE(Client<Pod>().Get("db-0").has_value());
  EXPECT_TRUE(Client<Pod>().Get("db-1").has_value());
  ASSERT_TRUE(Client<StatefulSet>()
                  .Patch("db", rest::PatchType::kMerge,
                         R"({"spec":{"template":{"metadata":{"annotations":{"a":"b"}}}}})")
                  .has_value());
  Await<StatefulSet>("db", [&](const StatefulSet& set) {
    return done(set) && set.status.update_revision != first.status.update_revision;
  });
  EXPECT_EQ(All<api::apps::v1::ControllerRevision>().size(), 2U);
}

TEST_F(ControllersTest, ADaemonSetIsOnTheNode) {
  Create(Workload<DaemonSet>("agent"));
  Await<DaemonSet>("agent", [](const DaemonSet& set) { return set.status.number_available == 1; });
  const auto pods = All<Pod>();
  ASSERT_FALSE(pods.empty());
  EXPECT_EQ(pods[0].spec.node_name, "kubexx-node");
}

TEST_F(ControllersTest, AJobCompletes) {
  auto job = Workload<Job>("once");
  job.spec.completions = 3;
  job.spec.parallelism = 2;
  Create(job);
  const Job done =
      Await<Job>("once", [](const Job& each) { return !each.status.conditions.empty(); });
  EXPECT_EQ(done.status.succeeded, 3);
  EXPECT_EQ(done.status.conditions.back().type, "Complete");
  EXPECT_EQ(CountPods(), 3U);
}

TEST_F(ControllersTest, ADeploymentTellsThatItsPodsAreRefusedUntilTheyAreNot) {
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

TEST_F(ControllersTest, AStatefulSetADaemonSetAndAJobSayHowManyPodsThereAreWhenNewOnesAreRefused) {
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

TEST_F(ControllersTest, ADeploymentTellsThatItsReplicaSetIsRefusedUntilItIsNot) {
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

TEST_F(ControllersTest, TheRevisionOfADeploymentIsNoNewGeneration) {
  Create(Web(1));
  const Deployment web = Await<Deployment>("web", IsDone);
  EXPECT_EQ(web.metadata.annotations.at("deployment.kubernetes.io/revision"), "1");
  EXPECT_EQ(web.metadata.generation, 1);
}

TEST_F(ControllersTest, EachNamespaceHasAnAccountAndTheAuthority) {
  Await<ServiceAccount>("default", [](const ServiceAccount&) { return true; });
  const auto map = Await<ConfigMap>("kube-root-ca.crt", [](const ConfigMap&) { return true; });
  EXPECT_EQ(map.data.at("ca.crt"), "a CA");
  ASSERT_TRUE(Client<ConfigMap>().Delete("kube-root-ca.crt").has_value());
  Await<ConfigMap>("kube-root-ca.crt",
                   [&](const ConfigMap& again) { return again.metadata.uid != map.metadata.uid; });
}

TEST_F(ControllersTest, SecretsForTokensHaveOneUntilTheirAccountGoes) {
  ServiceAccount account;
  account.metadata.name = "robot";
  Create(account);
  Secret secret;
  secret.metadata.name = "robot-token";
  secret.metadata.annotations["kubernetes.io/service-account.name"] = "robot";
  secret.type = "kubernetes.io/service-account-token";
  Create(secret);
  secret =
      Await<Secret>("robot-token", [](const Secret& each) { return each.data.contains("token"); });
  EXPECT_EQ(secret.data["ca.crt"].view(), "a CA");
  EXPECT_EQ(secret.data["namespace"].view(), "default");
  const auto as_robot = *rest::RESTClient::New(
      {.host = server_.url(), .bearer_token = std::string(secret.data["token"].view())});
  const auto who = kubernetes::AuthenticationV1Client(as_robot).SelfSubjectReviews().Create({});
  ASSERT_TRUE(who) << who.error().ToString();
  EXPECT_EQ(who->status.user_info.username, "system:serviceaccount:default:robot");
  ASSERT_TRUE(Client<ServiceAccount>().Delete("robot").has_value());
  AwaitGone<Secret>("robot-token");
}

TEST(ControllersOptionsTest, AnUnknownNameIsRefused) {
  testing::ApiServer server;
  const auto made = Controllers::New({.host = server.url()}, server.storage(),
                                     {.names = {"deployment", "cloud"}});
  ASSERT_FALSE(made.has_value());
  EXPECT_THAT(made.error().message, HasSubstr("garbage-collector"));
}

}  // namespace
}  // namespace kubexx::apiserver::controllers
