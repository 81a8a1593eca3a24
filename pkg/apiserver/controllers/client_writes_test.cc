// Tests what controller::Client writes to an API server, and what it records of its writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "kubexx/api/apps/v1/resources.gen.h"
#include "kubexx/api/apps/v1/schema.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/api/events/v1/resources.gen.h"
#include "kubexx/api/events/v1/types.gen.h"
#include "kubexx/apiserver/server/testing/api_server.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/controller/builder.h"
#include "kubexx/controller/client.h"
#include "kubexx/controller/consistency_store.h"
#include "kubexx/controller/manager.h"
#include "kubexx/informers/shared_informer_factory.h"
#include "kubexx/kubernetes/apply.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::apiserver::controllers {
namespace {

using api::apps::v1::Deployment;
using api::apps::v1::DeploymentSpec;
using api::apps::v1::DeploymentStatus;
using api::core::v1::ConfigMap;
using api::core::v1::Namespace;
using apimachinery::Reason;
using apimachinery::Result;
using kubernetes::ApplyObject;

/// A client whose caches do not run, so they have none of its writes.
class ClientWritesTest : public ::testing::Test {
 protected:
  ClientWritesTest() {
    rest_ = *rest::RESTClient::New({.host = server_.url(), .qps = -1});
    factory_ = std::make_shared<informers::SharedInformerFactory>(rest_);
    (void)factory_->InformerFor<ConfigMap>();
    (void)factory_->InformerFor<Deployment>();
    client_ = std::make_unique<controller::Client>(controller::Client::Parts{
        .rest = rest_, .caches = factory_, .writes = writes_, .owner = kOwner});
  }

  static Deployment NewDeployment(const std::string& name) {
    Deployment made;
    made.metadata.namespace_ = "default";
    made.metadata.name = name;
    made.spec.selector.emplace().match_labels["app"] = name;
    made.spec.template_.metadata.labels["app"] = name;
    auto& container = made.spec.template_.spec.containers.emplace_back();
    container.name = "web";
    container.image = "i:1";
    return made;
  }
  ConfigMap CreateMap(const std::string& name, const std::string& app) const {
    ConfigMap map;
    map.metadata.namespace_ = "default";
    map.metadata.name = name;
    map.metadata.labels["app"] = app;
    return *kubernetes::ResourceClient<ConfigMap>(rest_, "default").Create(map);
  }
  static ApplyObject<ConfigMap> Text(const std::string& text) {
    ApplyObject<ConfigMap> object("greeting", "default");
    object.Put(&ConfigMap::data, "text", text);
    return object;
  }
  /// Returns the version for which the owner's next reconcile waits.
  std::string Awaited() const {
    const auto stale = writes_->Check(kOwner);
    return stale ? stale->written : "";
  }

