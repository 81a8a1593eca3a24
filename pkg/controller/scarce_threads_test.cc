// A manager on a system that has no threads left, at each point at which one is started.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <stop_token>
#include <string>

#include "kubexx/base/sanitizers.h"
#include "kubexx/base/wait_until_stopped.h"
#include "kubexx/controller/manager.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::controller {
namespace {

using apimachinery::Result;

/// How many threads may still be started; below zero: any number.
std::atomic<int> threads_left{-1};

}  // namespace
}  // namespace kubexx::controller

#if !KX_SANITIZED
namespace kubexx::controller {
namespace {

bool TakeThread() {
  int left = threads_left.load();
  while (left > 0 && !threads_left.compare_exchange_weak(left, left - 1)) {
  }
  return left != 0;
}

}  // namespace
}  // namespace kubexx::controller

// A program's own function comes before the C library's, also for libstdc++.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*start)(void*), void* argument) {
  static const auto real =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return kubexx::controller::TakeThread() ? real(thread, attributes, start, argument) : EAGAIN;
}
#endif

namespace kubexx::controller {
namespace {

TEST(ScarceThreadsTest, AManagerEndsWithAnErrorWhereverThereIsNoThreadLeft) {
  if constexpr (KX_SANITIZED != 0) {
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
    threads_left = threads;
    const auto ran = manager.Run(stop.get_token());
    threads_left = -1;
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

}  // namespace
}  // namespace kubexx::controller
