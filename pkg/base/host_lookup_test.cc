#include "kubexx/base/host_lookup.h"

#include <gtest/gtest.h>
#include <netdb.h>

#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"

namespace kubexx::base {
namespace {

TEST(HostLookupTest, AnAddressIsFoundAtOnce) {
  for (const char* host : {"127.0.0.1", "::1", "fd00::1"}) {
    std::optional<HostAddresses> found;
    LookUpHost(host, "6443", [&found](HostAddresses result) { found = std::move(result); });
    ASSERT_TRUE(found.has_value()) << "on this thread";
    EXPECT_EQ(found->error, 0);
    ASSERT_EQ(found->addresses.size(), 1U);
    EXPECT_EQ(found->addresses.front().storage.ss_family,
              std::string_view(host).contains(':') ? AF_INET6 : AF_INET);
  }
}

TEST(HostLookupTest, ANameThatCannotBeIsAnError) {
  Mutex mu;
  CondVar changed;
  std::optional<HostAddresses> found;
  LookUpHost("no.such.name.invalid", "6443", [&](HostAddresses result) {
    const MutexLock lock(mu);
    found = std::move(result);
    changed.notify_all();
  });
  const TimePoint until = Clock::Real().Now() + std::chrono::minutes(1);
  const MutexLock lock(mu);
  while (!found && Clock::Real().WaitUntil(mu, changed, {}, until) != Wake::kTimeout) {
  }
  ASSERT_TRUE(found.has_value());
  EXPECT_NE(found->error, 0);
  EXPECT_TRUE(found->addresses.empty());
}

}  // namespace
}  // namespace kubexx::base
