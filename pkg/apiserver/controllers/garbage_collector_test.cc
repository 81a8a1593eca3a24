// Tests owners and dependents among custom resources.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "kubexx/apiserver/controllers/controllers.h"
#include "kubexx/apiserver/server/testing/api_server.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/dynamic/dynamic_client.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::apiserver::controllers {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using dynamic::Unstructured;

/// Widgets are stored in a version that is not served.
class GarbageCollectorTest : public ::testing::Test {
 protected:
  GarbageCollectorTest() {
    client_ = std::make_unique<dynamic::DynamicClient>(*rest::RESTClient::New(config_));
    StartCollector();
    const std::string schema =
        R"("schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}})";
    Create(client_->Resource({"apiextensions.k8s.io", "v1", "customresourcedefinitions"}),
           R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
               "metadata":{"name":"widgets.example.com"},
               "spec":{"group":"example.com","scope":"Namespaced",
                       "names":{"plural":"widgets","kind":"Widget"},
                       "versions":[{"name":"v1alpha1","served":false,"storage":true,)" +
               schema + R"(},{"name":"v1","served":true,"storage":false,)" + schema + "}]}}");
  }

  void StartCollector() {
    controllers_ =
        std::move(*Controllers::New(config_, server_.storage(), {.names = {"garbage-collector"}}));
    controllers_->Start();
  }
  static Unstructured Create(const dynamic::DynamicResource& resource, const std::string& json) {
    auto created = resource.Create(*Unstructured::Parse(json));
    EXPECT_TRUE(created.has_value()) << created.error().ToString();
    return created ? *created : Unstructured();
  }
  dynamic::DynamicResource Widgets() const {
    return client_->Resource({"example.com", "v1", "widgets"}, "default");
  }
  static std::string OwnedBy(const std::string& kind, const std::string& api_version,
                             const std::string& name, const std::string& uid) {
    return R"({"apiVersion":")" + api_version + R"(","kind":")" + kind + R"(","name":")" + name +
           R"(","uid":")" + uid + R"(","blockOwnerDeletion":true})";
  }
  Unstructured CreateWidget(const std::string& name, const std::string& owner = {}) const {
    return Create(Widgets(),
                  R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":")" + name +
                      R"(","ownerReferences":[)" + owner + "]}}");
  }
  /// Waits as an informer does: a watch may be refused while the server's cache of widgets is still
  /// filling.
  void AwaitGone(const std::string& name) const {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(3);
    std::string last = "none";
    for (bool gone = false; !gone;) {
      ASSERT_LT(std::chrono::steady_clock::now(), give_up)
          << name << " is still there; the last watch: " << last;
      const auto listed = Widgets().List();
      ASSERT_TRUE(listed.has_value()) << listed.error().ToString();
      gone = std::ranges::none_of(listed->items,
                                  [&](const Unstructured& one) { return one.Name() == name; });
      if (gone) {
        break;
      }
      const auto watched = Widgets().Watch(
          {.resource_version = listed->metadata.resource_version,
           .timeout = std::chrono::seconds(30)},
          [&](dynamic::UnstructuredEvent&& event) -> Result<void> {
            gone = event.type == codec::WatchEventType::kDeleted && event.object.Name() == name;
            return gone ? Fail(Reason::kCancelled, "that was it") : Result<void>();
          },
          {});
      last = watched ? "ended" : watched.error().ToString();
    }
  }

  kubexx::testing::ApiServer server_;
  const rest::Config config_{.host = server_.url(), .qps = -1};
  std::unique_ptr<dynamic::DynamicClient> client_;
  std::unique_ptr<Controllers> controllers_;
};

TEST_F(GarbageCollectorTest, CustomResourcesGoAfterTheirOwners) {
  const auto maps = client_->Resource({"", "v1", "configmaps"}, "default");
  const Unstructured owner =
      Create(maps, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"owner"}})");
  const std::string uid = owner.GetString({"metadata", "uid"});
  const Unstructured child = CreateWidget("child", OwnedBy("ConfigMap", "v1", "owner", uid));
  CreateWidget("grandchild",
               OwnedBy("Widget", "example.com/v1", "child", child.GetString({"metadata", "uid"})));
  ASSERT_TRUE(maps.Delete("owner").has_value());
  AwaitGone("child");
  AwaitGone("grandchild");
}

