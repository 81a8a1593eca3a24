// Tests workloads that would occupy their controller, and objects that others have made for the
// controllers.
#include <gmock/gmock.h>

#include <optional>
#include <string>

#include "kubexx/api/apps/v1/resources.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/batch/v1/resources.gen.h"
#include "kubexx/api/batch/v1/types.gen.h"
#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apiserver/controllers/testing/controllers_fixture.h"
#include "kubexx/controller/object_helpers.h"
#include "kubexx/kubernetes/resource_client.h"

namespace kubexx::apiserver::controllers {
namespace {

using api::apps::v1::Deployment;
using api::apps::v1::ReplicaSet;
using api::batch::v1::Job;
using api::core::v1::Namespace;
using api::core::v1::Pod;
using ::testing::SizeIs;

using HarmfulWorkloadsTest = ControllersFixture;

// The template may have been copied from a ReplicaSet.
TEST_F(HarmfulWorkloadsTest, ATemplateWithTheLabelThatTellsSetsApartHasOneSet) {
  Deployment web = Web(1);
  web.spec.template_.metadata.labels["pod-template-hash"] = "x";
  Create(web);
  Await<Deployment>("web", IsDone);
  Patch(R"({"spec":{"replicas":2}})");
  Await<Deployment>("web", [](const Deployment& d) { return IsDone(d) && d.spec.replicas == 2; });
  EXPECT_THAT(All<ReplicaSet>(), SizeIs(1));
}

TEST_F(HarmfulWorkloadsTest, APodOfAnotherNamespaceIsNotCounted) {
  Namespace other;
  other.metadata.name = "other";
  Create(other);
  auto job = Workload<Job>("once");
  job.spec.selector.reset();
  job.spec.template_.spec.restart_policy = "Never";
  job.spec.suspend = true;
  job = Create(job);
  Pod foreign;
  foreign.metadata.name = "foreign";
  foreign.metadata.namespace_ = "other";
  auto& owner = foreign.metadata.owner_references.emplace_back();
  owner.api_version = "batch/v1";
  owner.kind = "Job";
  owner.name = "once";
  owner.uid = job.metadata.uid;
  owner.controller = true;
  foreign.spec = job.spec.template_.spec;
  const kubernetes::ResourceClient<Pod> pods(client_, "other");
  auto made = pods.Create(foreign);
  ASSERT_TRUE(made) << made.error().ToString();
  // This is a patch and not an update, because the controllers may have written the pod since then.
  ASSERT_TRUE(
      pods.PatchStatus("foreign", rest::PatchType::kMerge, R"({"status":{"phase":"Succeeded"}})"));
  const kubernetes::ResourceClient<Job> jobs(client_, "default");
  ASSERT_TRUE(jobs.Patch("once", rest::PatchType::kMerge, R"({"spec":{"suspend":false}})"));
  Await<Job>("once", [](const Job& one) { return one.status.succeeded == 1; });
  EXPECT_EQ(CountPods(), 1U);
}

}  // namespace
}  // namespace kubexx::apiserver::controllers
