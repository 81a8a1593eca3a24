#include "kubexx/reloader/ha/membership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <thread>
#include <utility>

#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/logging/testing/capture.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Result;
using base::testing::FakeClock;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(MemberView, BelievesInWhatChanges) {
  MemberView view(seconds(15));
  const base::TimePoint start{};
  view.Saw({{"a", "1"}, {"b", "1"}}, start);
  EXPECT_THAT(view.Live(start), ElementsAre("a", "b"));
  view.Saw({{"a", "2"}, {"b", "1"}}, start + seconds(14));
  EXPECT_THAT(view.Live(start + seconds(15)), ElementsAre("a"));
  EXPECT_THAT(view.Abandoned(start + seconds(149)), IsEmpty());
  EXPECT_THAT(view.Abandoned(start + seconds(150)), ElementsAre("b"));
  view.Saw({{"a", "2"}}, start + seconds(20));
  EXPECT_THAT(view.Live(start + seconds(20)), ElementsAre("a"));
  EXPECT_THAT(view.Abandoned(start + seconds(150)), IsEmpty());
}

TEST(TakerOf, GivesEveryMemberItsPart) {
  EXPECT_EQ(TakerOf(0, {}), "");
  std::map<std::string, int> shares;
  for (int shard = 0; shard < 8; ++shard) {
    ++shares[TakerOf(shard, {"a", "b", "c"})];
  }
  EXPECT_EQ(shares, (std::map<std::string, int>{{"a", 3}, {"b", 3}, {"c", 2}}));
}

/// Members in memory; renewals of "me" only. Thread-safe.
class FakeStore final : public MemberStore {
 public:
  Result<void> Renew(std::stop_token) override {
    Put("me");
    return {};
  }
  Result<std::vector<Member>> List(std::stop_token) override {
    const base::MutexLock lock(mu_);
    if (is_refused_) {
      return apimachinery::Fail(apimachinery::Reason::kForbidden,
                                R"(leases is forbidden: User "me" cannot list resource "leases")");
    }
    std::vector<Member> members;
    for (const auto& [name, version] : members_) {
      members.push_back({name, std::to_string(version)});
    }
    return members;
  }
  Result<void> Remove(const std::string& name, std::stop_token) override {
    const base::MutexLock lock(mu_);
    members_.erase(name);
    return {};
  }
  Result<void> Watch(const std::function<void()>& on_change, std::stop_token stop) override {
    int seen = -1;
    while (!stop.stop_requested()) {
      bool call = false;
      {
        const base::MutexLock lock(mu_);
        while (events_ == seen && !stop.stop_requested()) {
          (void)base::Clock::Real().WaitUntil(mu_, changed_, stop, base::TimePoint::max());
        }
        call = std::exchange(seen, events_) != events_;
      }
      if (call) {
        on_change();
      }
    }
    return {};
  }

  void Put(const std::string& name) {
    const base::MutexLock lock(mu_);
    events_ += members_.contains(name) ? 0 : 1;
    ++members_[name];
    changed_.notify_all();
  }
  void Refuse(bool is_refused) {
    const base::MutexLock lock(mu_);
    is_refused_ = is_refused;
  }
  bool Has(const std::string& name) {
    const base::MutexLock lock(mu_);
    return members_.contains(name);
  }

 private:
  base::Mutex mu_;
  base::CondVar changed_;
  bool is_refused_ KX_GUARDED_BY(mu_) = false;
  int events_ KX_GUARDED_BY(mu_) = 0;
  std::map<std::string, int> members_ KX_GUARDED_BY(mu_);
};

void AwaitRequest(const std::stop_token& token,
                  const base::testing::Where& where = base::testing::Where::current()) {
  base::testing::AwaitStop(token, where);
}

TEST(Membership, TakesEverythingAloneAndSharesWithAnother) {
  FakeClock clock;
  FakeStore store;
  Membership membership({.identity = "me", .shards = 2, .clock = clock}, store);
  membership.Start();
  const auto first = membership.AwaitAssigned(0, {});
  const auto second = membership.AwaitAssigned(1, {});
  ASSERT_TRUE(first && second);
  store.Put("another");  // sorts before "me": takes shard 0
  AwaitRequest(*first);
  EXPECT_FALSE(second->stop_requested());
  store.Remove("another", {}).value();
  store.Put("you");  // sorts after: takes shard 1
  AwaitRequest(*second);
  EXPECT_TRUE(membership.AwaitAssigned(0, {}));
  membership.Stop();
  EXPECT_FALSE(store.Has("me"));
}

TEST(Membership, TakesOverFromOneThatIsSilent) {
  FakeClock clock;
  FakeStore store;
  store.Put("another");
  Membership membership({.identity = "me", .shards = 1, .clock = clock}, store);
  membership.Start();
  for (int i = 0; i < 8; ++i) {
    clock.AdvanceToSleeper(seconds(2));
  }
  EXPECT_TRUE(membership.AwaitAssigned(0, {}));
}

TEST(Membership, SaysWhyNoShardIsTakenWhereReplicasMayNotBeListed) {
  const logging::testing::Capture capture;
  FakeClock clock;
  FakeStore store;
  store.Refuse(true);
  Membership membership({.identity = "me", .shards = 1, .clock = clock}, store);
  membership.Start();
  clock.AdvanceToSleeper(seconds(2));
  EXPECT_EQ(membership.Problem(), std::nullopt) << "roles may just be being replaced";
  for (int i = 0; i < 5; ++i) {
    clock.AdvanceToSleeper(seconds(2));
  }
  ASSERT_TRUE(membership.Problem());
  EXPECT_THAT(*membership.Problem(), HasSubstr("cannot list resource"));
  EXPECT_EQ(capture.Count("Cannot list the replicas"), 1U) << "once, not each time";
  store.Refuse(false);
  clock.AdvanceToSleeper(seconds(2));
  EXPECT_TRUE(membership.AwaitAssigned(0, {}));
  EXPECT_EQ(membership.Problem(), std::nullopt);
}

TEST(Membership, WaitingEndsWithTheStop) {
  FakeClock clock;
  FakeStore store;
  store.Put("another");
  Membership membership({.identity = "me", .shards = 1, .clock = clock}, store);
  membership.Start();
  std::stop_source stop;
  std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_FALSE(membership.AwaitAssigned(0, stop.get_token()));
}

}  // namespace
}  // namespace kubexx::reloader
