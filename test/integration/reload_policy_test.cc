// Reload policies on a real API server. Without controllers a test plays them: it writes the status
// of Deployments, and so decides when a rollout is complete.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster_fixture.h"
#include "kubexx/api/apps/v1/resources.gen.h"
#include "kubexx/api/apps/v1/schema.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apimachinery/or_empty.h"
#include "kubexx/base/clock.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/reloader/operator/operator.h"
#include "kubexx/reloader/plan/baseline.h"
#include "kubexx/reloader/policy/policies.h"
#include "kubexx/reloader/watch/kubernetes_io.h"
#include "kubexx/reloader/write/writer.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/rest_client.h"
#include "policy_crds.h"

namespace kubexx::reloader {
namespace {

using integration::Await;
namespace core = api::core::v1;
namespace apps = api::apps::v1;
using kubernetes::ResourceClient;
using reloadpolicy::v1alpha1::ReloadPolicy;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Optional;
using testing::SizeIs;

constexpr char kAppVariable[] = "STAKATER_APP_CONFIGMAP";

class ReloadPolicyIntegration : public testing::Test {
 protected:
  void SetUp() override {
    const char* kubeconfig = std::getenv("KUBEXX_TEST_KUBECONFIG");
    if (kubeconfig == nullptr) {
      FAIL() << "KUBEXX_TEST_KUBECONFIG is not set; run these tests with: hack/test --integration";
    }
    auto config = rest::LoadKubeconfig({.path = kubeconfig});
    ASSERT_TRUE(config) << config.error().ToString();
    config->qps = -1;
    auto client = rest::RESTClient::New(*std::move(config));
    ASSERT_TRUE(client) << client.error().ToString();
    client_ = *client;
    namespace_ = "policy-" + std::to_string(steady_clock::now().time_since_epoch().count());
    integration::InstallPolicyCrds(client_);
    core::Namespace own;
    own.metadata.name = namespace_;
    ASSERT_TRUE(ResourceClient<core::Namespace>(client_, "").Create(own));
    core::ConfigMap config_map;
    config_map.metadata.name = "app";
    config_map.data["key"] = "old";
    ASSERT_TRUE(Client<core::ConfigMap>().Create(config_map));
  }
  void TearDown() override {
    Stop();
    if (client_) {
      EXPECT_TRUE(ResourceClient<core::Namespace>(client_, "").Delete(namespace_));
    }
  }

  /// What the policy's status says is forgotten, so that what comes is of the next operator.
  void WipeStatus() {
    ASSERT_TRUE(Client<ReloadPolicy>().Patch("gentle", rest::PatchType::kMerge,
                                             R"({"status":null})", {.subresource = "status"}));
  }

  template <class T>
  ResourceClient<T> Client() const {
    return {client_, namespace_};
  }

