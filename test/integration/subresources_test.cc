// Typed subresources and server-side apply against a real API server.
#include <gmock/gmock.h>

#include <string>
#include <utility>

#include "cluster_fixture.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/certificates/v1/types.gen.h"
#include "kubexx/api/policy/v1/types.gen.h"
#include "kubexx/kubernetes/apply.h"
#include "kubexx/kubernetes/apps_v1.gen.h"
#include "kubexx/kubernetes/certificates_v1.gen.h"
#include "kubexx/kubernetes/policy_v1.gen.h"

namespace kubexx::integration {
namespace {

using api::apps::v1::Deployment;
using api::apps::v1::DeploymentSpec;
using api::core::v1::Container;
using api::core::v1::Pod;
using api::core::v1::PodSpec;
using api::core::v1::PodTemplateSpec;
using api::meta::v1::LabelSelector;
using api::meta::v1::ObjectMeta;
using apimachinery::Reason;
using kubernetes::ApplyObject;
using ::testing::HasSubstr;

constexpr const char* kRequest =
    "-----BEGIN CERTIFICATE REQUEST-----\n"
    "MIHJMHECAQAwDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEH\n"
    "A0IABEmrnJ3DtGghZqhLNlKO083VQPpi9twJG0VhAJuGlb6heLsQNGA7ruVJZYzh\n"
    "SzDE25DMxOZX6BHmEXaCFA3g7PqgADAKBggqhkjOPQQDAgNIADBFAiA97JCp0E41\n"
    "trUhIIs1hisd6oFPWxmz+eeccpQYCagUmAIhAIsSPthpZ2TiyQbBKK8xmKOfyBB1\n"
    "gWzwVKAw0NaeSwpl\n"
    "-----END CERTIFICATE REQUEST-----\n";

class SubresourceTest : public ClusterTest {
 protected:
  void SetUp() override {
    ClusterTest::SetUp();
    if (HasFatalFailure()) {
      return;
    }
    // Without the controller manager nobody makes the account that pods run as.
    api::core::v1::ServiceAccount account;
    account.metadata.name = "default";
    const auto created = Core().ServiceAccounts(namespace_).Create(account);
    ASSERT_TRUE(created || created.error().reason == Reason::kAlreadyExists)
        << created.error().ToString();
  }

  kubernetes::CoreV1Client Core() const { return kubernetes::CoreV1Client(client_); }
  auto Pods() const { return Core().Pods(namespace_); }
  auto Deployments() const { return kubernetes::AppsV1Client(client_).Deployments(namespace_); }

  Pod CreatePod(const std::string& name) const {
    Pod pod;
    pod.metadata.name = name;
    pod.metadata.labels = {{"app", "web"}};
    auto& container = pod.spec.containers.emplace_back();
    container.name = "main";
    container.image = "example.com/none:1";
    container.resources.requests["cpu"] = *apimachinery::Quantity::Parse("100m");
    auto created = Pods().Create(pod);
    EXPECT_TRUE(created) << created.error().ToString();
    return created ? std::move(*created) : Pod();
  }

