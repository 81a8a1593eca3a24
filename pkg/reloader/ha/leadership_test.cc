#include "kubexx/reloader/ha/leadership.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "kubexx/api/coordination/v1/types.gen.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/leaderelection/testing/fake_lock.h"

namespace kubexx::reloader {
namespace {

using api::coordination::v1::Lease;
using leaderelection::testing::FakeLock;

/// The shards in the order in which they were acquired. Thread-safe.
class Acquired {
 public:
  void Add(int shard) {
    const base::MutexLock lock(mu_);
    shards_.push_back(shard);
    changed_.notify_all();
  }
  void Await(std::size_t n, const base::testing::Where& where = base::testing::Where::current()) {
    const base::MutexLock lock(mu_);
    base::testing::Patience patience(base::testing::Shown(n) + " shards", where);
    while (shards_.size() < n) {
      patience.Wait(changed_, mu_, shards_);
    }
  }

 private:
  base::Mutex mu_;
  base::CondVar changed_;
  std::vector<int> shards_ KX_GUARDED_BY(mu_);
};

Leadership::Options Options(const std::string& identity, std::shared_ptr<FakeLock> lock,
                            Acquired& acquired, base::Clock& clock) {
  leaderelection::Config election;
  election.identity = identity;
  election.seed = 3;
  Leadership::Options options{.election = election,
                              .lock = [lock](int) { return lock; },
                              .on_acquired = [&acquired](int shard) { acquired.Add(shard); },
                              .clock = clock};
  return options;
}

TEST(Leadership, OneShardHasTheOriginalsLease) {
  EXPECT_EQ(LeaseNameOf(0, 1), "stakater-reloader-lock");
  EXPECT_EQ(LeaseNameOf(3, 8), "stakater-reloader-lock-3");
}

TEST(Leadership, OpensTheShardWhileItLeadsAndHandsOverWhenItStops) {
  base::testing::FakeClock clock;
  const auto lock = std::make_shared<FakeLock>();
  HeldShards first_held(1, clock);
  HeldShards second_held(1, clock);
  Acquired first_acquired;
  Acquired second_acquired;
  Leadership first(Options("first", lock, first_acquired, clock), first_held, nullptr);
  ASSERT_TRUE(first.Start());
  first_acquired.Await(1);
  EXPECT_TRUE(first_held.Enter("ns"));
  metrics::Registry registry;
  Leadership::Options options = Options("second", lock, second_acquired, clock);
  options.registry = &registry;
  Leadership second(std::move(options), second_held, nullptr);
  ASSERT_TRUE(second.Start());
  EXPECT_FALSE(second_held.Enter("ns"));
  const std::string held = "kubexx_reloader_shard_held{shard=\"0\"} ";
  EXPECT_TRUE(registry.Serialize().contains(held + "0\n")) << "of a standby, too";
  first.Stop();
  EXPECT_FALSE(first_held.Enter("ns"));
  second_acquired.Await(1);  // no time passes until then
  EXPECT_TRUE(second_held.Enter("ns"));
  EXPECT_TRUE(registry.Serialize().contains(held + "1\n"));
  EXPECT_TRUE(first.Check() && second.Check());
}

TEST(Leadership, CampaignsAgainAfterALoss) {
  base::testing::FakeClock clock;
  const auto lock = std::make_shared<FakeLock>();
  HeldShards held(1, clock);
  Acquired acquired;
  Leadership leadership(Options("me", lock, acquired, clock), held, nullptr);
  ASSERT_TRUE(leadership.Start());
  acquired.Await(1);
  Lease taken = *lock->Stored();
  taken.spec.holder_identity = "usurper";
  lock->Put(taken);
  // The next renewal finds out.
  KX_UNTIL(!held.IsOpen(0)) {
    clock.Advance(std::chrono::milliseconds(100));
  }
  Lease released = *lock->Stored();
  released.spec.holder_identity = "";
  lock->Put(released);
  // It leads again, at least until the clock has moved further than a renewal takes.
  KX_UNTIL(held.Enter("ns")) {
    clock.Advance(std::chrono::milliseconds(100));
  }
}

}  // namespace
}  // namespace kubexx::reloader
