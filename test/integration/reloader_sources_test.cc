// What a workload rolls for, against a real API server: SecretProviderClasses, whose driver a test
// plays, and ConfigMaps of which only some keys count.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "custom_fixture.h"
#include "kubexx/dynamic/dynamic_client.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/operator/operator.h"
#include "kubexx/reloader/plan/baseline.h"
#include "kubexx/reloader/policy/policy_enforcer.h"
#include "kubexx/reloader/watch/kubernetes_io.h"
#include "kubexx/reloader/write/writer.h"

namespace kubexx::reloader {
namespace {

using apimachinery::GroupVersionResource;
using dynamic::Unstructured;
using integration::Await;
using std::chrono::milliseconds;

constexpr char kGroup[] = "secrets-store.csi.x-k8s.io";
const GroupVersionResource kSourceDeployments{"apps", "v1", "deployments"};
const GroupVersionResource kClasses{kGroup, "v1", "secretproviderclasses"};
const GroupVersionResource kStatuses{kGroup, "v1", "secretproviderclasspodstatuses"};

class ReloaderSources : public integration::CustomResourceTest {
 protected:
  void TearDown() override {
    operator_.reset();
    integration::CustomResourceTest::TearDown();
  }

  static std::string StatusOf(const std::string& version) {
    return R"("status":{"secretProviderClassName":"vault","mounted":true,)"
           R"("objects":[{"id":"password","version":")" +
           version + R"("}]})";
  }
  void PodStarts(const std::string& pod, const std::string& version) const {
    Make(kStatuses,
         R"({"apiVersion":"secrets-store.csi.x-k8s.io/v1","kind":"SecretProviderClassPodStatus",)"
         R"("metadata":{"name":")" +
             pod + R"("},)" + StatusOf(version) + "}");
  }
  void PodChanges(const std::string& pod, const std::string& version) const {
    const auto patched = In(kStatuses).Patch(
        pod, {.type = rest::PatchType::kMerge, .text = "{" + StatusOf(version) + "}"});
    ASSERT_TRUE(patched) << patched.error().ToString();
  }
  void MakeDeployment(const std::string& pods) const {
    Make(kSourceDeployments,
         R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","annotations":)"
         R"({"reloader.stakater.com/auto":"true"}},"spec":{"selector":{"matchLabels":{"app":"x"}},)"
         R"("template":{"metadata":{"labels":{"app":"x"}},"spec":)" +
             pods + "}}}");
  }
  void StartOperator() {
    writer_ = NewWriter(client_);
    WatchSettings settings;
    settings.ignored_types = {};
    std::vector<InformerSet> informers;
    informers.push_back(NewInformers(client_, namespace_, settings));
    Operator::Options options;
    options.settle_window = milliseconds(20);
    options.recording.workload_interval = milliseconds(10);
    options.fetch_values = NewValueFetch(client_);
    options.rollout_gate = &enforcer_;
    operator_ = std::make_unique<Operator>(std::move(options), std::move(informers), *writer_);
    operator_->Start();
    ASSERT_TRUE(Await([&] { return operator_->Ready(); }));
  }
  Unstructured Web() const { return In(kSourceDeployments).Get("web").value_or(Unstructured()); }
  std::string Variable() const {
    return Web().GetString({"spec", "template", "spec", "containers", "0", "env", "0", "value"});
  }
  /// Of the pod template; recording does not count, since it changes no template.
  bool HasRolled() const { return !Variable().empty(); }
  std::string Recorded() const {
    const auto annotations = Web().Annotations();
    const auto found = annotations.find(std::string(kBaselineAnnotation));
    return found == annotations.end() ? "" : found->second;
  }
  bool AwaitRecorded(const std::string& text) {
    return Await([&] { return Recorded().contains(text); });
  }

  PolicyEnforcer enforcer_{PolicyEnforcer::Options{}};
  std::unique_ptr<WorkloadWriter> writer_;
  std::unique_ptr<Operator> operator_;
};

TEST_F(ReloaderSources, ARotatedSecretProviderClassRollsOnceItsApiIsServed) {
  MakeDeployment(
      R"({"containers":[{"name":"app","image":"example.com/app:1","volumeMounts":[{"name":"v",)"
      R"("mountPath":"/v"}]}],"volumes":[{"name":"v","csi":{"driver":"secrets-store.csi.k8s.io",)"
      R"("volumeAttributes":{"secretProviderClass":"vault"}}}]})");
  StartOperator();  // nobody has installed the driver yet
  MakeCrd(kClasses, "SecretProviderClass");
  MakeCrd(kStatuses, "SecretProviderClassPodStatus");
  ASSERT_TRUE(Await([&] { return In(kStatuses).List() && In(kClasses).List(); }));
  PodStarts("web-1", "1");
  PodStarts("web-2", "1");
  const auto digest = [](const std::string& version) {
    return DigestOf("SecretProviderClassName=vault;password=" + version).ToString();
  };
  ASSERT_TRUE(AwaitRecorded("secretproviderclass/vault=" + digest("1")));
  EXPECT_FALSE(HasRolled());

  PodChanges("web-1", "2");
  ASSERT_TRUE(Await([&] { return Variable() == digest("2"); }));
  // The rollout's pods, the other pod, and one that is late.
  PodStarts("web-3", "2");
  PodChanges("web-2", "2");
  ASSERT_TRUE(In(kStatuses).Delete("web-1"));
  const std::int64_t generation = Web().Generation();
  PodChanges("web-3", "3");
  ASSERT_TRUE(Await([&] { return Variable() == digest("3"); }));
  // Rolls count by the template: one patch is one generation, since nothing else changes it.
  EXPECT_EQ(Web().Generation(), generation + 1);
}

