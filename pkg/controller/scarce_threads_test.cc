// Tests a manager and a client on a system that has no threads left.
#include "kubexx/base/testing/scarce_threads/scarce_threads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/wait_until_stopped.h"
#include "kubexx/controller/client.h"
#include "kubexx/controller/manager.h"
#include "kubexx/informers/shared_informer_factory.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::controller {
namespace {

using apimachinery::Reason;
using apimachinery::Result;
using base::testing::ScarceThreads;

TEST(ScarceThreadsTest, AManagerEndsWithAnErrorWhereverThereIsNoThreadLeft) {
  if constexpr (!ScarceThreads::kWorks) {
    GTEST_SKIP() << "a sanitizer has a pthread_create of its own";
  }
  const std::string nowhere = "http://127.0.0.1:" + std::to_string(rest::testing::UnusedPort());
  int refused = 0;
  bool has_run = false;
  for (int threads = 0; !has_run && threads < 100; ++threads) {
    Manager manager(rest::testing::NewClient(nowhere), {.http = {{.address = "127.0.0.1:0"}}});
    std::stop_source stop;
    const auto wait = [](const std::stop_token& end) -> Result<void> {
      base::WaitUntilStopped(end);
      return {};
    };
    ASSERT_TRUE(manager.Add("server", Stage::kServer, wait));
    ASSERT_TRUE(manager.Add("other", Stage::kOther, wait));
    ASSERT_TRUE(manager.Add("leader", Stage::kLeader, [&stop](const std::stop_token&) {
      stop.request_stop();
      return Result<void>();
    }));
    const auto ran = [&] {
      const ScarceThreads scarce(threads);
      return manager.Run(stop.get_token());
    }();
    has_run = ran.has_value();
    if (!ran) {
      ++refused;
      EXPECT_THAT(ran.error().message, ::testing::HasSubstr("Resource temporarily unavailable"))
          << "with " << threads << " threads";
    }
  }
  EXPECT_TRUE(has_run);
  EXPECT_GE(refused, 3) << "it starts more threads than that";
}

TEST(ScarceThreadsTest, AReadThatGetsNoThreadsIsAnErrorAndTheNextOneIsAnswered) {
  if constexpr (!ScarceThreads::kWorks) {
    GTEST_SKIP() << "a sanitizer has a pthread_create of its own";
  }
  rest::testing::FakeServer server([](rest::testing::FakeConnection& connection) {
    while (const auto request = connection.ReadRequest()) {
      if (request->target.find("watch=true") != std::string::npos) {
        connection.RespondChunked(200, "application/json;stream=watch");
        connection.AwaitPeer();
        return;
      }
      connection.Respond(
          200, "application/json",
          R"({"kind":"ConfigMapList","metadata":{"resourceVersion":"9"},"items":[]})");
    }
  });
  const auto factory =
      std::make_shared<informers::SharedInformerFactory>(rest::testing::NewClient(server.Url()));
  (void)factory->InformerFor<api::core::v1::ConfigMap>({.use_watch_list = false});
  const Client client({.caches = factory, .first_read_timeout = std::chrono::minutes(5)});
  for (const int threads : {0, 1}) {
    const ScarceThreads scarce(threads);
    const auto read = client.List<api::core::v1::ConfigMap>("ns");
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().reason, Reason::kUnavailable);
    EXPECT_THAT(read.error().message, ::testing::HasSubstr("no thread"));
  }
  EXPECT_TRUE(client.List<api::core::v1::ConfigMap>("ns"));
  factory->Shutdown();
}

}  // namespace
}  // namespace kubexx::controller