  void CreateDeployment(const std::string& name) {
    apps::Deployment deployment;
    deployment.metadata.name = name;
    deployment.metadata.annotations["reloader.stakater.com/auto"] = "true";
    deployment.spec.selector.emplace().match_labels["app"] = name;
    deployment.spec.template_.metadata.labels["app"] = name;
    core::Container& container = deployment.spec.template_.spec.containers.emplace_back();
    container.name = "app";
    container.image = "example.com/app:1";
    container.env_from.emplace_back().config_map_ref.emplace().local_object_reference.name = "app";
    ASSERT_TRUE(Client<apps::Deployment>().Create(deployment));
    Complete(name);
  }
  /// As the Deployment controller when all pods are there.
  void Complete(const std::string& name, int available = 1) {
    ASSERT_TRUE(Await([&] {
      auto deployment = Client<apps::Deployment>().Get(name);
      if (!deployment) {
        return false;
      }
      deployment->status.observed_generation = deployment->metadata.generation;
      deployment->status.replicas = 1;
      deployment->status.updated_replicas = 1;
      deployment->status.ready_replicas = available;
      deployment->status.available_replicas = available;
      return Client<apps::Deployment>().UpdateStatus(*deployment).has_value();
    }));
  }
  void PutPolicy(const std::string& spec) {
    const auto put = Client<ReloadPolicy>().Patch(
        "gentle", rest::PatchType::kApply,
        R"({"apiVersion":"kubexx.io/v1alpha1","kind":"ReloadPolicy","metadata":{"name":"gentle"},)"
        R"("spec":)" +
            spec + "}",
        {.field_manager = "test", .force = true});
    ASSERT_TRUE(put) << put.error().ToString();
  }
  void Edit(const std::string& value) {
    ASSERT_TRUE(Client<core::ConfigMap>().Patch("app", rest::PatchType::kMerge,
                                                R"({"data":{"key":")" + value + R"("}})"));
  }
  void Start() {
    policies_ = std::make_unique<Policies>(
        client_, Policies::Options{.namespaces = {namespace_}, .registry = &registry_});
    writer_ = NewWriter(client_);
    WatchSettings settings;
    settings.registry = &registry_;
    std::vector<InformerSet> informers;
    informers.push_back(NewInformers(client_, namespace_, settings));
    Operator::Options options;
    options.registry = &registry_;
    options.settle_window = milliseconds(50);
    options.rollout_gate = &policies_->gate();
    operator_ = std::make_unique<Operator>(std::move(options), std::move(informers), *writer_);
    policies_->Start();
    operator_->Start();
    ASSERT_TRUE(Await([&] { return operator_->Ready(); }));
  }
  void Stop() {
    operator_.reset();
    policies_.reset();
  }
  std::vector<std::string> Rolled() const {
    std::vector<std::string> names;
    const auto list = Client<apps::Deployment>().List();
    for (const apps::Deployment& each : list ? list->items : std::vector<apps::Deployment>()) {
      const auto& env = each.spec.template_.spec.containers.at(0).env;
      if (std::ranges::find(env, kAppVariable, &core::EnvVar::name) != env.end()) {
        names.push_back(each.metadata.name);
      }
    }
    return names;
  }
  bool AwaitRolled(std::size_t n) {
    return Await([&] { return Rolled().size() == n; });
  }
  /// The policy once its status says so.
  std::optional<ReloadPolicy> AwaitStatus(
      const std::function<bool(const reloadpolicy::v1alpha1::ReloadPolicyStatus&)>& done) {
    std::optional<ReloadPolicy> last;
    const bool found = Await([&] {
      auto policy = Client<ReloadPolicy>().Get("gentle");
      if (policy) {
        last = *std::move(policy);
      }
      return last && last->status && done(*last->status);
    });
    EXPECT_TRUE(found) << (last ? codec::EncodeJson(*last) : "no policy");
    return found ? last : std::nullopt;
  }
  bool AwaitEvent(const std::string& reason, const std::string& about) const {
    return Await([&] {
      const auto events = Client<core::Event>().List();
      return events && std::ranges::any_of(events->items, [&](const core::Event& event) {
               return event.reason == reason && event.involved_object.name == about;
             });
    });
  }
  static std::string Condition(const reloadpolicy::v1alpha1::ReloadPolicyStatus& status,
                               std::string_view type) {
    for (const auto& condition : apimachinery::OrEmpty(status.conditions)) {
      if (condition.type == type) {
        return condition.status;
      }
    }
    return "";
  }

