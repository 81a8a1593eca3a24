#include "kubexx/base/host_lookup.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <netdb.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <semaphore>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"

namespace {

std::atomic<int> held_lookups_begun = 0;
std::counting_semaphore<> held_lookups(0);

}  // namespace

// Names in "held.test" have no address, and that is not known before the test lets it be.
extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* hints,
                           addrinfo** out) {
  using Function = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto next = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  if (name == nullptr || !std::string_view(name).ends_with(".held.test")) {
    return next(name, service, hints, out);
  }
  ++held_lookups_begun;
  // Not for ever, so that a test that fails ends.
  (void)held_lookups.try_acquire_for(std::chrono::seconds(30));
  return EAI_AGAIN;
}

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

/// Counts answers.
class Answers {
 public:
  std::move_only_function<void(HostAddresses)> One() {
    return [this](const HostAddresses& found) {
      const MutexLock lock(mu_);
      errors_.push_back(found.error);
    };
  }
  std::vector<int> errors() const {
    const MutexLock lock(mu_);
    return errors_;
  }

 private:
  mutable Mutex mu_;
  std::vector<int> errors_ KX_GUARDED_BY(mu_);
};

TEST(HostLookupTest, EqualLookupsShareAThreadAndItsAnswer) {
  Answers answers;
  const int before = held_lookups_begun;
  for (int i = 0; i < 100; ++i) {
    LookUpHost("same.held.test", "6443", answers.One());
  }
  LookUpHost("same.held.test", "443", answers.One());
  KX_AWAIT_EQ(held_lookups_begun, before + 2);
  EXPECT_EQ(answers.errors(), std::vector<int>());
  held_lookups.release(2);
  KX_AWAIT_EQ(answers.errors().size(), 101U);
  EXPECT_EQ(answers.errors(), std::vector<int>(101, EAI_AGAIN));
  EXPECT_EQ(held_lookups_begun, before + 2);
  // It is over, and the next one asks again.
  LookUpHost("same.held.test", "6443", answers.One());
  held_lookups.release();
  KX_AWAIT_EQ(answers.errors().size(), 102U);
  EXPECT_EQ(held_lookups_begun, before + 3);
}

TEST(HostLookupTest, OneOfTooManyNamesIsRefusedAtOnce) {
  Answers answers;
  for (int i = 0; i < 64; ++i) {
    LookUpHost(std::to_string(i) + ".held.test", "6443", answers.One());
  }
  EXPECT_EQ(answers.errors(), std::vector<int>());
  LookUpHost("another.held.test", "6443", answers.One());
  EXPECT_EQ(answers.errors(), std::vector<int>{kTooManyLookups}) << "on this thread";
  LookUpHost("0.held.test", "6443", answers.One());
  held_lookups.release(64);
  KX_AWAIT_EQ(answers.errors().size(), 66U);
}

}  // namespace
}  // namespace kubexx::base
