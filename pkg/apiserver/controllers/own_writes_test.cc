// Tests how long a key waits for a write of its controller, depending on where it was written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <compare>
#include <functional>
#include <iostream>
#include <string>
#include <thread>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apimachinery/resource_version.h"
#include "kubexx/apiserver/server/testing/api_server.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/controller/builder.h"
#include "kubexx/controller/manager.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::apiserver::controllers {
namespace {

using api::core::v1::ConfigMap;
using api::core::v1::Namespace;
using api::core::v1::Secret;
using apimachinery::Reason;
using apimachinery::Result;
using controller::Action;
using std::chrono::seconds;

// The cache is checked after 2, 4, 8... ms (see put_off_test of controller). So many checks take
// less than a second on any machine.
constexpr int kLooks = 8;
constexpr int PauseOf(int looks) { return (2 << looks) - 2; }
static_assert(PauseOf(kLooks) < 1000);

struct WriteCase {
  std::string name;
  std::string namespace_;  ///< that is written to
  std::string selector;    ///< of the caches
  /// Whether the caches get the write: then the reconcile ends when the watch has brought it,
  /// however long that takes on this machine.
  bool is_shown;
  int looks;  ///< the most at a cache that one write may cost its key
};

class OwnWritesTest : public ::testing::TestWithParam<WriteCase> {
 protected:
  template <class T>
  void Create(T object) {
    const auto created =
        kubernetes::ResourceClient<T>(client_, object.metadata.namespace_).Create(object);
    ASSERT_TRUE(created.has_value()) << created.error().ToString();
  }
  static bool IsOlder(const std::string& a, const std::string& b) {
    const auto order = apimachinery::CompareResourceVersions(a, b);
    return a.empty() || (order && *order == std::strong_ordering::less);
  }
  /// Writes, and is called again at once.
  Result<Action> Reconcile(controller::Context& context) {
    const auto begun = std::chrono::steady_clock::now();
    const auto looks = static_cast<int>(skips_.Value());
    if (writes_ > 0) {
      longest_wait_ = std::max(longest_wait_, begun - ended_);
      most_looks_ = std::max(most_looks_, looks - looks_before_);
    }
    looks_before_ = looks;
    Secret secret;
    secret.metadata.namespace_ = GetParam().namespace_;
    secret.metadata.name = "written";
    secret.metadata.labels["write"] = std::to_string(writes_);
    auto done = context.client.Update(secret);
    if (!done && done.error().reason == Reason::kNotFound) {
      done = context.client.Create(secret);
    }
    if (!done) {
      return apimachinery::Fail(done.error());
    }
    KX_AWAIT(!GetParam().is_shown || context.stop.stop_requested() ||
             !IsOlder(cached_(), done->metadata.resource_version));
    ++writes_;
    ended_ = std::chrono::steady_clock::now();
    return Action::RequeueAfter(std::chrono::milliseconds(1));
  }

  const kubexx::testing::ApiServer server_;
  const std::shared_ptr<rest::RESTClient> client_ =
      *rest::RESTClient::New({.host = server_.url(), .qps = -1});
  metrics::Registry registry_;
  const metrics::Counter skips_ =
      registry_.Counter("kubexx_controller_stale_skips_total", "", {{"controller", "configmap"}});
  std::atomic<int> writes_ = 0;
  /// Returns the version up to which the cache has the namespace of the write.
  std::function<std::string()> cached_;
  /// Only one key is reconciled, by one thread at a time. This is read when the manager has ended.
  int looks_before_ = 0;
  int most_looks_ = 0;
  std::chrono::steady_clock::time_point ended_;
  std::chrono::steady_clock::duration longest_wait_{};
};

TEST_P(OwnWritesTest, HoldTheirKeyUpForLessThanASecond) {
  for (const char* name : {"quiet", "outside"}) {
    Namespace made;
    made.metadata.name = name;
    Create(made);
  }
  ConfigMap owner;
  owner.metadata.namespace_ = "default";
  owner.metadata.name = "owner";
  owner.metadata.labels["app"] = "owner";
  Create(owner);
  controller::ManagerOptions options;
  options.cache.namespaces = {"default", "quiet"};
  options.cache.list_watch.label_selector = GetParam().selector;
  options.registry = &registry_;
  controller::Manager manager(client_, options);
  const auto made = controller::ControllerBuilder<ConfigMap>(manager).Owns<Secret>().Complete(
      [this](const controller::Request& request, controller::Context& context) -> Result<Action> {
        return request.object.name == "owner" ? Reconcile(context) : Action::Done();
      });
  ASSERT_TRUE(made.has_value()) << made.error().ToString();
  cached_ = [informer = manager.InformerFor<Secret>()] {
    return informer->LastSyncResourceVersion(GetParam().namespace_);
  };
  {
    const std::jthread run([&manager](const std::stop_token& stop) { (void)manager.Run(stop); });
    KX_AWAIT_GE(writes_, 10);
  }
  EXPECT_GE(writes_, 10) << "waited 120 s for 10 writes";
  // The time is printed only, because a test does not judge the machine's speed.
  std::cout << GetParam().name << ": the longest wait after a write was "
            << std::chrono::duration_cast<std::chrono::milliseconds>(longest_wait_).count()
            << " ms, with " << most_looks_ << " looks, of which " << PauseOf(most_looks_)
            << " ms are the pauses between them\n";
  EXPECT_LE(most_looks_, GetParam().looks);
}

INSTANTIATE_TEST_SUITE_P(Places, OwnWritesTest,
                         ::testing::Values(WriteCase{"Inside", "default", "", true, 0},
                                           WriteCase{"InAQuietNamespace", "quiet", "", true, 0},
                                           WriteCase{"OutsideTheCaches", "outside", "", false, 0},
                                           WriteCase{"BesideTheSelector", "default", "app=owner",
                                                     false, kLooks}),
                         [](const auto& place) { return place.param.name; });

}  // namespace
}  // namespace kubexx::apiserver::controllers
