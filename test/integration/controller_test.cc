// Controllers against a real API server: what they own, conflicts, restarts, their own writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cluster_fixture.h"
#include "kubexx/api/apps/v1/resources.gen.h"
#include "kubexx/api/apps/v1/schema.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/controller/builder.h"
#include "kubexx/controller/create_or_update.h"
#include "kubexx/controller/object_helpers.h"
#include "kubexx/controller/retry.h"

namespace kubexx::integration {
namespace {

using api::apps::v1::Deployment;
using apimachinery::Reason;
using apimachinery::Result;
using controller::Action;
using controller::Context;
using controller::ControllerBuilder;
using controller::Manager;
using controller::Operation;
using controller::Request;

constexpr char kFinalizer[] = "kubexx.example.com/cleanup";

class ControllerClusterTest : public ClusterTest {
 protected:
  void TearDown() override {
    StopManager();
    ClusterTest::TearDown();
  }

  kubernetes::ResourceClient<Deployment> Deployments() const { return {client_, namespace_}; }

  Deployment MakeDeployment(const std::string& name) const {
    Deployment object;
    object.metadata.namespace_ = namespace_;
    object.metadata.name = name;
    object.spec.replicas = 0;
    object.spec.selector.emplace().match_labels["app"] = name;
    object.spec.template_.metadata.labels["app"] = name;
    auto& container = object.spec.template_.spec.containers.emplace_back();
    container.name = "app";
    container.image = "example.com/app:1";
    return object;
  }
  void CreateDeployment(const Deployment& object) const {
    const auto created = Deployments().Create(object);
    ASSERT_TRUE(created.has_value()) << created.error().ToString();
  }
  void Annotate(const std::string& name, const std::string& value) const {
    const auto patched =
        Deployments().Patch(name, rest::PatchType::kMerge,
                            R"({"metadata":{"annotations":{"value":")" + value + R"("}}})");
    ASSERT_TRUE(patched.has_value()) << patched.error().ToString();
  }

  void NewManager() {
    manager_ = std::make_unique<Manager>(
        client_, controller::ManagerOptions{.http = {{.address = "127.0.0.1:0"}},
                                            .cache = {.namespace_ = namespace_}});
  }
  void StartManager() {
    thread_ = std::jthread([this](const std::stop_token& stop) { result_ = manager_->Run(stop); });
  }
  void StopManager() {
    if (thread_.joinable()) {
      thread_.request_stop();
      thread_.join();
      EXPECT_TRUE(result_->has_value()) << result_->error().ToString();
    }
  }
  double Counter(const std::string& name) {
    return manager_->registry().Counter(name, "", {{"controller", "deployment"}}).Value();
  }

  /// A ConfigMap of the Deployment's name, with its annotation "value".
  static Result<Action> CopyAnnotation(const Request& request, Context& context) {
    const auto deployment = context.client.Get<Deployment>(request.object);
    if (!deployment) {
      return controller::IgnoreNotFound(deployment.error());
    }
    ConfigMap config;
    config.metadata.namespace_ = request.object.namespace_;
    config.metadata.name = request.object.name;
    KX_ASSIGN_OR_RETURN(
        [[maybe_unused]] const Operation done,
        controller::CreateOrUpdate(context.client, config, [&](ConfigMap& object) -> Result<void> {
          const auto& annotations = (*deployment)->metadata.annotations;
          const auto value = annotations.find("value");
          object.data["value"] = value == annotations.end() ? "" : value->second;
          return controller::SetControllerReference(**deployment, object);
        }));
    return Action::Done();
  }
  void StartCopying() {
    NewManager();
    const auto made =
        ControllerBuilder<Deployment>(*manager_).Owns<ConfigMap>().Complete(CopyAnnotation);
    ASSERT_TRUE(made.has_value()) << made.error().ToString();
    StartManager();
  }
  bool AwaitCopy(const std::string& name, const std::string& value) {
    return Await([&] {
      const auto config = ConfigMaps().Get(name);
      return config && config->data.contains("value") && config->data.at("value") == value;
    });
  }