// This happens when objects are restored before the definition of their owners.
TEST_F(GarbageCollectorTest, WhatHasOwnersOfAKindThatIsNotThereStays) {
  CreateWidget("kept", OwnedBy("Zed", "zz.io/v1", "z", "no-such-uid"));
  // The library has the types of these, but no server of this kind serves them.
  CreateWidget("of-old", OwnedBy("Deployment", "extensions/v1beta1", "d", "no-such-uid"));
  CreateWidget("of-alpha",
               OwnedBy("StorageVersion", "internal.apiserver.k8s.io/v1alpha1", "s", "no-such-uid"));
  CreateWidget("goes", OwnedBy("Widget", "example.com/v1", "w", "no-such-uid-either"));
  AwaitGone("goes");
  for (int i = 0; i < 3; ++i) {  // it has been looked at by then
    CreateWidget("also", OwnedBy("ConfigMap", "v1", "c", "no-such-uid-" + std::to_string(i)));
    AwaitGone("also");
  }
  for (const char* const name : {"kept", "of-old", "of-alpha"}) {
    EXPECT_TRUE(Widgets().Get(name).has_value()) << name;
  }
}

// As in kube-controller-manager, a user who may write only in one namespace can neither keep nor
// delete objects in another namespace or in the cluster.
TEST_F(GarbageCollectorTest, OwnersAreOfTheSameNamespaceOrOfTheCluster) {
  const std::string owner = CreateWidget("owner").GetString({"metadata", "uid"});
  const std::string reference = OwnedBy("Widget", "example.com/v1", "owner", owner);
  const auto elsewhere = client_->Resource({"", "v1", "configmaps"}, "kube-system");
  const std::string body = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"foreign",
      "ownerReferences":[)" +
                           reference + "]}}";
  Create(elsewhere, body);
  KX_AWAIT(!elsewhere.Get("foreign").has_value());
  const auto classes = client_->Resource({"scheduling.k8s.io", "v1", "priorityclasses"});
  Create(classes, R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","value":1,
      "metadata":{"name":"kept","ownerReferences":[)" +
                      reference + "]}}");
  ASSERT_TRUE(Widgets().Delete("owner").has_value());
  CreateWidget("looked-at-later", reference);
  AwaitGone("looked-at-later");
  EXPECT_TRUE(classes.Get("kept").has_value());
}

TEST_F(GarbageCollectorTest, ACircleThatIsDeletedInTheForegroundGoes) {
  const std::string first = CreateWidget("first").GetString({"metadata", "uid"});
  const std::string second =
      CreateWidget("second", OwnedBy("Widget", "example.com/v1", "first", first))
          .GetString({"metadata", "uid"});
  const auto patched = Widgets().Patch(
      "first", {.type = rest::PatchType::kMerge,
                .text = R"({"metadata":{"ownerReferences":[)" +
                        OwnedBy("Widget", "example.com/v1", "second", second) + "]}}"});
  ASSERT_TRUE(patched.has_value()) << patched.error().ToString();
  ASSERT_TRUE(
      Widgets().Delete("first", {.propagation = kubernetes::Propagation::kForeground}).has_value());
  AwaitGone("first");
  AwaitGone("second");
}

TEST_F(GarbageCollectorTest, WhatWasBegunBeforeItsStartComesToAnEnd) {
  controllers_.reset();
  const std::string owner = CreateWidget("owner").GetString({"metadata", "uid"});
  CreateWidget("child", OwnedBy("Widget", "example.com/v1", "owner", owner));
  CreateWidget("alone");
  ASSERT_TRUE(
      Widgets().Delete("owner", {.propagation = kubernetes::Propagation::kOrphan}).has_value());
  ASSERT_TRUE(
      Widgets().Delete("alone", {.propagation = kubernetes::Propagation::kForeground}).has_value());
  StartCollector();
  AwaitGone("owner");
  AwaitGone("alone");
  const auto child = Widgets().Get("child");
  ASSERT_TRUE(child.has_value()) << "it was to stay";
  EXPECT_EQ(child->GetString({"metadata", "deletionTimestamp"}), "");
}

TEST_F(GarbageCollectorTest, WhatAnObjectHasAskedForItsDependentsHoldsWhenItGoes) {
  const std::string owner = CreateWidget("owner").GetString({"metadata", "uid"});
  const std::string child =
      CreateWidget("child", OwnedBy("Widget", "example.com/v1", "owner", owner))
          .GetString({"metadata", "uid"});
  const auto patched = Widgets().Patch(
      "child",
      {.type = rest::PatchType::kMerge, .text = R"({"metadata":{"finalizers":["orphan"]}})"});
  ASSERT_TRUE(patched.has_value()) << patched.error().ToString();
  CreateWidget("grandchild", OwnedBy("Widget", "example.com/v1", "child", child));
  ASSERT_TRUE(Widgets().Delete("owner").has_value());
  AwaitGone("child");
  // The object that is decided about later would be deleted first.
  const std::string next = CreateWidget("next").GetString({"metadata", "uid"});
  CreateWidget("last", OwnedBy("Widget", "example.com/v1", "next", next));
  ASSERT_TRUE(Widgets().Delete("next").has_value());
  AwaitGone("last");
  EXPECT_TRUE(Widgets().Get("grandchild").has_value());
}

}  // namespace
}  // namespace kubexx::apiserver::controllers
