// kubexx-reloader on every kind of workload, against a real API server without controllers: the
// objects stay as they are written, and Jobs never finish.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/dynamic/dynamic_client.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/operator/operator.h"
#include "kubexx/reloader/plan/baseline.h"
#include "kubexx/reloader/watch/kubernetes_io.h"
#include "kubexx/reloader/write/writer.h"
#include "reloader_kinds_fixture.h"

namespace kubexx::reloader {
namespace {

using apimachinery::GroupVersionResource;
using dynamic::Unstructured;
using integration::Await;

TEST_F(ReloaderKinds, ACronJobGetsOneJobForEachChange) {
  const Unstructured cron_job = MakeCronJob("backup");
  StartOperator(client_);
  Update("cfg", "new");
  ASSERT_TRUE(Await([&] { return JobsOf(cron_job).size() == 1; }));
  const Unstructured job = JobsOf(cron_job)[0];
  EXPECT_EQ(job.GetString({"metadata", "generateName"}), "backup-");
  EXPECT_EQ(job.Annotations().at("cronjob.kubernetes.io/instantiate"), "manual");
  EXPECT_EQ(job.Labels().at("l"), "1");
  EXPECT_EQ(job.GetString({"metadata", "ownerReferences", "0", "kind"}), "CronJob");
  EXPECT_EQ(job.GetBool({"metadata", "ownerReferences", "0", "controller"}), true);
  EXPECT_EQ(job.GetBool({"metadata", "ownerReferences", "0", "blockOwnerDeletion"}), true);
  EXPECT_EQ(VariableIn(job.Get({"spec", "template", "spec", "containers"})), Value("new"));
  operator_.reset();
  StartOperator(client_);
  Update("cfg", "newer");
  EXPECT_TRUE(Await([&] { return JobsOf(cron_job).size() >= 2; }));
  operator_.reset();
  EXPECT_EQ(JobsOf(cron_job).size(), 2U);
}

TEST_F(ReloaderKinds, AWriteToACronJobWhoseEndIsNotKnownIsNotRepeated) {
  const Unstructured cron_job = MakeCronJob("backup");
  writer_ = NewWriter(client_);
  const WorkloadId id{WorkloadKind::kCronJob, {namespace_, "backup"}};
  const auto write = [&](const std::string& value) {
    const WorkloadWrite change{.uid = cron_job.Uid(),
                               .variables = {{"app", kCfgVariable, value}},
                               .annotations = {{"kubexx.io/test", value}},
                               .token = value};
    const auto written = writer_->Write(id, change, {});
    ASSERT_TRUE(written) << written.error().ToString();
    EXPECT_TRUE(written->recorded);
  };
  write("1");
  write("1");  // as after a crash: the Job was made, but nobody was told
  EXPECT_EQ(JobsOf(cron_job).size(), 1U);
  write("2");
  write("1");
  EXPECT_EQ(JobsOf(cron_job).size(), 3U);
  EXPECT_EQ(In(kCronJobs).Get("backup")->Annotations().at("kubexx.io/test"), "1");
}

TEST_F(ReloaderKinds, AJobIsMadeAnewAndOneThatHasFinishedIsNot) {
  const Unstructured old_job = MakeJob("migrate");
  const Unstructured finished = MakeJob("done");
  const auto completed =
      In(kJobs).Patch("done",
                      {.type = rest::PatchType::kMerge,
                       .text = R"({"status":{"startTime":"2024-01-01T00:00:00Z","completionTime":)"
                               R"("2024-01-01T00:00:01Z","succeeded":1,"conditions":[)"
                               R"({"type":"SuccessCriteriaMet","status":"True"},)"
                               R"({"type":"Complete","status":"True"}]}})"},
                      {.subresource = "status"});
  ASSERT_TRUE(completed) << completed.error().ToString();
  StartOperator(client_);
  Update("cfg", "new");
  ASSERT_TRUE(AwaitVariable(kJobs, "migrate", "new"));
  const auto job = In(kJobs).Get("migrate");
  ASSERT_TRUE(job);
  EXPECT_NE(job->Uid(), old_job.Uid());
  EXPECT_EQ(job->Annotations().at("reloader.stakater.com/auto"), "true");
  operator_.reset();
  EXPECT_EQ(In(kJobs).Get("done")->Uid(), finished.Uid());
}

TEST_F(ReloaderKinds, AJobThatIsSlowToGoIsMadeAnewOnceItHasGone) {
  const auto with_finalizer = [&](const std::string& list) {
    const auto patched = In(kJobs).Patch(
        "migrate",
        {.type = rest::PatchType::kMerge, .text = R"({"metadata":{"finalizers":)" + list + "}}"});
    ASSERT_TRUE(patched) << patched.error().ToString();
  };
  MakeJob("migrate");
  with_finalizer(R"(["example.com/hold"])");
  writer_ = NewWriter(client_);
  const WorkloadId id{WorkloadKind::kJob, {namespace_, "migrate"}};
  const WorkloadWrite change{.variables = {{"app", kCfgVariable, "1"}}, .token = "t"};
  EXPECT_FALSE(writer_->Write(id, change, {}));
  EXPECT_FALSE(writer_->Finish(id, {}));
  with_finalizer("[]");
  ASSERT_TRUE(Await([&] { return !In(kJobs).Get("migrate"); }));
  const auto finished = writer_->Finish(id, {});
  ASSERT_TRUE(finished) << finished.error().ToString();
  EXPECT_EQ(Variable(kJobs, "migrate"), "1");
}

TEST_F(ReloaderKinds, CustomKindsRollOnceTheirApiIsServed) {
  StartOperator(client_);
  EXPECT_EQ(Fallback("Rollout", "served"), 1);
  MakeCrd(kRollouts, "Rollout");
  MakeCrd(kDeploymentConfigs, "DeploymentConfig");
  MakeAuto(kRollouts, "Rollout", "web", R"("unknown":{"kept":1},)" + std::string(kPods));
  MakeAuto(kDeploymentConfigs, "DeploymentConfig", "dc", kPods);
  Make(kRollouts,
       R"({"apiVersion":"argoproj.io/v1alpha1","kind":"Rollout","metadata":{"name":"restarted",)"
       R"("annotations":{"reloader.stakater.com/auto":"true",)"
       R"("reloader.stakater.com/rollout-strategy":"restart"}},"spec":{)" +
           std::string(kPods) + "}}");
  Make(kDeployments, R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"base"},)"
                     R"("spec":{"replicas":0,"selector":{"matchLabels":{"app":"x"}},)" +
                         std::string(kPods) + "}}");
  MakeAuto(kRollouts, "Rollout", "by-ref",
           R"("workloadRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"base"})");
  ASSERT_TRUE(Await([&] {
    return Fallback("Rollout", "served") == 0 && Fallback("DeploymentConfig", "served") == 0;
  }));
  // A workload that is seen for the first time does not roll for the data that are there: until all
  // have been seen, another change is needed.
  std::string data;
  const auto all_rolled = [&] {
    const auto restarted = In(kRollouts).Get("restarted");
    return Variable(kRollouts, "web") == Value(data) &&
           Variable(kDeploymentConfigs, "dc") == Value(data) &&
           Variable(kDeployments, "base") == Value(data) && restarted &&
           !restarted->GetString({"spec", "restartAt"}).empty();
  };
  base::TimePoint next;
  ASSERT_TRUE(Await([&] {
    // Not before all have had the time to roll for the last one.
    if (const base::TimePoint now = base::Clock::Real().Now(); now >= next) {
      next = now + std::chrono::seconds(2) * integration::Slowness();
      data += "x";
      Update("cfg", data);
    }
    return all_rolled();
  }));
  EXPECT_EQ(Variable(kRollouts, "restarted"), "");
  EXPECT_EQ(In(kRollouts).Get("web")->GetInt({"spec", "unknown", "kept"}), 1);
  EXPECT_EQ(In(kRollouts).Get("by-ref")->Get({"spec", "template"}), nullptr);
}

