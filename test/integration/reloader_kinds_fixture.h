/// @file
/// What the tests of kubexx-reloader on every kind of workload share: the kinds, and an operator in
/// the test's process.
#ifndef KUBEXX_TEST_INTEGRATION_RELOADER_KINDS_FIXTURE_H_
#define KUBEXX_TEST_INTEGRATION_RELOADER_KINDS_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "custom_fixture.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/dynamic/dynamic_client.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/operator/operator.h"
#include "kubexx/reloader/plan/rollout_gate.h"
#include "kubexx/reloader/watch/kubernetes_io.h"
#include "kubexx/reloader/write/writer.h"

namespace kubexx::reloader {

inline constexpr char kCfgVariable[] = "STAKATER_CFG_CONFIGMAP";
inline constexpr char kPods[] =
    R"("template":{"metadata":{"labels":{"app":"x"}},"spec":{"restartPolicy":"Always",)"
    R"("containers":[{"name":"app","image":"example.com/app:1",)"
    R"("envFrom":[{"configMapRef":{"name":"cfg"}}]}]}})";
inline constexpr char kAuto[] = R"({"reloader.stakater.com/auto":"true"})";

inline const apimachinery::GroupVersionResource kJobs{"batch", "v1", "jobs"};
inline const apimachinery::GroupVersionResource kCronJobs{"batch", "v1", "cronjobs"};
inline const apimachinery::GroupVersionResource kDeployments{"apps", "v1", "deployments"};
inline const apimachinery::GroupVersionResource kRollouts{"argoproj.io", "v1alpha1", "rollouts"};
inline const apimachinery::GroupVersionResource kDeploymentConfigs{"apps.openshift.io", "v1",
                                                                   "deploymentconfigs"};
inline const apimachinery::GroupVersionResource kClusterRoles{"rbac.authorization.k8s.io", "v1",
                                                              "clusterroles"};
inline const apimachinery::GroupVersionResource kBindings{"rbac.authorization.k8s.io", "v1",
                                                          "clusterrolebindings"};

inline std::string PodsThatEnd() {
  std::string pods = kPods;
  pods.replace(pods.find("Always"), 6, "Never");
  return pods;
}

inline std::string Value(std::string_view data) {
  return DigestOf("value=" + std::string(data)).ToString();
}

class ReloaderKinds : public integration::CustomResourceTest {
 protected:
  using Unstructured = dynamic::Unstructured;

  void SetUp() override {
    integration::CustomResourceTest::SetUp();
    if (client_) {
      Create("cfg", "old");
    }
  }
  void TearDown() override {
    operator_.reset();
    for (const auto& [resource, name] : cluster_objects_) {
      (void)dynamic::DynamicClient(client_).Resource(resource).Delete(name);
    }
    integration::CustomResourceTest::TearDown();
  }

  /// {"apiVersion", "kind", "metadata" with auto, "spec": {`spec`}}.
  Unstructured MakeAuto(const GroupVersionResource& resource, const std::string& kind,
                        const std::string& name, const std::string& spec) const {
    return Make(resource, R"({"apiVersion":")" + resource.ApiVersion() + R"(","kind":")" + kind +
                              R"(","metadata":{"name":")" + name + R"(","annotations":)" + kAuto +
                              R"(},"spec":{)" + spec + "}}");
  }
  Unstructured MakeDeployment(const std::string& name) const {
    return MakeAuto(kDeployments, "Deployment", name,
                    R"("selector":{"matchLabels":{"app":"x"}},)" + std::string(kPods));
  }
  Unstructured MakeCronJob(const std::string& name) const {
    return MakeAuto(kCronJobs, "CronJob", name,
                    R"("schedule":"0 0 1 1 *","jobTemplate":{"metadata":{"labels":{"l":"1"}},)"
                    R"("spec":{)" +
                        PodsThatEnd() + "}}");
  }
  Unstructured MakeJob(const std::string& name) const {
    return MakeAuto(kJobs, "Job", name, PodsThatEnd());
  }

  /// `gate`, when there is one, must outlive the operator.
  void StartOperator(std::shared_ptr<rest::RESTClient> client,
                     ReloadStrategy strategy = ReloadStrategy::kEnvVars,
                     RolloutGate* gate = nullptr) {
    const auto fallbacks = std::make_shared<Fallbacks>(&registry_);
    writer_ = NewWriter(client, fallbacks);
    WatchSettings settings;
    settings.registry = &registry_;
    settings.fallbacks = fallbacks;
    std::vector<InformerSet> informers;
    informers.push_back(NewInformers(std::move(client), namespace_, settings));
    Operator::Options options;
    options.registry = &registry_;
    options.strategy = strategy;
    options.rollout_gate = gate;
    operator_ = std::make_unique<Operator>(std::move(options), std::move(informers), *writer_);
    operator_->Start();
    ASSERT_TRUE(integration::Await([&] { return operator_->Ready(); }));
  }

  static std::string VariableIn(const codec::JsonTree* containers) {
    if (containers == nullptr || containers->size() == 0) {
      return "";
    }
    const codec::JsonTree* env = containers->elements()[0].Find("env");
    for (const codec::JsonTree& each :
         env == nullptr ? std::span<const codec::JsonTree>() : env->elements()) {
      if (*each.Find("name")->AsString() == kCfgVariable) {
        return *each.Find("value")->AsString();
      }
    }
    return "";
  }
  /// The variable in the pod template; empty when there is none.
  std::string Variable(const GroupVersionResource& resource, const std::string& name) const {
    const auto object = In(resource).Get(name);
    return object ? VariableIn(object->Get({"spec", "template", "spec", "containers"})) : "";
  }
  bool AwaitVariable(const GroupVersionResource& resource, const std::string& name,
                     const std::string& data) const {
    return integration::Await([&] { return Variable(resource, name) == Value(data); });
  }
  /// Those that a CronJob owns.
  std::vector<Unstructured> JobsOf(const Unstructured& cron_job) const {
    std::vector<Unstructured> jobs;
    if (auto list = In(kJobs).List()) {
      for (Unstructured& job : list->items) {
        if (job.GetString({"metadata", "ownerReferences", "0", "uid"}) == cron_job.Uid()) {
          jobs.push_back(std::move(job));
        }
      }
    }
    return jobs;
  }
  double Fallback(const std::string& kind, const std::string& verb) {
    return registry_.Gauge("kubexx_reloader_fallback", "", {{"kind", kind}, {"verb", verb}})
        .Value();
  }

  metrics::Registry registry_;
  std::unique_ptr<WorkloadWriter> writer_;
  std::unique_ptr<Operator> operator_;
  std::vector<std::pair<GroupVersionResource, std::string>> cluster_objects_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_TEST_INTEGRATION_RELOADER_KINDS_FIXTURE_H_
