// A controller of unstructured objects, which is put together from its parts.
#include <gtest/gtest.h>

#include <memory>
#include <stop_token>
#include <string>
#include <thread>

#include "kubexx/apiserver/server/testing/api_server.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/wait_until_stopped.h"
#include "kubexx/controller/controller.h"
#include "kubexx/controller/manager.h"
#include "kubexx/controller/object_helpers.h"
#include "kubexx/controller/source.h"
#include "kubexx/dynamic/dynamic_client.h"
#include "kubexx/dynamic/dynamic_informer.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx {
namespace {

using apimachinery::Result;
using controller::Action;
using controller::Context;
using controller::Request;
using dynamic::Unstructured;

const apimachinery::GroupVersionResource kConfigMaps{"", "v1", "configmaps"};

/// Labels each ConfigMap whose data ask for it.
Result<void> AddLabeller(controller::Manager& manager) {
  const auto factory = std::make_shared<dynamic::DynamicSharedInformerFactory>(
      manager.client(),
      dynamic::DynamicFactoryOptions{.clock = manager.clock(), .registry = &manager.registry()});
  const auto objects = factory->InformerFor(kConfigMaps);
  const auto reconcile = [objects, client = dynamic::DynamicClient(manager.client())](
                             const Request& request, Context& context) -> Result<Action> {
    const auto object = objects->Get(request.object);
    if (!object) {
      return controller::IgnoreNotFound(object.error());
    }
    if ((*object)->GetString({"data", "tier"}) == "gold" && !(*object)->Labels().contains("gold")) {
      KX_RETURN_IF_ERROR(client.Resource(kConfigMaps, request.object.namespace_)
                             .Patch(request.object.name,
                                    {.type = rest::PatchType::kMerge,
                                     .text = R"({"metadata":{"labels":{"gold":""}}})"},
                                    {.field_manager = context.controller}, context.stop));
    }
    return Action::Done();
  };
  const auto made = std::make_shared<controller::Controller>(manager.ControllerDefaults("labeller"),
                                                             manager.ClientParts(), reconcile);
  made->AddSource(controller::NewObjectSource<Unstructured>(objects, "labeller/objects", {}));
  KX_RETURN_IF_ERROR(manager.Add("informers", controller::Stage::kServer,
                                 [factory](const std::stop_token& stop) -> Result<void> {
                                   factory->Start();
                                   base::WaitUntilStopped(stop);
                                   factory->Shutdown();
                                   return {};
                                 }));
  return manager.Add(made);
}

TEST(UnstructuredControllerTest, ReconcilesWhatWasThereAndWhatComes) {
  kubexx::testing::ApiServer server;
  const auto client = *rest::RESTClient::New({.host = server.url(), .qps = -1});
  const dynamic::DynamicResource maps =
      dynamic::DynamicClient(client).Resource(kConfigMaps, "default");
  const auto create = [&maps](const std::string& name, const std::string& tier) {
    return maps
        .Create(
            *Unstructured::Parse(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" +
                                 name + R"("},"data":{"tier":")" + tier + R"("}})"))
        .has_value();
  };
  const auto is_gold = [&maps](const std::string& name) {
    const auto map = maps.Get(name);
    return map && map->Labels().contains("gold");
  };
  ASSERT_TRUE(create("before", "gold"));
  controller::Manager manager(client);
  ASSERT_TRUE(AddLabeller(manager));
  std::jthread runner([&manager](const std::stop_token& stop) {
    const auto ran = manager.Run(stop);
    EXPECT_TRUE(ran) << ran.error().ToString();
  });
  KX_AWAIT(is_gold("before"));
  ASSERT_TRUE(create("other", "silver"));
  ASSERT_TRUE(create("after", "gold"));
  KX_AWAIT(is_gold("after"));
  EXPECT_FALSE(is_gold("other"));
}

}  // namespace
}  // namespace kubexx