TEST_F(ReloaderKinds, StrategyAnnotationsNamesTheSourceInTheTemplate) {
  MakeDeployment("web");
  MakeJob("migrate");
  StartOperator(client_, ReloadStrategy::kAnnotations);
  Update("cfg", "new");
  for (const auto& [resource, name] :
       {std::pair{kDeployments, "web"}, std::pair{kJobs, "migrate"}}) {
    std::string text;
    ASSERT_TRUE(Await([&, &resource = resource, &name = name] {
      const auto object = In(resource).Get(name);
      text = object
                 ? object->GetStringMap({"spec", "template", "metadata",
                                         "annotations"})["reloader.stakater.com/last-reloaded-from"]
                 : "";
      return !text.empty();
    }));
    const std::string expected = R"({"type":"CONFIGMAP","name":"cfg","namespace":")" + namespace_ +
                                 R"(","hash":")" + Value("new") +
                                 R"(","containerRefs":["app"],"observedAt":)";
    EXPECT_EQ(text.substr(0, expected.size()), expected);
    EXPECT_EQ(Variable(resource, name), "");
  }
}

TEST_F(ReloaderKinds, WhatARuleForbidsConcernsThatObjectOnly) {
  const std::string name = "reloader-" + namespace_;
  const GroupVersionResource policies{"admissionregistration.k8s.io", "v1",
                                      "validatingadmissionpolicies"};
  const GroupVersionResource bindings{"admissionregistration.k8s.io", "v1",
                                      "validatingadmissionpolicybindings"};
  cluster_objects_ = {{bindings, name}, {policies, name}};
  // Refused as Forbidden, like what a right is missing for.
  const auto policy = Unstructured::Parse(
      R"({"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicy",)"
      R"("metadata":{"name":")" +
      name +
      R"("},"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":["apps"],)"
      R"("apiVersions":["v1"],"operations":["UPDATE"],"resources":["deployments"]}]},)"
      R"("validations":[{"expression":"object.metadata.namespace != ')" +
      namespace_ + R"(' || object.metadata.name != 'frozen'","reason":"Forbidden"}]}})");
  const auto binding = Unstructured::Parse(
      R"({"apiVersion":"admissionregistration.k8s.io/v1",)"
      R"("kind":"ValidatingAdmissionPolicyBinding","metadata":{"name":")" +
      name + R"("},"spec":{"policyName":")" + name + R"(","validationActions":["Deny"]}})");
  const dynamic::DynamicClient admin(client_);
  ASSERT_TRUE(admin.Resource(policies).Create(*policy));
  ASSERT_TRUE(admin.Resource(bindings).Create(*binding));
  MakeDeployment("frozen");
  ASSERT_TRUE(Await([&] {
    const auto tried = In(kDeployments)
                           .Patch("frozen",
                                  {.type = rest::PatchType::kMerge,
                                   .text = R"({"metadata":{"labels":{"tried":"1"}}})"},
                                  {.dry_run = true});
    return !tried && tried.error().reason == apimachinery::Reason::kForbidden;
  }));
  const auto refused = [&](const char* by) {
    return registry_.Counter("kubexx_reloader_writes_refused_total", "", {{"by", by}}).Value();
  };
  const auto is_recorded = [&](const std::string& workload) {
    return In(kDeployments).Get(workload)->Annotations().contains(std::string(kBaselineAnnotation));
  };

  StartOperator(client_);
  ASSERT_TRUE(Await([&] { return refused("rule") > 0; }));
  MakeDeployment("web");
  EXPECT_TRUE(Await([&] { return is_recorded("web"); }));
  Update("cfg", "new");
  EXPECT_TRUE(AwaitVariable(kDeployments, "web", "new"));
  EXPECT_EQ(Variable(kDeployments, "frozen"), "");
  EXPECT_EQ(refused("missing_right"), 0);
  EXPECT_EQ(Fallback("Deployment", "patch"), 0);

  ASSERT_TRUE(admin.Resource(bindings).Delete(name));
  EXPECT_TRUE(AwaitVariable(kDeployments, "frozen", "new"));
}