  inline static const workqueue::Key kOwner{.object = {"default", "owner"}};
  base::testing::FakeClock clock_;
  kubexx::testing::ApiServer server_;
  std::shared_ptr<rest::RESTClient> rest_;
  std::shared_ptr<informers::SharedInformerFactory> factory_;
  std::shared_ptr<controller::ConsistencyStore> writes_ =
      std::make_shared<controller::ConsistencyStore>(clock_);
  std::unique_ptr<controller::Client> client_;
};

TEST_F(ClientWritesTest, ApplyCreatesAndChangesAndIsNoted) {
  const auto made = client_->Apply(Text("hello"), {.field_manager = "greeter"});
  ASSERT_TRUE(made) << made.error().ToString();
  EXPECT_EQ(made->data.at("text"), "hello");
  EXPECT_EQ(Awaited(), made->metadata.resource_version);
  const auto changed = client_->Apply(Text("goodbye"), {.field_manager = "greeter"});
  ASSERT_TRUE(changed) << changed.error().ToString();
  EXPECT_EQ(changed->metadata.uid, made->metadata.uid);
  EXPECT_EQ(changed->data.at("text"), "goodbye");
  EXPECT_EQ(Awaited(), changed->metadata.resource_version);
}

TEST_F(ClientWritesTest, ApplyOfWhatAnotherManagerOwnsConflictsUnlessForced) {
  const auto made = client_->Apply(Text("hello"), {.field_manager = "greeter"});
  ASSERT_TRUE(made) << made.error().ToString();
  const auto refused = client_->Apply(Text("goodbye"), {.field_manager = "other"});
  EXPECT_EQ(refused.error().reason, Reason::kConflict);
  EXPECT_EQ(Awaited(), made->metadata.resource_version) << "what was refused is not waited for";
  const auto forced = client_->Apply(Text("goodbye"), {.field_manager = "other", .force = true});
  ASSERT_TRUE(forced) << forced.error().ToString();
  EXPECT_EQ(forced->data.at("text"), "goodbye");
  EXPECT_EQ(client_->Apply(Text("goodbye"), {}).error().reason, Reason::kBadRequest);
}

TEST_F(ClientWritesTest, PatchStatusChangesTheStatusAloneAndIsNoted) {
  ASSERT_TRUE(client_->Create(NewDeployment("web")));
  const auto patched = client_->PatchStatus<Deployment>(
      {"default", "web"}, rest::PatchType::kMerge,
      R"({"spec":{"replicas":7},"status":{"replicas":3,"observedGeneration":1}})");
  ASSERT_TRUE(patched) << patched.error().ToString();
  EXPECT_EQ(patched->status.replicas, 3);
  EXPECT_NE(patched->spec.replicas, 7);
  EXPECT_EQ(Awaited(), patched->metadata.resource_version);
}

TEST_F(ClientWritesTest, ApplyStatusChangesTheStatusAloneAndIsNoted) {
  ASSERT_TRUE(client_->Create(NewDeployment("web")));
  ApplyObject<Deployment> wanted("web", "default");
  wanted.Set(&Deployment::spec, &DeploymentSpec::replicas, 7);
  wanted.Set(&Deployment::status, &DeploymentStatus::replicas, 3);
  const auto applied = client_->ApplyStatus(wanted, {.field_manager = "scaler"});
  ASSERT_TRUE(applied) << applied.error().ToString();
  EXPECT_EQ(applied->status.replicas, 3);
  EXPECT_NE(applied->spec.replicas, 7);
  EXPECT_EQ(Awaited(), applied->metadata.resource_version);
}

TEST_F(ClientWritesTest, DeleteCollectionDeletesWhatIsSelectedInOneNamespace) {
  for (const auto& [name, app] :
       {std::pair("a", "web"), std::pair("b", "web"), std::pair("c", "db")}) {
    CreateMap(name, app);
  }
  EXPECT_EQ(client_->DeleteCollection<ConfigMap>("").error().reason, Reason::kBadRequest);
  ASSERT_TRUE(client_->DeleteCollection<ConfigMap>("elsewhere"));
  ASSERT_TRUE(client_->DeleteCollection<ConfigMap>("default", {.label_selector = "app=web"}));
  const auto exists = [this](const std::string& name) {
    const auto got = client_->GetLive<ConfigMap>({"default", name});
    EXPECT_TRUE(got || got.error().reason == Reason::kNotFound) << got.error().ToString();
    return got.has_value();
  };
  EXPECT_FALSE(exists("a"));
  EXPECT_FALSE(exists("b"));
  EXPECT_TRUE(exists("c"));
  EXPECT_EQ(Awaited(), "") << "the answer has no version to wait for";
  ASSERT_TRUE(client_->DeleteCollection<ConfigMap>("default", {}, {.dry_run = true}));
  EXPECT_TRUE(exists("c"));
  ASSERT_TRUE(client_->DeleteCollection<ConfigMap>("default"));
  EXPECT_FALSE(exists("c"));
}

TEST(ReconcileEventsTest, AreOfTheController) {
  const kubexx::testing::ApiServer server;
  auto manager = controller::Manager::New({.host = server.url()});
  ASSERT_TRUE(manager) << manager.error().ToString();
  std::stop_source stop;
  const auto made = controller::ControllerBuilder<Namespace>(**manager).Named("greeter").Complete(
      [&stop](const controller::Request& request,
              controller::Context& context) -> Result<controller::Action> {
        if (request.object.name == "default") {
          KX_ASSIGN_OR_RETURN(const auto found, context.client.Get<Namespace>(request.object));
          context.recorder.Event(*found, events::EventType::kNormal, "Greeted", "hello");
          stop.request_stop();
        }
        return controller::Action::Done();
      });
  ASSERT_TRUE(made) << made.error().ToString();
  const auto ran = (*manager)->Run(stop.get_token());
  ASSERT_TRUE(ran) << ran.error().ToString();
  const auto events = kubernetes::ResourceClient<api::events::v1::Event>(
                          *rest::RESTClient::New({.host = server.url()}), "default")
                          .List();
  ASSERT_TRUE(events) << events.error().ToString();
  ASSERT_EQ(events->items.size(), 1U) << "what is queued is written before Run returns";
  EXPECT_EQ(events->items.front().reason, "Greeted");
  EXPECT_EQ(events->items.front().reporting_controller, "greeter");
}

}  // namespace
}  // namespace kubexx::apiserver::controllers
