// Tests how long a key waits for a cache that shows its controller's own write late. The
// controller's clock measures it.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/controller/controller.h"
#include "kubexx/informers/shared_informer_factory.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::controller {
namespace {

using api::core::v1::ConfigMap;
using rest::testing::FakeConnection;
using rest::testing::FakeServer;
using std::chrono::milliseconds;
using std::chrono::seconds;

const workqueue::Key kLateOwner{.object = {"ns", "owner"}};

/// A server whose first list is at version 9, which accepts a write at version 12. Its watch sends
/// the write's event when the test says so.
class LateCacheTest : public ::testing::TestWithParam<int> {
 protected:
  ~LateCacheTest() override {
    Show();
    factory_->Shutdown();
  }
  void Show() {
    if (!std::exchange(is_shown_, true)) {
      shown_.count_down();
    }
  }
  static void Await(const std::function<bool()>& condition, const std::string& what,
                    const base::testing::Where& where = base::testing::Where::current()) {
    base::testing::Patience patience(what, where);
    while (!condition()) {
      patience.Pause();
    }
  }
  double Looks() {
    return registry_.Counter("kubexx_controller_stale_skips_total", "", {{"controller", "late"}})
        .Value();
  }

 private:
  void Serve(FakeConnection& connection) {
    while (const auto request = connection.ReadRequest()) {
      if (request->method == "PUT") {
        connection.Respond(
            200, "application/json",
            R"({"kind":"ConfigMap","metadata":{"namespace":"ns","name":"written","resourceVersion":"12"}})");
      } else if (request->target.find("sendInitialEvents") != std::string::npos) {
        connection.Respond(422, "application/json",
                           R"({"kind":"Status","reason":"Invalid","code":422})");
      } else if (request->target.find("watch=true") == std::string::npos) {
        connection.Respond(
            200, "application/json",
            R"({"kind":"ConfigMapList","metadata":{"resourceVersion":"9"},"items":[]})");
      } else {
        connection.RespondChunked(200, "application/json");
        KX_AWAIT(shown_.try_wait());
        connection.WriteChunk(R"({"type":"ADDED","object":{"metadata":{)"
                              R"("namespace":"ns","name":"written","resourceVersion":"12"}}})");
        connection.AwaitPeer();
        return;
      }
    }
  }

  std::latch shown_{1};
  bool is_shown_ = false;
  FakeServer server_{[this](FakeConnection& connection) { Serve(connection); }};

 protected:
  metrics::Registry registry_;
  const std::shared_ptr<rest::RESTClient> client_ = rest::testing::NewClient(server_.Url());
  const std::shared_ptr<informers::SharedInformerFactory> factory_ =
      std::make_shared<informers::SharedInformerFactory>(client_, informers::FactoryOptions{});
};

TEST_P(LateCacheTest, IsNoticedWithinASecondOfItsComing) {
  const auto informer = factory_->InformerFor<ConfigMap>();
  factory_->Start();
  ASSERT_TRUE(factory_->WaitForCacheSync(base::testing::PatienceEnd().token()));
  base::testing::FakeClock clock;
  std::atomic<int> reconciles = 0;
  std::latch nobody_else_waits{1};
  Controller controller(
      {.name = "late", .clock = clock, .registry = &registry_},
      {.rest = client_, .caches = factory_},
      [&](const Request&, Context& context) -> apimachinery::Result<Action> {
        if (++reconciles > 1) {
          return Action::Done();
        }
        KX_AWAIT(nobody_else_waits.try_wait());
        ConfigMap object;
        object.metadata.namespace_ = "ns";
        object.metadata.name = "written";
        const auto written = context.client.Update(object);
        return written ? apimachinery::Result<Action>(Action::RequeueAfter(milliseconds(1)))
                       : written.error();
      });
  const std::jthread thread([&](const std::stop_token& stop) { (void)controller.Run(stop); });
  controller.Enqueue(kLateOwner);
  // From then on only the key's delays wait for the clock.
  Await([&] { return reconciles == 1 && clock.Sleepers() == 0; }, "the first reconcile");
  nobody_else_waits.count_down();
  clock.AdvanceToSleeper(milliseconds(1));
  // The checks come after 2, 4, 8... ms, and never more than a second apart.
  milliseconds pause{2};
  milliseconds waited{0};
  for (int look = 1; look <= GetParam(); ++look) {
    Await([&] { return Looks() == look; }, "a look at the cache");
    if (look < GetParam()) {
      clock.AdvanceToSleeper(pause);
      waited += pause;
      pause = std::min(2 * pause, milliseconds(1000));
    }
  }
  EXPECT_EQ(reconciles, 1) << "before the cache has its own write";
  Show();
  Await([&] { return informer->LastSyncResourceVersion("ns") == "12"; }, "the cache");
  clock.AdvanceToSleeper(pause);
  Await([&] { return reconciles == 2; }, "the key, so much later");
  EXPECT_EQ(Looks(), GetParam());
  EXPECT_LE(pause, waited + milliseconds(2)) << "no longer than the cache itself was late";
}

INSTANTIATE_TEST_SUITE_P(Looks, LateCacheTest, ::testing::Values(1, 4, 9, 14),
                         [](const auto& looks) { return "After" + std::to_string(looks.param); });

}  // namespace
}  // namespace kubexx::controller
