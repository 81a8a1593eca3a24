/// @file
/// A test fixture with the built-in controllers and a server for them in the test's own process.
#ifndef KUBEXX_APISERVER_CONTROLLERS_TESTING_CONTROLLERS_FIXTURE_H_
#define KUBEXX_APISERVER_CONTROLLERS_TESTING_CONTROLLERS_FIXTURE_H_

#include <gmock/gmock.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kubexx/api/apps/v1/resources.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/batch/v1/resources.gen.h"
#include "kubexx/api/batch/v1/types.gen.h"
#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apiserver/controllers/controllers.h"
#include "kubexx/apiserver/server/testing/api_server.h"
#include "kubexx/cache/list_watch_from_client.h"
#include "kubexx/cache/watch/until.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::apiserver::controllers {

/// Runs all controllers against a server in the same process. Pods become ready at once.
class ControllersFixture : public ::testing::Test {
 protected:
  using Deployment = api::apps::v1::Deployment;
  using Job = api::batch::v1::Job;
  using Pod = api::core::v1::Pod;

  ControllersFixture() {
    const rest::Config config{.host = server_.url(), .qps = -1};
    client_ = *rest::RESTClient::New(config);
    auto made = Controllers::New(config, server_.storage(),
                                 {.pod_start_delay = base::Duration(0), .root_ca = "a CA"});
    controllers_ = std::move(*made);
    controllers_->Start();
  }

  template <class T>
  kubernetes::ResourceClient<T> Client() const {
    return {client_, api::ResourceOf<T>().namespaced ? "default" : ""};
  }

  template <class T>
  T Create(const T& object) const {
    auto created = Client<T>().Create(object);
    EXPECT_TRUE(created.has_value()) << created.error().ToString();
    return created ? *created : object;
  }

  /// Waits until `wanted` returns true for the object, and returns the object.
  template <class T>
  T Await(const std::string& name, const std::function<bool(const T&)>& wanted) const {
    const bool namespaced = api::ResourceOf<T>().namespaced;
    const auto found = cache::WaitFor<T>(
        cache::NewListWatchFromClient(client_, api::ResourceOf<T>(), namespaced ? "default" : ""),
        {namespaced ? "default" : "", name},
        [&wanted](const T* object) { return object != nullptr && wanted(*object); }, {},
        {.timeout = std::chrono::minutes(3)});
    EXPECT_TRUE(found.has_value()) << name << ": " << found.error().ToString();
    return found && *found ? **found : T();
  }
  template <class T>
  void AwaitGone(const std::string& name) const {
    const auto gone =
        cache::WaitFor<T>(cache::NewListWatchFromClient(client_, api::ResourceOf<T>(), "default"),
                          {"default", name}, [](const T* object) { return object == nullptr; }, {},
                          {.timeout = std::chrono::minutes(3)});
    EXPECT_TRUE(gone.has_value()) << name << ": " << gone.error().ToString();
  }

  template <class T>
  static T Workload(const std::string& name) {
    T workload;
    workload.metadata.name = name;
    if constexpr (!std::is_same_v<T, Job>) {
      workload.spec.selector.emplace().match_labels["app"] = name;
      workload.spec.template_.metadata.labels["app"] = name;
    } else {
      workload.spec.template_.spec.restart_policy = "Never";
    }
    workload.spec.template_.spec.containers.resize(1);
    workload.spec.template_.spec.containers[0].name = "main";
    workload.spec.template_.spec.containers[0].image = "web:1";
    return workload;
  }
  static Deployment Web(std::int32_t replicas) {
    auto web = Workload<Deployment>("web");
    web.spec.replicas = replicas;
    return web;
  }
  static bool IsDone(const Deployment& deployment) {
    const auto& status = deployment.status;
    return status.observed_generation >= deployment.metadata.generation &&
           status.updated_replicas == *deployment.spec.replicas &&
           status.replicas == *deployment.spec.replicas &&
           status.available_replicas == *deployment.spec.replicas;
  }
  Deployment Patch(const std::string& patch) const {
    const auto patched = Client<Deployment>().Patch("web", rest::PatchType::kMerge, patch);
    EXPECT_TRUE(patched.has_value()) << patched.error().ToString();
    return patched ? *patched : Deployment();
  }
  template <class T>
  std::vector<T> All() const {
    const auto listed = Client<T>().List();
    EXPECT_TRUE(listed.has_value()) << listed.error().ToString();
    return listed ? listed->items : std::vector<T>();
  }
  std::size_t CountPods() const { return All<Pod>().size(); }

  kubexx::testing::ApiServer server_;
  std::shared_ptr<rest::RESTClient> client_;
  std::unique_ptr<Controllers> controllers_;
};

}  // namespace kubexx::apiserver::controllers

#endif  // KUBEXX_APISERVER_CONTROLLERS_TESTING_CONTROLLERS_FIXTURE_H_
