#include "kubexx/apiserver/controllers/controllers.h"

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <utility>

#include "kubexx/api/apps/v1/resources.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/batch/v1/resources.gen.h"
#include "kubexx/api/batch/v1/types.gen.h"
#include "kubexx/api/coordination/v1/resources.gen.h"
#include "kubexx/api/coordination/v1/types.gen.h"
#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apiserver/controllers/testing/controllers_fixture.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/controller/object_helpers.h"
#include "kubexx/kubernetes/authentication_v1.gen.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::apiserver::controllers {
namespace {

using api::apps::v1::DaemonSet;
using api::apps::v1::Deployment;
using api::apps::v1::ReplicaSet;
using api::apps::v1::StatefulSet;
using api::batch::v1::Job;
using api::core::v1::ConfigMap;
using api::core::v1::Namespace;
using api::core::v1::Pod;
using api::core::v1::Secret;
using api::core::v1::ServiceAccount;
using ::testing::HasSubstr;

using ControllersTest = ControllersFixture;

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

// As in kube-controller-manager, a pod that is ending still has its place in the order.
TEST_F(ControllersTest, APodOfAStatefulSetIsNotMadeBeforeAnEarlierOneThatStillEndsHasASuccessor) {
  auto db = Workload<StatefulSet>("db");
  db.spec.replicas = 2;
  Create(db);
  const auto runs = [](const StatefulSet& set) { return set.status.available_replicas == 2; };
  Await<StatefulSet>("db", runs);
  ASSERT_TRUE(Client<Pod>().Patch("db-0", rest::PatchType::kMerge,
                                  R"({"metadata":{"finalizers":["example.com/slow"]}})"));
  ASSERT_TRUE(Client<Pod>().Delete("db-0"));
  ASSERT_TRUE(Client<Pod>().Delete("db-1"));
  AwaitGone<Pod>("db-1");
  // The status shows that the controller has looked at the StatefulSet since then.
  const auto changed = Client<StatefulSet>().Patch("db", rest::PatchType::kMerge,
                                                   R"({"spec":{"minReadySeconds":1}})");
  ASSERT_TRUE(changed.has_value()) << changed.error().ToString();
  Await<StatefulSet>("db", [&](const StatefulSet& set) {
    return set.status.observed_generation >= changed->metadata.generation;
  });
  const auto pods = All<Pod>();
  ASSERT_EQ(pods.size(), 1U);
  EXPECT_EQ(pods[0].metadata.name, "db-0");
  ASSERT_TRUE(
      Client<Pod>().Patch("db-0", rest::PatchType::kMerge, R"({"metadata":{"finalizers":null}})"));
  Await<StatefulSet>("db", runs);
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
  kubexx::testing::ApiServer server;
  const auto made = Controllers::New({.host = server.url()}, server.storage(),
                                     {.names = {"deployment", "cloud"}});
  ASSERT_FALSE(made.has_value());
  EXPECT_THAT(made.error().message, HasSubstr("garbage-collector"));
}

/// Two processes with controllers, of which each has another certificate authority.
TEST(ControllersOptionsTest, OneOfSeveralWorks) {
  kubexx::testing::ApiServer server;
  const auto client = *rest::RESTClient::New({.host = server.url(), .qps = -1});
  const auto start = [&server](const char* root_ca) {
    auto made =
        *Controllers::New({.host = server.url()}, server.storage(),
                          {.names = {"namespace"}, .root_ca = root_ca, .elects_leader = true});
    made->Start();
    return made;
  };
  const auto root_ca = [&client](const std::string& namespace_) {
    const auto found =
        kubernetes::ResourceClient<ConfigMap>(client, namespace_).Get("kube-root-ca.crt");
    return found ? found->data.at("ca.crt") : "none";
  };
  auto first = start("first");
  KX_AWAIT_EQ(root_ca("default"), "first");
  const auto second = start("second");
  for (const char* const name : {"a", "b", "c"}) {
    Namespace made;
    made.metadata.name = name;
    ASSERT_TRUE(kubernetes::ResourceClient<Namespace>(client, "").Create(made).has_value());
    KX_AWAIT_EQ(root_ca(name), "first");
  }
  const auto lease = kubernetes::ResourceClient<api::coordination::v1::Lease>(
                         client, std::string(kControllersLeaseNamespace))
                         .Get(std::string(kControllersLease));
  ASSERT_TRUE(lease.has_value()) << lease.error().ToString();
  EXPECT_EQ(lease->spec.lease_transitions.value_or(0), 0);
  first = nullptr;
  for (const char* const name : {"default", "a", "b", "c"}) {
    KX_AWAIT_EQ(root_ca(name), "second");
  }
}

}  // namespace
}  // namespace kubexx::apiserver::controllers