TEST_F(ReloaderSources, WhereItIsAskedForOnlyUsedKeysCount) {
  const auto put = [&](const std::string& data) {
    const auto patched = ConfigMaps().Patch(
        "cfg", rest::PatchType::kApply,
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"cfg"},"data":{)" + data + "}}",
        {.field_manager = "test", .force = true});
    ASSERT_TRUE(patched) << patched.error().ToString();
  };
  const auto set_keys = [&](const std::string& value) {
    const auto patched = In(kSourceDeployments)
                             .Patch("web", {.type = rest::PatchType::kMerge,
                                            .text = R"({"metadata":{"annotations":)"
                                                    R"({"reloader.kubexx.io/keys":)" +
                                                    value + "}}}"});
    ASSERT_TRUE(patched) << patched.error().ToString();
  };
  put(R"("a":"1","b":"1","c":"1")");
  MakeDeployment(R"({"volumes":[{"name":"v","configMap":{"name":"cfg","items":[{"key":"a",)"
                 R"("path":"etc/a"},{"key":"c","path":"c"}]}}],"initContainers":[{"name":"init",)"
                 R"("image":"example.com/app:1","volumeMounts":[{"name":"v","mountPath":"/m",)"
                 R"("subPath":"etc/a"}]}],"containers":[{"name":"app",)"
                 R"("image":"example.com/app:1"}]})");
  StartOperator();
  ASSERT_TRUE(AwaitRecorded("configmap/cfg="));
  set_keys("\"Referenced\"");
  ASSERT_TRUE(AwaitRecorded(":a"));
  EXPECT_FALSE(HasRolled()) << "switching it on rolls nothing";
  put(R"("a":"1","b":"2","c":"2")");
  put(R"("a":"2","b":"2","c":"2")");
  ASSERT_TRUE(Await([&] { return HasRolled(); }));
  const std::string rolled_for = Variable();
  put(R"("a":"2","b":"3","c":"3")");
  set_keys("null");
  ASSERT_TRUE(Await([&] { return !Recorded().contains(":"); }));
  EXPECT_EQ(Variable(), rolled_for) << "nor does switching it off";
  put(R"("a":"2","b":"4","c":"3")");
  EXPECT_TRUE(Await([&] { return Variable() != rolled_for; }));
}

TEST_F(ReloaderSources, OnlyListedKeysCountAndAListThatChangesRollsNothing) {
  const auto put = [&](const std::string& data, const std::string& keys) {
    const auto patched = ConfigMaps().Patch(
        "cfg", rest::PatchType::kApply,
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"cfg","annotations":{)" +
            (keys.empty() ? "" : R"("reloader.kubexx.io/keys":")" + keys + "\"") +
            R"(}},"data":{)" + data + "}}",
        {.field_manager = "test", .force = true});
    ASSERT_TRUE(patched) << patched.error().ToString();
  };
  put(R"("a":"1","b":"1")", "a");
  MakeDeployment(R"({"containers":[{"name":"app","image":"example.com/app:1",)"
                 R"("envFrom":[{"configMapRef":{"name":"cfg"}}]}]})");
  StartOperator();
  ASSERT_TRUE(AwaitRecorded(":a"));
  put(R"("a":"1","b":"2")", "a");
  put(R"("a":"1","b":"2")", "b, a");
  ASSERT_TRUE(AwaitRecorded(":a,b"));  // a key counts from when the list has been seen
  EXPECT_FALSE(HasRolled());
  put(R"("a":"1","b":"3")", "b, a");
  ASSERT_TRUE(Await([&] { return HasRolled(); }));
  const std::string first = Variable();
  put(R"("a":"1","b":"3","c":"1")", "b, a");
  put(R"("a":"1","b":"3","c":"1")", "");
  ASSERT_TRUE(Await([&] { return !Recorded().contains(":"); }));
  EXPECT_EQ(Variable(), first);
  put(R"("a":"1","b":"3","c":"2")", "");
  ASSERT_TRUE(Await([&] { return Variable() != first; }));
}

}  // namespace
}  // namespace kubexx::reloader
