// Tests the number of threads of a program that only watches.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/api/resource.h"
#include "kubexx/base/executor/executor.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/leak_check.h"
#include "kubexx/cache/list_watch_from_client.h"
#include "kubexx/cache/shared_informer.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::informers {
namespace {

using api::core::v1::ConfigMap;
using rest::testing::FakeConnection;
using rest::testing::FakeServer;

constexpr std::size_t kInformers = 60;

// A server that answers with a list of one object, and then with a watch that brings another object
// when the test says so.
class IdleThreadsTest : public ::testing::Test {
 protected:
  void Serve(FakeConnection& connection) {
    ++sessions_;
    while (const auto request = connection.ReadRequest()) {
      if (request->target.find("watch=true") == std::string::npos) {
        connection.Respond(
            200, "application/json",
            R"({"kind":"ConfigMapList","metadata":{"resourceVersion":"9"},"items":[{"metadata":{"namespace":"n","name":"one","resourceVersion":"3"}}]})");
        continue;
      }
      connection.RespondChunked(200, "application/json;stream=watch");
      ++watches_;
      KX_AWAIT(changes_ != 0);
      connection.WriteChunk(
          R"({"type":"ADDED","object":{"metadata":{"namespace":"n","name":"two","resourceVersion":"12"}}})");
      connection.AwaitPeer();
      break;
    }
    --sessions_;
  }

  /// Returns the number of the process's threads without those of the server, which has one for
  /// each connection.
  std::size_t Threads() const {
    return base::testing::ReadHeldResources().threads.size() - sessions_ - 1;
  }

  std::atomic<std::size_t> sessions_ = 0;
  std::atomic<std::size_t> watches_ = 0;
  std::atomic<int> changes_ = 0;
  FakeServer server_{[this](FakeConnection& connection) { Serve(connection); }};
};

TEST_F(IdleThreadsTest, SixtyInformersNeedFewMoreThanProcessors) {
  const auto client = rest::testing::NewClient(server_.Url());
  const auto executor = std::make_shared<base::Executor>();
  std::vector<std::unique_ptr<cache::SharedInformer<ConfigMap>>> informers;
  for (std::size_t i = 0; i < kInformers; ++i) {
    informers.push_back(std::make_unique<cache::SharedInformer<ConfigMap>>(
        cache::NewListWatchFromClient(client, api::ResourceOf<ConfigMap>(), "n"),
        cache::InformerOptions{.name = "configmaps-" + std::to_string(i),
                               .resync_period = std::chrono::hours(10),
                               .use_watch_list = false,
                               .executor = executor}));
    informers.back()->Start();
  }
  for (const auto& informer : informers) {
    ASSERT_TRUE(informer->WaitForSync(base::testing::PatienceEnd().token()));
  }
  KX_AWAIT_EQ(watches_, kInformers);
  // The threads that were added for requests that waited end on their own.
  const std::size_t few = std::thread::hardware_concurrency() + 8;
  KX_AWAIT(Threads() <= few);
  changes_ = 1;
  for (const auto& informer : informers) {
    KX_AWAIT_EQ(informer->Size(), 2U);
  }
  KX_AWAIT(Threads() <= few);
  for (const auto& informer : informers) {
    informer->Stop();
    EXPECT_FALSE(informer->OnOwnThread());
  }
}

}  // namespace
}  // namespace kubexx::informers
