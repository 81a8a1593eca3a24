#include "kubexx/reloader/ha/membership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/logging/testing/capture.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Result;
using base::testing::FakeClock;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Optional;

/// Keeps members in memory, and renews only "me". Thread-safe.
class FakeStore final : public MemberStore {
 public:
  explicit FakeStore(int own_shards = 0) : own_shards_(own_shards) {}
  Result<void> Renew(std::stop_token, base::Duration) override {
    {
      const base::MutexLock lock(mu_);
      if (is_away_) {
        return Away();
      }
    }
    std::function<void()> delay;
    {
      const base::MutexLock lock(mu_);
      delay = std::exchange(delay_, nullptr);
    }
    if (delay) {
      delay();
    }
    Put("me", own_shards_);
    return {};
  }
  /// The next renewal takes as long as `delay`.
  void DelayRenewal(std::function<void()> delay) {
    const base::MutexLock lock(mu_);
    delay_ = std::move(delay);
  }
  Result<std::vector<Member>> List(std::stop_token stop, base::Duration limit) override {
    const base::MutexLock lock(mu_);
    if (FakeClock* const clock = hanging_) {
      const base::TimePoint end = clock->Now() + limit;
      while (hanging_ != nullptr && !stop.stop_requested() && clock->Now() < end) {
        (void)clock->WaitUntil(mu_, changed_, stop, end);
      }
      return Away();
    }
    if (is_away_) {
      return Away();
    }
    if (is_refused_) {
      return apimachinery::Fail(apimachinery::Reason::kForbidden,
                                R"(leases is forbidden: User "me" cannot list resource "leases")");
    }
    std::vector<Member> members;
    for (const auto& [name, member] : members_) {
      members.push_back(member);
    }
    ++looks_;
    changed_.notify_all();
    return members;
  }
  Result<std::optional<Member>> Leader(std::stop_token, base::Duration) override {
    const base::MutexLock lock(mu_);
    return leader_;
  }
  Result<void> Remove(const std::string& name, std::stop_token, base::Duration) override {
    const base::MutexLock lock(mu_);
    if (is_away_) {
      return Away();
    }
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

  void Put(const std::string& name, int shards = 0) {
    const base::MutexLock lock(mu_);
    const auto [at, is_new] = members_.try_emplace(name);
    Member& member = at->second;
    if (is_new) {
      ++events_;
      member = {.name = name, .created = ++creations_};
    }
    member.shards = shards;
    member.version = std::to_string(++versions_);
    changed_.notify_all();
  }
  void Lead(const std::string& name) {
    const base::MutexLock lock(mu_);
    leader_ = name.empty()
                  ? std::nullopt
                  : std::optional(
                        Member{.name = name, .version = std::to_string(++versions_), .shards = 1});
  }
  /// Waits for two lists that begin from now on. By then, the result of the first of them has had
  /// its effect.
  void AwaitLooks(base::testing::FakeClock& clock) {
    for (int i = 0; i < 2; ++i) {
      const int before = looks();
      base::testing::Patience patience("a list of the members");
      clock.AdvanceToSleeper(std::chrono::seconds(2));
      while (looks() == before) {
        patience.Pause();
      }
    }
  }
  int looks() const {
    const base::MutexLock lock(mu_);
    return looks_;
  }
  void Refuse(bool is_refused) {
    const base::MutexLock lock(mu_);
    is_refused_ = is_refused;
  }
  /// Lets lists hang until their time is over; null: they end at once again.
  void Hang(FakeClock* clock) {
    const base::MutexLock lock(mu_);
    hanging_ = clock;
    changed_.notify_all();
  }
  /// Makes the API server unreachable, or reachable again.
  void GoAway(bool is_away) {
    const base::MutexLock lock(mu_);
    is_away_ = is_away;
  }
  std::int64_t CreationOf(const std::string& name) {
    const base::MutexLock lock(mu_);
    const auto found = members_.find(name);
    return found == members_.end() ? 0 : found->second.created;
  }
  bool Has(const std::string& name) {
    const base::MutexLock lock(mu_);
    return members_.contains(name);
  }

 private:
  static apimachinery::Error Away() {
    return apimachinery::Fail(apimachinery::Reason::kUnavailable, "the API server is away");
  }

  const int own_shards_;
  mutable base::Mutex mu_;
  bool is_away_ KX_GUARDED_BY(mu_) = false;
  FakeClock* hanging_ KX_GUARDED_BY(mu_) = nullptr;
  base::CondVar changed_;
  bool is_refused_ KX_GUARDED_BY(mu_) = false;
  std::function<void()> delay_ KX_GUARDED_BY(mu_);
  int events_ KX_GUARDED_BY(mu_) = 0;
  int versions_ KX_GUARDED_BY(mu_) = 0;
  int creations_ KX_GUARDED_BY(mu_) = 0;
  int looks_ KX_GUARDED_BY(mu_) = 0;
  std::map<std::string, Member> members_ KX_GUARDED_BY(mu_);
  std::optional<Member> leader_ KX_GUARDED_BY(mu_);
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
  store.Put("another");  // it sorts before "me", so it takes shard 0
  AwaitRequest(*first);
  EXPECT_FALSE(second->stop_requested());
  store.Remove("another", {}, {}).value();
  store.Put("you");  // it sorts after "me", so it takes shard 1
  AwaitRequest(*second);
  EXPECT_TRUE(membership.AwaitAssigned(0, {}));
  membership.Stop();
  EXPECT_FALSE(store.Has("me"));
}

TEST(Membership, TakesOverFromOneThatIsSilent) {
  FakeClock clock;
  FakeStore store;
  store.Put("another");
  Membership membership({.identity = "me", .shards = 2, .clock = clock}, store);
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
  Membership membership({.identity = "me", .shards = 2, .clock = clock}, store);
  membership.Start();
  clock.AdvanceToSleeper(seconds(2));
  EXPECT_EQ(membership.Problem(), std::nullopt) << "roles may just be being replaced";
  for (int i = 0; i < 5; ++i) {
    clock.AdvanceToSleeper(seconds(2));
  }
  ASSERT_TRUE(membership.Problem());
  EXPECT_THAT(*membership.Problem(), HasSubstr("cannot list resource"));
  EXPECT_EQ(capture.Count("Cannot list the Leases of the replicas"), 1U) << "once, not each time";
  store.Refuse(false);
  clock.AdvanceToSleeper(seconds(2));
  EXPECT_TRUE(membership.AwaitAssigned(0, {}));
  EXPECT_EQ(membership.Problem(), std::nullopt);
}

// Two numbers of shards divide the namespaces differently: some would belong to no replica, and
// others to two.
TEST(Membership, WaitsForThoseWithAnotherNumberOfShards) {
  const logging::testing::Capture capture;
  FakeClock clock;
  FakeStore store(4);
  store.Put("old", 8);
  metrics::Registry registry;
  const auto waits = [&] { return registry.Gauge("kubexx_reloader_replica_waits", "").Value(); };
  Membership membership({.identity = "me", .shards = 4, .clock = clock, .registry = &registry},
                        store);
  EXPECT_THAT(registry.Serialize(), HasSubstr("\nkubexx_reloader_replica_waits 0\n"));
  membership.Start();
  for (int i = 0; i < 10; ++i) {
    store.Put("old", 8);
    store.AwaitLooks(clock);
  }
  EXPECT_THAT(membership.Waiting(),
              Optional(HasSubstr("this replica divides the namespaces into 4 shards, and waits "
                                 "until the replica old, which divides the namespaces into 8")));
  EXPECT_EQ(capture.Count("This replica waits"), 1U) << "once, not each time";
  EXPECT_EQ(waits(), 1);
  EXPECT_FALSE(store.Has("me")) << "the others would leave shards to it";
  EXPECT_EQ(membership.Problem(), std::nullopt) << "or the old ones would never be replaced";
  store.Remove("old", {}, {}).value();
  clock.AdvanceToSleeper(seconds(2));
  EXPECT_TRUE(membership.Waiting()) << "its writes may not have ended";
  for (int i = 0; i < 4; ++i) {
    clock.AdvanceToSleeper(seconds(2));
  }
  EXPECT_TRUE(membership.AwaitAssigned(3, {}));
  EXPECT_EQ(membership.Waiting(), std::nullopt);
  EXPECT_EQ(waits(), 0);
}

TEST(Membership, GoesOnBesideYoungerOnesWithAnotherNumber) {
  FakeClock clock;
  FakeStore store(2);
  Membership membership({.identity = "me", .shards = 2, .clock = clock}, store);
  membership.Start();
  const auto first = membership.AwaitAssigned(0, {});
  store.Put("another", 4);
  store.AwaitLooks(clock);
  EXPECT_FALSE(first->stop_requested()) << "no shard is left to one that waits";
  EXPECT_TRUE(membership.AwaitAssigned(1, {}));
  EXPECT_EQ(membership.Waiting(), std::nullopt);
}

TEST(Membership, GivesWayToWhoWorksOnAllNamespaces) {
  FakeClock clock;
  FakeStore store(2);
  Membership membership({.identity = "me", .shards = 2, .clock = clock}, store);
  membership.Start();
  const auto first = membership.AwaitAssigned(0, {});
  store.Lead("leader");
  store.AwaitLooks(clock);
  AwaitRequest(*first);
  EXPECT_FALSE(store.Has("me"));
  EXPECT_THAT(membership.Waiting(), Optional(HasSubstr("the replica leader, which works on all")));
  store.Lead("");
  for (int i = 0; i < 4; ++i) {
    clock.AdvanceToSleeper(seconds(2));
  }
  EXPECT_TRUE(membership.AwaitAssigned(0, {}));
}

TEST(Membership, OneThatWorksOnAllNamespacesWaitsForThoseWithShards) {
  FakeClock clock;
  FakeStore store;
  store.Put("old", 8);
  Membership membership({.identity = "me", .shards = 1, .clock = clock}, store);
  membership.Start();
  store.Put("old", 8);
  store.AwaitLooks(clock);
  EXPECT_THAT(membership.Waiting(), Optional(HasSubstr("this replica works on all namespaces")));
  store.Remove("old", {}, {}).value();
  for (int i = 0; i < 4; ++i) {
    clock.AdvanceToSleeper(seconds(2));
  }
  EXPECT_TRUE(membership.AwaitAssigned(0, {}));
  EXPECT_FALSE(store.Has("me")) << "the Lease tells that it is there";
}

// While the server cannot be reached, a missing sign of life does not count as silence.
TEST(Membership, WaitsOnAfterAnOutageOfTheServer) {
  FakeClock clock;
  FakeStore store(4);
  store.Put("old", 8);
  Membership membership({.identity = "me", .shards = 4, .clock = clock}, store);
  membership.Start();
  store.AwaitLooks(clock);
  store.GoAway(true);
  for (int i = 0; i < 30; ++i) {
    clock.AdvanceToSleeper(seconds(2));
  }
  store.GoAway(false);
  store.AwaitLooks(clock);  // before the other member gives another sign of life
  EXPECT_TRUE(membership.Waiting());
  EXPECT_FALSE(store.Has("me"));
  for (int i = 0; i < 3; ++i) {
    store.Put("old", 8);
    store.AwaitLooks(clock);
  }
  EXPECT_TRUE(membership.Waiting());
  store.Remove("old", {}, {}).value();
  for (int i = 0; i < 4; ++i) {
    clock.AdvanceToSleeper(seconds(2));
  }
  EXPECT_TRUE(membership.AwaitAssigned(0, {}));
}

TEST(Membership, OneThatCouldGiveNoSignOfLifeBeginsAnewAsTheYoungest) {
  const logging::testing::Capture capture;
  FakeClock clock;
  FakeStore store(2);
  Membership membership({.identity = "me", .shards = 2, .clock = clock}, store);
  membership.Start();
  const auto first = membership.AwaitAssigned(0, {});
  store.GoAway(true);
  for (int i = 0; i < 9; ++i) {
    clock.AdvanceToSleeper(seconds(2));
  }
  AwaitRequest(*first);
  EXPECT_EQ(capture.Count("gives up these shards and joins the replicas again"), 1U);
  store.GoAway(false);
  store.Put("another", 4);  // it has worked meanwhile
  const std::int64_t creation = store.CreationOf("another");
  for (int i = 0; i < 5; ++i) {
    store.Put("another", 4);
    store.AwaitLooks(clock);
  }
  EXPECT_TRUE(membership.Waiting());
  EXPECT_FALSE(store.Has("me")) << "what it left would make it the elder";
  store.Remove("another", {}, {}).value();
  for (int i = 0; i < 4; ++i) {
    clock.AdvanceToSleeper(seconds(2));
  }
  EXPECT_TRUE(membership.AwaitAssigned(0, {}));
  EXPECT_GT(store.CreationOf("me"), creation);
}

// The API server has accepted the renewal, but only after the other replicas regarded this one as
// dead. By then, replicas with another number of shards may work.
TEST(Membership, OneWhoseSignOfLifeTakesTooLongBeginsAnewAsTheYoungest) {
  FakeClock clock;
  FakeStore store(2);
  Membership membership({.identity = "me", .shards = 2, .clock = clock}, store);
  membership.Start();
  const auto first = membership.AwaitAssigned(0, {});
  store.AwaitLooks(clock);
  const std::int64_t creation = store.CreationOf("me");
  store.DelayRenewal([&] { clock.Advance(seconds(16)); });
  clock.AdvanceToSleeper(seconds(2));
  AwaitRequest(*first);
  for (int i = 0; i < 5; ++i) {
    store.AwaitLooks(clock);
  }
  EXPECT_TRUE(membership.AwaitAssigned(0, {}));
  EXPECT_GT(store.CreationOf("me"), creation);
}

// One half-open connection made the whole replica begin anew.
TEST(Membership, OneWhoseListHangsGoesOnToGiveSignsOfLife) {
  const logging::testing::Capture capture;
  FakeClock clock;
  FakeStore store(2);
  Membership membership({.identity = "me", .shards = 2, .clock = clock}, store);
  membership.Start();
  const auto first = membership.AwaitAssigned(0, {});
  store.AwaitLooks(clock);
  const std::int64_t creation = store.CreationOf("me");
  store.Hang(&clock);
  for (int i = 0; i < 60; ++i) {
    clock.AdvanceToSleeper(seconds(1));
  }
  EXPECT_FALSE(first->stop_requested());
  store.Hang(nullptr);
  store.AwaitLooks(clock);
  EXPECT_FALSE(first->stop_requested());
  EXPECT_EQ(store.CreationOf("me"), creation);
  EXPECT_EQ(capture.Count("gives up these shards"), 0U);
}

TEST(Membership, OneThatWorksOnAllNamespacesLooksAgainAfterAnError) {
  FakeClock clock;
  FakeStore store;
  store.Put("old", 8);
  store.GoAway(true);
  Membership membership({.identity = "me", .shards = 1, .clock = clock}, store);
  membership.Start();
  clock.AdvanceToSleeper(seconds(2));
  store.GoAway(false);
  store.AwaitLooks(clock);
  EXPECT_TRUE(membership.Waiting());
}

TEST(Membership, OneThatWorksOnAllNamespacesNeedsNoRightToListReplicas) {
  const logging::testing::Capture capture;
  FakeClock clock;
  FakeStore store;
  store.Refuse(true);
  Membership membership({.identity = "me", .shards = 1, .clock = clock}, store);
  membership.Start();
  EXPECT_TRUE(membership.AwaitAssigned(0, {}));
  EXPECT_EQ(membership.Problem(), std::nullopt);
  EXPECT_EQ(capture.Count("level=warning"), 0U);
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