  metrics::Registry registry_;
  std::shared_ptr<rest::RESTClient> client_;
  std::string namespace_;
  std::unique_ptr<WorkloadWriter> writer_;
  std::unique_ptr<Policies> policies_;
  std::unique_ptr<Operator> operator_;
};

TEST_F(ReloadPolicyIntegration, OneAfterTheOtherAlsoAcrossARestart) {
  for (const char* name : {"a", "b", "c"}) {
    CreateDeployment(name);
  }
  PutPolicy(R"({"maxConcurrentRollouts": 1, "healthGate": {"soakTime": "500ms"}})");
  Start();
  Edit("new");
  ASSERT_TRUE(AwaitRolled(1));
  const auto policy = AwaitStatus([](const auto& status) {
    return status.pending == 2 && status.active == 1 && Condition(status, "Ready") == "True";
  });
  ASSERT_TRUE(policy);
  EXPECT_THAT(policy->status->pending_rollouts, Optional(SizeIs(2)));
  EXPECT_THAT(*policy->status->summary, HasSubstr("ConcurrencyLimit and 1 more"));

  const std::string first = Rolled().front();
  Complete(first, 0);  // replaced, not available
  ASSERT_TRUE(Await([&] {
    const auto list = Client<apps::Deployment>().List();
    return list && std::ranges::all_of(list->items, [](const apps::Deployment& each) {
             return Find(each.metadata.annotations, kBaselineAnnotation) != nullptr;
           });
  }));
  // A controller answers each write. Without its answer, pods may begin for all that the next
  // process can see.
  for (const char* name : {"a", "b", "c"}) {
    if (name != first) {
      Complete(name);
    }
  }
  Stop();
  Start();  // what is under way and what waits is on the objects
  ASSERT_TRUE(AwaitStatus([](const auto& status) {
    return status.pending == 2 && (*status.pending_rollouts)[0].reason == "Unhealthy" &&
           (*status.pending_rollouts)[1].reason == "Unhealthy";
  }));
  EXPECT_THAT(Rolled(), SizeIs(1));
  Complete(first);
  ASSERT_TRUE(AwaitRolled(2));
  for (const std::string& name : Rolled()) {
    Complete(name);
  }
  ASSERT_TRUE(AwaitRolled(3));
  for (const std::string& name : Rolled()) {
    Complete(name);
    const auto deployment = Client<apps::Deployment>().Get(name);
    // Of Deployments annotations count, too: one write recorded the baseline, one rolled, and one
    // says that the rollout has ended.
    EXPECT_TRUE(deployment && deployment->metadata.generation <= 4) << "rolled once";
  }
  EXPECT_TRUE(
      AwaitStatus([](const auto& status) { return status.pending == 0 && status.active == 0; }));
}

TEST_F(ReloadPolicyIntegration, WhatHasNoOrderComesFirstAlsoAcrossARestart) {
  CreateDeployment("first");
  CreateDeployment("late");
  PutPolicy(R"({"order": [{"workloads": ["late"], "order": 10}]})");
  Start();
  Edit("new");
  const auto late_waits = [](const auto& status) {
    return status.pending == 1 && (*status.pending_rollouts)[0].workload == "Deployment/late" &&
           (*status.pending_rollouts)[0].reason == "Order";
  };
  ASSERT_TRUE(AwaitStatus(late_waits));
  EXPECT_THAT(Rolled(), ElementsAre("first"));
  Stop();
  WipeStatus();
  Start();
  ASSERT_TRUE(AwaitStatus(late_waits)) << "its pods are not replaced yet";
  EXPECT_THAT(Rolled(), ElementsAre("first"));
  Complete("first");
  EXPECT_TRUE(AwaitRolled(2));
}

// In a rollout that has failed those that come first have no place under a limit, and are waited
// for all the same.
TEST_F(ReloadPolicyIntegration, AFailedRolloutIsWaitedForUntilItIsMended) {
  CreateDeployment("first");
  CreateDeployment("late");
  PutPolicy(R"({"order": [{"workloads": ["late"], "order": 10}],
                "healthGate": {"timeout": "1s", "soakTime": "100ms"}})");
  Start();
  Edit("bad");
  ASSERT_TRUE(AwaitRolled(1));
  Complete("first", 0);
  const auto late_waits = [](const auto& status) {
    return status.failed == 1 && status.pending == 1 &&
           (*status.pending_rollouts)[0].workload == "Deployment/late" &&
           (*status.pending_rollouts)[0].reason == "Order";
  };
  ASSERT_TRUE(AwaitStatus(late_waits));
  EXPECT_TRUE(AwaitEvent("RolloutFailed", "first"));
  Stop();
  WipeStatus();
  Start();
  ASSERT_TRUE(AwaitStatus(late_waits)) << "what has failed stands on the workload";
  EXPECT_THAT(Rolled(), ElementsAre("first"));
  EXPECT_TRUE(Await([&] {
    Complete("first");  // what the operator notes on it is another generation
    return Rolled().size() == 2;
  }));
}

TEST_F(ReloadPolicyIntegration, APauseHoldsUntilItEndsAndSaysSo) {
  CreateDeployment("a");
  PutPolicy(R"({"paused": true})");
  Start();
  Edit("new");
  const auto policy = AwaitStatus([](const auto& status) { return status.pending == 1; });
  ASSERT_TRUE(policy);
  EXPECT_EQ((*policy->status->pending_rollouts)[0].reason, "Paused");
  EXPECT_EQ((*policy->status->pending_rollouts)[0].workload, "Deployment/a");
  EXPECT_TRUE(AwaitEvent("ReloadPending", "a"));
  EXPECT_TRUE(AwaitEvent("RolloutsWait", "gentle"));
  EXPECT_THAT(Rolled(), SizeIs(0));
  PutPolicy(R"({"paused": false})");
  EXPECT_TRUE(AwaitRolled(1));
  EXPECT_TRUE(AwaitEvent("RolloutsGoOn", "gentle"));
}

TEST_F(ReloadPolicyIntegration, WindowsHoldAndABadPolicyStopsNothingElse) {
  CreateDeployment("a");
  // A schedule that the schema lets pass and that cannot be read; the other setting holds.
  PutPolicy(R"({"minInterval": "1h", "order": [{"workloads": ["x"], "order": 3}],
                "maintenanceWindows": [{"schedule": "61 * * * *", "duration": "1h"}]})");
  Start();
  const auto policy =
      AwaitStatus([](const auto& status) { return Condition(status, "Ready") == "False"; });
  ASSERT_TRUE(policy);
  EXPECT_THAT((*policy->status->conditions)[0].message, HasSubstr("the minute field"));
  EXPECT_TRUE(AwaitEvent("Invalid", "gentle"));
  Edit("new");
  ASSERT_TRUE(AwaitStatus([](const auto& status) {
    return status.pending == 1 &&
           (*status.pending_rollouts)[0].reason == "OutsideMaintenanceWindow";
  }));
  PutPolicy(R"({"minInterval": "1h",
                "maintenanceWindows": [{"schedule": "* * * * *", "duration": "2h",
                                        "timeZone": "Europe/Berlin"}]})");
  ASSERT_TRUE(AwaitRolled(1));
  Complete("a");
  Edit("newer");
  const auto waits = AwaitStatus([](const auto& status) {
    return status.pending == 1 && (*status.pending_rollouts)[0].reason == "MinInterval";
  });
  ASSERT_TRUE(waits);
  EXPECT_TRUE((*waits->status->pending_rollouts)[0].until);
  EXPECT_EQ(Condition(*waits->status, "Ready"), "True");
}

TEST_F(ReloadPolicyIntegration, TheApiServerRefusesWhatTheSchemaForbids) {
  for (const char* spec : {R"({"settleWindow": "2h"})", R"({"settleWindow": "soon"})",
                           R"({"maxConcurrentRollouts": 0})",
                           R"({"maintenanceWindows": [{"schedule": "* * *", "duration": "1h"}]})",
                           R"({"maintenanceWindows": [{"schedule": "@daily", "duration": "1s"}]})",
                           R"({"sources": [{"kind": "Pod", "name": "x"}]})"}) {
    const auto object = codec::DecodeJson<ReloadPolicy>(
        std::string(R"({"metadata":{"name":"bad"},"spec":)") + spec + "}");
    ASSERT_TRUE(object) << spec;
    const auto created = Client<ReloadPolicy>().Create(*object);
    ASSERT_FALSE(created) << spec;
    EXPECT_EQ(created.error().reason, apimachinery::Reason::kInvalid) << spec;
  }
}

}  // namespace
}  // namespace kubexx::reloader
