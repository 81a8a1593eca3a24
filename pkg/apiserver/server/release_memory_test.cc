#include <gtest/gtest.h>

#include <chrono>
#include <latch>
#include <memory>
#include <string>

#include "kubexx/apiserver/server/api_server.h"
#include "kubexx/apiserver/storage/memory.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::apiserver {
namespace {

TEST(ReleaseMemoryTest, MemoryIsReleasedNowAndThen) {
  base::testing::FakeClock clock;
  std::latch released(3);
  ApiServerOptions options{.clock = clock};
  options.address = "127.0.0.1:0";
  options.plain_http = true;
  options.release_memory = [&released] {
    if (!released.try_wait()) {
      released.count_down();
    }
  };
  ApiServer server(*storage::NewMemoryStorage({}), options);
  ASSERT_TRUE(server.Start());
  KX_UNTIL(released.try_wait()) {
    clock.Advance(std::chrono::seconds(1));
  }
  server.Stop();
}

}  // namespace
}  // namespace kubexx::apiserver