  std::unique_ptr<Manager> manager_;
  std::optional<Result<void>> result_;
  std::jthread thread_;
};

/// Writes a ConfigMap in each of these namespaces again and again, and waits for nobody else.
TEST_F(ControllerClusterTest, AQuietNamespaceAndOneOutsideTheCachesHoldNobodyUp) {
  CreateDeployment(MakeDeployment("web"));
  manager_ = std::make_unique<Manager>(
      client_, controller::ManagerOptions{.cache = {.namespaces = {namespace_, "kube-public"}}});
  std::atomic<int> writes = 0;
  const auto made = ControllerBuilder<Deployment>(*manager_).Owns<ConfigMap>().Complete(
      [&](const Request& request, Context& context) -> Result<Action> {
        for (const char* outside : {"", "default"}) {  // which the caches do not have
          ConfigMap config;
          config.metadata.namespace_ =
              *outside == 0 ? request.object.namespace_ : std::string(outside);
          config.metadata.name = namespace_;
          config.data["write"] = std::to_string(writes);
          const auto updated = context.client.Update(config);
          if (!updated && updated.error().reason == Reason::kNotFound) {
            KX_RETURN_IF_ERROR(context.client.Create(config));
          } else if (!updated) {
            return apimachinery::Fail(updated.error());
          }
        }
        ++writes;
        return Action::RequeueAfter(std::chrono::milliseconds(10));
      });
  ASSERT_TRUE(made.has_value()) << made.error().ToString();
  StartManager();
  EXPECT_TRUE(Await([&] { return writes >= 10; })) << "each waited for a bookmark";
  StopManager();
  (void)kubernetes::Clientset(client_).CoreV1().ConfigMaps("default").Delete(namespace_);
}

TEST_F(ControllerClusterTest, OwnedObjectsAreMadeChangedAndMadeAgain) {
  CreateDeployment(MakeDeployment("web"));
  StartCopying();
  EXPECT_TRUE(AwaitCopy("web", ""));
  Annotate("web", "1");
  EXPECT_TRUE(AwaitCopy("web", "1"));
  ASSERT_TRUE(ConfigMaps().Delete("web"));
  EXPECT_TRUE(AwaitCopy("web", "1")) << "deleted by somebody else";
  ASSERT_TRUE(ConfigMaps().Patch("web", rest::PatchType::kMerge, R"({"data":{"value":"x"}})"));
  EXPECT_TRUE(AwaitCopy("web", "1")) << "changed by somebody else";
  CreateDeployment(MakeDeployment("late"));
  EXPECT_TRUE(AwaitCopy("late", ""));
  const auto config = ConfigMaps().Get("late");
  ASSERT_TRUE(config);
  EXPECT_TRUE(controller::IsControlledBy(*config, *Deployments().Get("late")));
  const auto ready = rest::RESTClient::New(
      {.host = "http://127.0.0.1:" + std::to_string(manager_->health_port())});
  ASSERT_TRUE(ready);
  EXPECT_EQ((*ready)->Get().AbsPath("/readyz").Do().value().body, "ok");
}

TEST_F(ControllerClusterTest, WhatHappenedWhileItWasDownIsDoneAtTheNextStart) {
  CreateDeployment(MakeDeployment("web"));
  StartCopying();
  ASSERT_TRUE(AwaitCopy("web", ""));
  StopManager();
  Annotate("web", "2");
  CreateDeployment(MakeDeployment("new"));
  ASSERT_TRUE(ConfigMaps().Get("new").error().reason == Reason::kNotFound);
  StartCopying();
  EXPECT_TRUE(AwaitCopy("web", "2"));
  EXPECT_TRUE(AwaitCopy("new", ""));
}

// Each reconcile makes one of the objects that the cache says are missing, under a name that the
// server chooses, and comes again at once, while others change the owner all the time. Without
// waiting for its own writes it would make too many.
TEST_F(ControllerClusterTest, NeverMakesTwiceWhatTheCacheDoesNotShowYet) {
  constexpr int kOwners = 10;
  constexpr std::size_t kWanted = 5;
  NewManager();
  const auto reconcile = [](const Request& request, Context& context) -> Result<Action> {
    const auto owner = context.client.Get<Deployment>(request.object);
    if (!owner) {
      return controller::IgnoreNotFound(owner.error());
    }
    KX_ASSIGN_OR_RETURN(const auto all, context.client.List<ConfigMap>(request.object.namespace_));
    const auto owned = std::ranges::count_if(
        all, [&](const auto& each) { return controller::IsControlledBy(*each, **owner); });
    if (static_cast<std::size_t>(owned) >= kWanted) {
      return Action::Done();
    }
    ConfigMap next;
    next.metadata.namespace_ = request.object.namespace_;
    next.metadata.generate_name = request.object.name + "-";
    KX_RETURN_IF_ERROR(controller::SetControllerReference(**owner, next));
    KX_RETURN_IF_ERROR(context.client.Create(next));
    return Action::RequeueAfter(std::chrono::nanoseconds(1));
  };
  ASSERT_TRUE(ControllerBuilder<Deployment>(*manager_)
                  .Owns<ConfigMap>()
                  .MaxConcurrentReconciles(4)
                  .Complete(reconcile));
  StartManager();
  for (int i = 0; i < kOwners; ++i) {
    CreateDeployment(MakeDeployment("owner-" + std::to_string(i)));
  }
  std::jthread noise([this](const std::stop_token& stop) {
    for (int i = 0; !stop.stop_requested(); ++i) {
      Annotate("owner-" + std::to_string(i % kOwners), std::to_string(i));
    }
  });
  const auto counts = [this] {
    std::map<std::string, std::size_t> owned;
    const auto list = ConfigMaps().List();
    EXPECT_TRUE(list) << list.error().ToString();
    for (const ConfigMap& object : list->items) {
      if (const auto* owner = controller::ControllerOf(object.metadata)) {
        ++owned[owner->name];
      }
    }
    return owned;
  };
  EXPECT_TRUE(Await([&] {
    const auto owned = counts();
    return owned.size() == kOwners &&
           std::ranges::all_of(owned, [](const auto& entry) { return entry.second >= kWanted; });
  }));
  noise.request_stop();
  noise.join();
  // One more round of reconciles over a cache that has everything.
  const double before = manager_->registry()
                            .Counter("controller_runtime_reconcile_total", "",
                                     {{"controller", "deployment"}, {"result", "success"}})
                            .Value();
  for (int i = 0; i < kOwners; ++i) {
    Annotate("owner-" + std::to_string(i), "end");
  }
  EXPECT_TRUE(Await([&] {
    return manager_->registry()
               .Counter("controller_runtime_reconcile_total", "",
                        {{"controller", "deployment"}, {"result", "success"}})
               .Value() >= before + kOwners;
  }));
  for (const auto& [owner, count] : counts()) {
    EXPECT_EQ(count, kWanted) << owner;
  }
  RecordProperty("stale_skips", static_cast<int>(Counter("kubexx_controller_stale_skips_total")));
}

TEST_F(ControllerClusterTest, ConflictsAreRetried) {
  CreateDeployment(MakeDeployment("web"));
  constexpr int kWriters = 4;
  constexpr int kWrites = 10;
  const controller::Client client({.rest = client_});
  std::vector<std::jthread> writers;
  std::atomic<int> failed = 0;
  std::atomic<int> conflicts = 0;
  for (int w = 0; w < kWriters; ++w) {
    writers.emplace_back([&] {
      for (int i = 0; i < kWrites; ++i) {
        const auto written = controller::RetryOnConflict(
            [&]() -> Result<Deployment> {
              KX_ASSIGN_OR_RETURN(Deployment object,
                                  client.GetLive<Deployment>({namespace_, "web"}));
              std::string& count = object.metadata.annotations["count"];
              count = std::to_string(count.empty() ? 1 : std::stoi(count) + 1);
              auto result = client.Update(object);
              conflicts += !result && result.error().reason == Reason::kConflict ? 1 : 0;
              return result;
            },
            {.attempts = 200});
        failed += written ? 0 : 1;
      }
    });
  }
  writers.clear();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(Deployments().Get("web")->metadata.annotations.at("count"),
            std::to_string(kWriters * kWrites));
  RecordProperty("conflicts", conflicts);
}

TEST_F(ControllerClusterTest, CreateOrPatchLeavesWhatOthersWrote) {
  NewManager();
  StartManager();
  const controller::Client client = manager_->NewClient();
  const auto apply = [&](const std::string& value) {
    ConfigMap object;
    object.metadata.namespace_ = namespace_;
    object.metadata.name = "patched";
    return controller::CreateOrPatch(client, object, [&](ConfigMap& each) -> Result<void> {
      each.data["ours"] = value;
      return {};
    });
  };
  EXPECT_EQ(apply("1").value(), Operation::kCreated);
  ASSERT_TRUE(ConfigMaps().Patch("patched", rest::PatchType::kMerge, R"({"data":{"theirs":"x"}})"));
  ASSERT_TRUE(Await([&] { return client.Get<ConfigMap>({namespace_, "patched"}).has_value(); }));
  EXPECT_EQ(apply("2").value(), Operation::kUpdated);
  const auto stored = ConfigMaps().Get("patched");
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->data.at("ours"), "2");
  EXPECT_EQ(stored->data.at("theirs"), "x");
  ASSERT_TRUE(Await([&] {
    const auto cached = client.Get<ConfigMap>({namespace_, "patched"});
    return cached && (*cached)->data.at("ours") == "2";
  }));
  EXPECT_EQ(apply("2").value(), Operation::kNone);
}

TEST_F(ControllerClusterTest, FinalizerHoldsAnObjectUntilItsCleanUp) {
  NewManager();
  std::atomic<int> cleaned = 0;
  const auto reconcile = [&](const Request& request, Context& context) -> Result<Action> {
    const auto cached = context.client.Get<Deployment>(request.object);
    if (!cached) {
      return controller::IgnoreNotFound(cached.error());
    }
    Deployment object = **cached;
    if (!controller::IsBeingDeleted(object)) {
      if (controller::AddFinalizer(object, kFinalizer)) {
        KX_RETURN_IF_ERROR(context.client.Update(object));
      }
      return Action::Done();
    }
    if (controller::ContainsFinalizer(object, kFinalizer)) {
      ++cleaned;
      controller::RemoveFinalizer(object, kFinalizer);
      KX_RETURN_IF_ERROR(context.client.Update(object));
    }
    return Action::Done();
  };
  ASSERT_TRUE(ControllerBuilder<Deployment>(*manager_).Complete(reconcile));
  StartManager();
  CreateDeployment(MakeDeployment("web"));
  ASSERT_TRUE(Await([this] {
    const auto object = Deployments().Get("web");
    return object && controller::ContainsFinalizer(*object, kFinalizer);
  }));
  ASSERT_TRUE(Deployments().Delete("web"));
  EXPECT_TRUE(Await([this] {
    const auto object = Deployments().Get("web");
    return !object && object.error().reason == Reason::kNotFound;
  }));
  EXPECT_GE(cleaned, 1);
}

TEST_F(ControllerClusterTest, StopEndsAReconcileThatWaitsForTheServer) {
  NewManager();
  std::atomic<bool> waits = false;
  std::atomic<bool> cancelled = false;
  const auto reconcile = [&](const Request&, Context& context) -> Result<Action> {
    waits = true;
    // A watch has no end of its own.
    const auto watched = context.client.Resource<ConfigMap>(namespace_)
                             .Watch({}, [](auto&&) -> Result<void> { return {}; }, context.stop);
    cancelled = !watched && watched.error().reason == Reason::kCancelled;
    return Action::Done();
  };
  ASSERT_TRUE(ControllerBuilder<Deployment>(*manager_).Complete(reconcile));
  StartManager();
  CreateDeployment(MakeDeployment("web"));
  ASSERT_TRUE(Await([&] { return waits.load(); }));
  StopManager();
  EXPECT_TRUE(cancelled);
}

// Two managers of one lease: the second one is ready, and works when the first has stopped.
TEST_F(ControllerClusterTest, StandbyTakesOverWhenTheLeaderStops) {
  struct Replica {
    std::unique_ptr<Manager> manager;
    std::atomic<int> reconciles = 0;
    std::optional<Result<void>> result;
    std::jthread thread;
  };
  std::array<Replica, 2> replicas;
  const auto start = [this](Replica& replica) {
    controller::ManagerOptions options;
    options.cache.namespace_ = namespace_;
    options.leader_election = {.lease = {namespace_, "controller"}};
    replica.manager = std::make_unique<Manager>(client_, std::move(options));
    const auto made = ControllerBuilder<Deployment>(*replica.manager)
                          .WarmStandby(true)
                          .Complete([&replica](const Request&, Context&) -> Result<Action> {
                            ++replica.reconciles;
                            return Action::Done();
                          });
    ASSERT_TRUE(made.has_value()) << made.error().ToString();
    replica.thread = std::jthread(
        [&replica](const std::stop_token& stop) { replica.result = replica.manager->Run(stop); });
  };
  CreateDeployment(MakeDeployment("web"));
  start(replicas[0]);
  ASSERT_TRUE(Await([&] { return replicas[0].reconciles > 0; }));
  EXPECT_TRUE(replicas[0].manager->IsLeader());
  start(replicas[1]);
  ASSERT_TRUE(Await([&] { return replicas[1].manager->InformerFor<Deployment>()->HasSynced(); }));
  EXPECT_FALSE(replicas[1].manager->IsLeader());
  EXPECT_EQ(replicas[1].reconciles, 0);
  replicas[0].thread.request_stop();
  replicas[0].thread.join();
  EXPECT_TRUE(*replicas[0].result) << replicas[0].result->error().ToString();
  EXPECT_TRUE(Await([&] { return replicas[1].reconciles > 0; }));
  EXPECT_TRUE(replicas[1].manager->IsLeader());
}

}  // namespace
}  // namespace kubexx::integration