TEST_F(ReloaderKinds, RollsEveryKindWithTheRightsOfTheOriginalsChart) {
  const std::string user = "system:serviceaccount:" + namespace_ + ":reloader";
  const std::string name = "reloader-" + namespace_;
  const std::string rules =
      R"([{"apiGroups":[""],"resources":["secrets","configmaps"],"verbs":["list","get","watch"]},)"
      R"({"apiGroups":["apps"],"resources":["deployments","daemonsets","statefulsets"],)"
      R"("verbs":["list","get","update","patch"]},)"
      R"({"apiGroups":["batch"],"resources":["cronjobs"],"verbs":["list","get"]},)"
      R"({"apiGroups":["batch"],"resources":["jobs"],"verbs":["create","delete","list","get"]},)"
      R"({"apiGroups":[""],"resources":["events"],"verbs":["create","patch"]}])";
  cluster_objects_ = {{kClusterRoles, name}, {kBindings, name}};
  const auto role = Unstructured::Parse(
      R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":")" +
      name + R"("},"rules":)" + rules + "}");
  const auto binding = Unstructured::Parse(
      R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding",)"
      R"("metadata":{"name":")" +
      name +
      R"("},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":")" +
      name + R"("},"subjects":[{"kind":"ServiceAccount","name":"reloader","namespace":")" +
      namespace_ + R"("}]})");
  const dynamic::DynamicClient admin(client_);
  ASSERT_TRUE(admin.Resource(kClusterRoles).Create(*role));
  ASSERT_TRUE(admin.Resource(kBindings).Create(*binding));
  auto config = rest::LoadKubeconfig({.path = std::getenv("KUBEXX_TEST_KUBECONFIG")});
  ASSERT_TRUE(config);
  config->qps = -1;
  config->impersonate.user = user;
  const auto limited = rest::RESTClient::New(*config);
  ASSERT_TRUE(limited);
  ASSERT_TRUE(Await([&] {
    return dynamic::DynamicClient(*limited).Resource(kDeployments, namespace_).List().has_value();
  }));

  MakeDeployment("web");
  const Unstructured cron_job = MakeCronJob("backup");
  const Unstructured job = MakeJob("migrate");
  StartOperator(*limited);
  EXPECT_EQ(Fallback("Deployment", "watch"), 1);
  EXPECT_EQ(Fallback("CronJob", "watch"), 1);
  MakeDeployment("later");  // not in the first list
  Update("cfg", "new");
  EXPECT_TRUE(AwaitVariable(kDeployments, "web", "new"));
  EXPECT_TRUE(AwaitVariable(kDeployments, "later", "new"));
  EXPECT_TRUE(AwaitVariable(kJobs, "migrate", "new"));
  EXPECT_NE(In(kJobs).Get("migrate")->Uid(), job.Uid());
  EXPECT_TRUE(Await([&] { return JobsOf(cron_job).size() == 1; }));

  const auto granted = admin.Resource(kClusterRoles)
                           .Patch(name, {.type = rest::PatchType::kJson,
                                         .text = R"([{"op":"add","path":"/rules/1/verbs/-",)"
                                                 R"("value":"watch"}])"});
  ASSERT_TRUE(granted) << granted.error().ToString();
  MakeDeployment("watched");  // its event shows that the watch is open
  EXPECT_TRUE(Await([&] { return Fallback("Deployment", "watch") == 0; }));
  EXPECT_EQ(Fallback("CronJob", "watch"), 1);
  Update("cfg", "newer");
  EXPECT_TRUE(AwaitVariable(kDeployments, "watched", "newer"));
  EXPECT_TRUE(Await([&] { return JobsOf(cron_job).size() == 2; }));
}

}  // namespace
}  // namespace kubexx::reloader