  ApplyObject<Deployment> Web() const {
    ApplyObject<Deployment> web("web", namespace_);
    web.In(&Deployment::spec, &DeploymentSpec::selector)
        .Put(&LabelSelector::match_labels, "app", "web");
    web.In(&Deployment::spec, &DeploymentSpec::template_, &PodTemplateSpec::metadata)
        .Put(&ObjectMeta::labels, "app", "web");
    web.In(&Deployment::spec, &DeploymentSpec::template_, &PodTemplateSpec::spec)
        .Append(&PodSpec::containers)
        .Set(&Container::name, "main")
        .Set(&Container::image, "example.com/none:1");
    return web;
  }
};

TEST_F(SubresourceTest, ApplySendsZeroAndGivesUpFields) {
  ApplyObject<Deployment> web = Web();
  web.Set(&Deployment::spec, &DeploymentSpec::replicas, 0)
      .Set(&Deployment::spec, &DeploymentSpec::paused, true)
      .In(&Deployment::metadata)
      .Put(&ObjectMeta::labels, "keep", "1")
      .Put(&ObjectMeta::labels, "drop", "1");
  const auto first = Deployments().Apply(web, {.field_manager = "me"});
  ASSERT_TRUE(first) << first.error().ToString();
  EXPECT_EQ(first->spec.replicas, 0);
  EXPECT_TRUE(first->spec.paused);

  auto mine = kubernetes::ExtractOwned(*first, "me");
  ASSERT_TRUE(mine) << mine.error().ToString();
  EXPECT_EQ(*mine, web) << mine->ToJson();

  ApplyObject<Deployment> less = Web();
  less.In(&Deployment::metadata).Put(&ObjectMeta::labels, "keep", "1");
  less.Set(&Deployment::spec, &DeploymentSpec::replicas, 0);
  const auto second = Deployments().Apply(less, {.field_manager = "me"});
  ASSERT_TRUE(second) << second.error().ToString();
  EXPECT_FALSE(second->spec.paused);
  EXPECT_FALSE(second->metadata.labels.contains("drop"));
  EXPECT_TRUE(second->metadata.labels.contains("keep"));
}

TEST_F(SubresourceTest, ApplyConflictsNameTheFields) {
  ApplyObject<Deployment> web = Web();
  web.Set(&Deployment::spec, &DeploymentSpec::replicas, 1);
  ASSERT_TRUE(Deployments().Apply(web, {.field_manager = "me"}));
  ApplyObject<Deployment> other("web", namespace_);
  other.Set(&Deployment::spec, &DeploymentSpec::replicas, 0);
  const auto refused = Deployments().Apply(other, {.field_manager = "you"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::kConflict);
  ASSERT_EQ(refused.error().details.causes.size(), 1U) << refused.error().ToString();
  EXPECT_EQ(refused.error().details.causes[0].field, ".spec.replicas");
  const auto forced = Deployments().Apply(other, {.field_manager = "you", .force = true});
  ASSERT_TRUE(forced) << forced.error().ToString();
  EXPECT_EQ(forced->spec.replicas, 0);
}

TEST_F(SubresourceTest, StatusIsAppliedAndPatchedAlone) {
  using api::apps::v1::DeploymentStatus;
  ASSERT_TRUE(Deployments().Apply(Web(), {.field_manager = "me"}));
  ApplyObject<Deployment> status("web", namespace_);
  status.Set(&Deployment::status, &DeploymentStatus::replicas, 3)
      .Set(&Deployment::status, &DeploymentStatus::unavailable_replicas, 3);
  const auto applied = Deployments().ApplyStatus(status, {.field_manager = "me"});
  ASSERT_TRUE(applied) << applied.error().ToString();
  EXPECT_EQ(applied->status.replicas, 3);
  const auto patched = Deployments().PatchStatus(
      "web", rest::PatchType::kMerge, R"({"spec":{"replicas":9},"status":{"replicas":4}})");
  ASSERT_TRUE(patched) << patched.error().ToString();
  EXPECT_EQ(patched->status.replicas, 4);
  EXPECT_EQ(patched->spec.replicas, 1);
  auto owned = kubernetes::ExtractOwned(*applied, "me", "status");
  ASSERT_TRUE(owned) << owned.error().ToString();
  EXPECT_THAT(owned->ToJson(), HasSubstr(R"("replicas":3)"));
  EXPECT_FALSE(owned->tree().Find("spec"));
}

TEST_F(SubresourceTest, ScaleHasEveryVerb) {
  using api::autoscaling::v1::Scale;
  ASSERT_TRUE(Deployments().Apply(Web(), {.field_manager = "me"}));
  auto scale = Deployments().GetScale("web");
  ASSERT_TRUE(scale) << scale.error().ToString();
  EXPECT_EQ(scale->spec.replicas, 1);
  EXPECT_EQ(scale->status.selector, "app=web");
  scale->spec.replicas = 0;
  const auto updated = Deployments().UpdateScale(*scale);
  ASSERT_TRUE(updated) << updated.error().ToString();
  EXPECT_EQ(updated->spec.replicas, 0);
  const auto stale = Deployments().UpdateScale(*scale);
  ASSERT_FALSE(stale);
  EXPECT_EQ(stale.error().reason, Reason::kConflict);
  for (const auto& [type, patch] :
       {std::pair(rest::PatchType::kJson,
                  R"([{"op":"replace","path":"/spec/replicas","value":2}])"),
        std::pair(rest::PatchType::kMerge, R"({"spec":{"replicas":3}})"),
        std::pair(rest::PatchType::kStrategicMerge, R"({"spec":{"replicas":4}})")}) {
    const auto patched = Deployments().PatchScale("web", {.type = type, .text = patch});
    ASSERT_TRUE(patched) << patch << patched.error().ToString();
  }
  EXPECT_EQ(Deployments().Get("web")->spec.replicas, 4);
  ApplyObject<Scale> apply("web", namespace_);
  apply.Set(&Scale::spec, &api::autoscaling::v1::ScaleSpec::replicas, 0);
  const auto applied = Deployments().ApplyScale(apply, {.field_manager = "scaler", .force = true});
  ASSERT_TRUE(applied) << applied.error().ToString();
  EXPECT_EQ(Deployments().Get("web")->spec.replicas, 0);
}

TEST_F(SubresourceTest, PodsAreBoundResizedAndDebugged) {
  api::core::v1::Node node;
  node.metadata.name = namespace_;
  node.status.capacity["cpu"] = *apimachinery::Quantity::Parse("4");
  node.status.allocatable = node.status.capacity;
  ASSERT_TRUE(Core().Nodes().Create(node));
  Pod pod = CreatePod("p");
  pod.spec.containers[0].resources.requests["cpu"] = *apimachinery::Quantity::Parse("200m");
  api::core::v1::Binding binding;
  binding.metadata.name = "p";
  binding.metadata.namespace_ = namespace_;
  binding.target.kind = "Node";
  binding.target.name = namespace_;
  const auto bound = Pods().Bind(binding);
  ASSERT_TRUE(bound) << bound.error().ToString();
  EXPECT_EQ(Pods().Get("p")->spec.node_name, namespace_);
  const auto again = Pods().Bind(binding);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().reason, Reason::kConflict);

  pod.metadata.resource_version.clear();
  pod.spec.node_name = namespace_;
  const auto resized = Pods().UpdateResize(pod);
  ASSERT_TRUE(resized) << resized.error().ToString();
  EXPECT_EQ(resized->spec.containers[0].resources.requests.at("cpu").ToString(), "200m");

  Pod debugged = *resized;
  auto& common = debugged.spec.ephemeral_containers.emplace_back().ephemeral_container_common;
  common.name = "shell";
  common.image = "example.com/none:1";
  common.termination_message_policy = "File";
  common.image_pull_policy = "Always";
  const auto updated = Pods().UpdateEphemeralContainers(debugged);
  ASSERT_TRUE(updated) << updated.error().ToString();
  EXPECT_EQ(updated->spec.ephemeral_containers.size(), 1U);
  EXPECT_TRUE(Core().Nodes().Delete(namespace_));
}

TEST_F(SubresourceTest, EvictionRespectsBudgets) {
  Pod pod = CreatePod("p");
  pod.status.phase = "Running";
  auto& ready = pod.status.conditions.emplace_back();
  ready.type = "Ready";
  ready.status = "True";
  ASSERT_TRUE(Pods().UpdateStatus(pod));
  const auto budgets = kubernetes::PolicyV1Client(client_).PodDisruptionBudgets(namespace_);
  api::policy::v1::PodDisruptionBudget budget;
  budget.metadata.name = "b";
  budget.spec.min_available.emplace(1);
  budget.spec.selector.emplace().match_labels = {{"app", "web"}};
  auto created = budgets.Create(budget);
  ASSERT_TRUE(created) << created.error().ToString();
  created->status.observed_generation = created->metadata.generation;
  created->status.current_healthy = 1;
  created->status.desired_healthy = 1;
  created->status.expected_pods = 1;
  ASSERT_TRUE(budgets.UpdateStatus(*created));

  api::policy::v1::Eviction eviction;
  eviction.metadata.name = "p";
  eviction.metadata.namespace_ = namespace_;
  const auto refused = Pods().Evict(eviction);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::kTooManyRequests) << refused.error().ToString();
  ASSERT_TRUE(budgets.Delete("b"));
  const auto evicted = Pods().Evict(eviction);
  ASSERT_TRUE(evicted) << evicted.error().ToString();
}

TEST_F(SubresourceTest, ServiceAccountsGetTokens) {
  api::authentication::v1::TokenRequest request;
  request.spec.expiration_seconds = 600;
  const auto token = Core().ServiceAccounts(namespace_).CreateToken("default", request);
  ASSERT_TRUE(token) << token.error().ToString();
  EXPECT_FALSE(token->status.token.empty());
  EXPECT_FALSE(token->status.expiration_timestamp.IsZero());
}

TEST_F(SubresourceTest, CertificateRequestsAreApproved) {
  using api::certificates::v1::CertificateSigningRequest;
  const auto requests = kubernetes::CertificatesV1Client(client_).CertificateSigningRequests();
  CertificateSigningRequest request;
  request.metadata.name = namespace_;
  request.spec.request = apimachinery::Bytes(std::string(kRequest));
  request.spec.signer_name = "example.com/test";
  request.spec.usages = {"client auth"};
  auto created = requests.Create(request);
  ASSERT_TRUE(created) << created.error().ToString();
  auto& approved = created->status.conditions.emplace_back();
  approved.type = "Approved";
  approved.status = "True";
  approved.reason = "Test";
  const auto result = requests.UpdateApproval(*created);
  ASSERT_TRUE(result) << result.error().ToString();
  ASSERT_EQ(result->status.conditions.size(), 1U);
  EXPECT_EQ(result->status.conditions[0].type, "Approved");
  ASSERT_TRUE(requests.Delete(namespace_));
}

TEST_F(SubresourceTest, NamespacesAreFinalized) {
  const auto namespaces = Core().Namespaces();
  const std::string name = namespace_ + "-old";
  api::core::v1::Namespace object;
  object.metadata.name = name;
  ASSERT_TRUE(namespaces.Create(object));
  ASSERT_TRUE(namespaces.Delete(name));
  const auto ended = Await([&namespaces, &name] {
    auto current = namespaces.Get(name);
    if (!current) {
      return current.error().reason == Reason::kNotFound;
    }
    current->spec.finalizers.clear();
    (void)namespaces.Finalize(*current);
    return false;
  });
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace kubexx::integration
