// Kinds other than Deployments under policies, on a real API server: Argo Rollouts under a limit
// and under a health gate, where the test plays Argo's controller, and CronJobs in an order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/codec/json_tree.h"
#include "kubexx/dynamic/dynamic_client.h"
#include "kubexx/reloader/policy/policies.h"
#include "policy_crds.h"
#include "reloader_kinds_fixture.h"

namespace kubexx::reloader {
namespace {

using apimachinery::GroupVersionResource;
using codec::JsonTree;
using dynamic::Unstructured;
using integration::Await;

const GroupVersionResource kReloadPolicies{"kubexx.io", "v1alpha1", "reloadpolicies"};

/// An operator that keeps one policy, "gentle".
class KindsUnderPolicy : public ReloaderKinds {
 protected:
  void SetUp() override {
    ReloaderKinds::SetUp();
    if (client_) {
      integration::InstallPolicyCrds(client_);
    }
  }
  void TearDown() override {
    Stop();
    ReloaderKinds::TearDown();
  }

  void MakePolicy(const std::string& spec) const {
    Make(kReloadPolicies, R"({"apiVersion":"kubexx.io/v1alpha1","kind":"ReloadPolicy",)"
                          R"("metadata":{"name":"gentle"},"spec":)" +
                              spec + "}");
  }
  void Start() {
    policies_ = std::make_unique<Policies>(
        client_, Policies::Options{.namespaces = {namespace_}, .registry = &registry_});
    policies_->Start();
    StartOperator(client_, ReloadStrategy::kEnvVars, &policies_->gate());
  }
  void Stop() {
    operator_.reset();
    policies_.reset();
  }
  void PatchStatus(const GroupVersionResource& resource, const std::string& name,
                   const std::string& status) const {
    const auto patched = In(resource).Patch(
        name, {.type = rest::PatchType::kMerge, .text = R"({"status":)" + status + "}"},
        {.subresource = "status"});
    ASSERT_TRUE(patched) << patched.error().ToString();
  }
  /// One waits while another has its place.
  bool OneWaits() const {
    return Await([&] {
      const auto policy = In(kReloadPolicies).Get("gentle");
      if (!policy) {
        return false;
      }
      const JsonTree* pending = policy->Get({"status", "pending"});
      const JsonTree* active = policy->Get({"status", "active"});
      return pending != nullptr && pending->AsInt() == 1 && active != nullptr &&
             active->AsInt() == 1;
    });
  }
  /// Another process finds what there is.
  bool OneWaitsAfterARestart() {
    Stop();
    PatchStatus(kReloadPolicies, "gentle", "null");
    Start();
    return OneWaits();
  }

  std::unique_ptr<Policies> policies_;
};

struct OneAtATime {
  std::string name{};
  std::string spec{};
};

class ArgoUnderPolicy : public KindsUnderPolicy, public testing::WithParamInterface<OneAtATime> {
 protected:
  void SetUp() override {
    KindsUnderPolicy::SetUp();
    if (client_) {
      MakeCrd(kRollouts, "Rollout", true);
      MakePolicy(GetParam().spec);
    }
  }
  /// What Argo's controller says of a Rollout: of its present state, or of the one so many
  /// generations before.
  void Says(const std::string& name, const std::string& phase, std::int64_t behind = 0) const {
    const auto rollout = In(kRollouts).Get(name);
    ASSERT_TRUE(rollout) << rollout.error().ToString();
    PatchStatus(kRollouts, name,
                R"({"phase":")" + phase + R"(","observedGeneration":")" +
                    std::to_string(rollout->Generation() - behind) + R"("})");
  }
  std::vector<std::string> Rolled() const {
    std::vector<std::string> names;
    for (const char* name : {"a", "b"}) {
      if (Variable(kRollouts, name) == Value("new")) {
        names.emplace_back(name);
      }
    }
    return names;
  }
};

TEST_P(ArgoUnderPolicy, KeepsItsPlaceUntilItsCanaryIsPromoted) {
  for (const char* name : {"a", "b"}) {
    MakeAuto(kRollouts, "Rollout", name, kPods);
    Says(name, "Healthy");
  }
  Start();
  Update("cfg", "new");
  ASSERT_TRUE(Await([&] { return !Rolled().empty(); }));
  ASSERT_EQ(Rolled().size(), 1U);
  const std::string first = Rolled().front();

  EXPECT_TRUE(OneWaitsAfterARestart()) << "Argo has not seen the new template";
  EXPECT_EQ(Rolled().size(), 1U);
  Says(first, "Healthy", 1);
  EXPECT_TRUE(OneWaitsAfterARestart()) << "that is said of the template before";
  EXPECT_EQ(Rolled().size(), 1U);
  Says(first, "Paused");
  EXPECT_TRUE(OneWaitsAfterARestart()) << "its canary waits";
  EXPECT_EQ(Rolled().size(), 1U);
  Says(first, "Healthy");
  EXPECT_TRUE(Await([&] { return Rolled().size() == 2; }));
}

INSTANTIATE_TEST_SUITE_P(
    All, ArgoUnderPolicy,
    testing::Values(OneAtATime{"Limit", R"({"maxConcurrentRollouts":1})"},
                    OneAtATime{"Gate", R"({"healthGate":{"soakTime":"100ms"}})"}),
    [](const testing::TestParamInfo<OneAtATime>& each) { return each.param.name; });

// Nothing tells how far what a CronJob begins is: it has ended when its Job is made.
class CronJobsInOrder : public KindsUnderPolicy {
 protected:
  void SetUp() override {
    KindsUnderPolicy::SetUp();
    if (client_) {
      MakePolicy(R"({"order":[{"workloads":["late"],"order":10}]})");
    }
  }
};

TEST_F(CronJobsInOrder, ThoseThatComeAfterOneWaitForItsJob) {
  const Unstructured first = MakeCronJob("first");
  MakeDeployment("late");
  Start();
  Update("cfg", "new");
  EXPECT_TRUE(AwaitVariable(kDeployments, "late", "new"));
  EXPECT_EQ(JobsOf(first).size(), 1U);
}

TEST_F(CronJobsInOrder, OneIsNotRunBeforeThoseThatComeFirstAreThroughAlsoAcrossARestart) {
  MakeDeployment("first");
  const Unstructured late = MakeCronJob("late");
  Start();
  Update("cfg", "new");
  ASSERT_TRUE(AwaitVariable(kDeployments, "first", "new"));
  ASSERT_TRUE(OneWaits());
  EXPECT_TRUE(JobsOf(late).empty());
  ASSERT_TRUE(OneWaitsAfterARestart());
  EXPECT_TRUE(JobsOf(late).empty());
  EXPECT_TRUE(Await([&] {
    const auto seen = In(kDeployments).Get("first");
    if (seen) {  // what the operator notes on it is another generation
      PatchStatus(kDeployments, "first",
                  R"({"replicas":1,"updatedReplicas":1,"readyReplicas":1,"availableReplicas":1,)"
                  R"("observedGeneration":)" +
                      std::to_string(seen->Generation()) + "}");
    }
    return JobsOf(late).size() == 1;
  }));
}

}  // namespace
}  // namespace kubexx::reloader
