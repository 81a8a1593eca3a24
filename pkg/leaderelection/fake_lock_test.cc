#include "kubexx/leaderelection/testing/fake_lock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>

#include "kubexx/base/testing/await.h"

namespace kubexx::leaderelection::testing {
namespace {

using base::testing::Patience;

class FakeLockDeathTest : public ::testing::Test {
 protected:
  FakeLockDeathTest() {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    Lock::Lease lease;
    lease.spec.holder_identity = "a";
    lock_.Put(lease);
    (void)lock_.Get({});
  }
  FakeLock lock_;
};

TEST_F(FakeLockDeathTest, TellsWhichRequestsDidNotCome) {
  EXPECT_DEATH(
      {
        Patience::SetLimitForTest(std::chrono::milliseconds(20));
        lock_.AwaitCount("update", 2);
      },
      "fake_lock_test\\.cc:.* for: 2 requests of the verb \"update\"\n"
      "  it saw: \"the lease of a at version 1\"\n"
      "  it saw: \\[\"get\": 1\\]\n");
}

TEST_F(FakeLockDeathTest, TellsWhatLeaseThereWas) {
  EXPECT_DEATH(
      {
        Patience::SetLimitForTest(std::chrono::milliseconds(20));
        lock_.Await([](const std::optional<Lock::Lease>& lease) { return !lease; });
      },
      "fake_lock_test\\.cc:.* for: a lease that the test describes\n"
      "  it saw: \"the lease of a at version 1\"\n");
}

}  // namespace
}  // namespace kubexx::leaderelection::testing
