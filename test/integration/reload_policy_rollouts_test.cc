// Argo Rollouts under a limit and under a health gate, on a real API server: the test plays Argo's
// controller.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/codec/json_tree.h"
#include "kubexx/dynamic/dynamic_client.h"
#include "kubexx/reloader/policies.h"
#include "policy_crds.h"
#include "reloader_kinds_fixture.h"

namespace kubexx::reloader {
namespace {

using apimachinery::GroupVersionResource;
using codec::JsonTree;
using dynamic::Unstructured;
using integration::Await;

const GroupVersionResource kReloadPolicies{"kubexx.io", "v1alpha1", "reloadpolicies"};

struct OneAtATime {
  std::string name{};
  std::string spec{};
};

class ArgoUnderPolicy : public ReloaderKinds, public testing::WithParamInterface<OneAtATime> {
 protected:
  void SetUp() override {
    ReloaderKinds::SetUp();
    if (client_) {
      integration::InstallPolicyCrds(client_);
      MakeCrd(kRollouts, "Rollout", true);
      Make(kReloadPolicies, R"({"apiVersion":"kubexx.io/v1alpha1","kind":"ReloadPolicy",)"
                            R"("metadata":{"name":"gentle"},"spec":)" +
                                GetParam().spec + "}");
    }
  }
  void TearDown() override {
    Stop();
    ReloaderKinds::TearDown();
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
  /// What Argo's controller says of a Rollout: of its present state, or of the one so many
  /// generations before.
  void Says(const std::string& name, const std::string& phase, std::int64_t behind = 0) const {
    const auto rollout = In(kRollouts).Get(name);
    ASSERT_TRUE(rollout) << rollout.status().ToString();
    PatchStatus(kRollouts, name,
                R"({"phase":")" + phase + R"(","observedGeneration":")" +
                    std::to_string(rollout->Generation() - behind) + R"("})");
  }
  void PatchStatus(const GroupVersionResource& resource, const std::string& name,
                   const std::string& status) const {
    const auto patched = In(resource).Patch(
        name, {.type = rest::PatchType::kMerge, .text = R"({"status":)" + status + "}"},
        {.subresource = "status"});
    ASSERT_TRUE(patched) << patched.status().ToString();
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
  /// Another process finds what there is: one Rollout has the place, and the other one waits.
  bool OneWaitsAfterARestart() {
    Stop();
    PatchStatus(kReloadPolicies, "gentle", "null");
    Start();
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

  std::unique_ptr<Policies> policies_;
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

}  // namespace
}  // namespace kubexx::reloader
