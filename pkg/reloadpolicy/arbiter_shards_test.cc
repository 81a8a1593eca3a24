// Tests the limit of the cluster when each replica has an arbiter of its own, and learns of the
// rollouts of the others only by its watch.
#include <gmock/gmock.h>

#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "kubexx/reloadpolicy/arbiter.h"
#include "kubexx/reloadpolicy/testing/arbiter_fixture.h"

namespace kubexx::reloadpolicy {
namespace {

constexpr int kReplicas = 3;
constexpr int kLimit = 2;

/// One arbiter for each replica, which has a namespace of its own with five workloads.
class ShardedLimit : public ::testing::Test {
 protected:
  ShardedLimit() {
    for (Arbiter& arbiter : arbiters_) {
      arbiter.SetPolicy({.id = {"", "platform"}, .settings = {.max_in_cluster = kLimit}});
    }
  }
  static ObjectRef App(int replica, int app) {
    return {"Deployment", {"team-" + std::to_string(replica), "app-" + std::to_string(app)}};
  }
  /// Each replica begins all rollouts that it may begin.
  void BeginAll() {
    for (int replica = 0; replica < kReplicas; ++replica) {
      for (int app = 0; app < 5; ++app) {
        const ObjectRef workload = App(replica, app);
        if (begun_.contains(workload)) {
          continue;
        }
        Arbiter& arbiter = arbiters_.at(static_cast<std::size_t>(replica));
        const Decision decision = arbiter.Begin({workload, {}, {}, "u", Phase::kComplete}, now_);
        if (!decision.hold) {
          begun_.insert(workload);
          written_[workload] = testing::Written(decision.started, decision.record);
        }
      }
    }
  }
  /// The watches of all replicas bring the present annotations of the workloads.
  void WatchesCatchUp(Phase phase) {
    for (Arbiter& arbiter : arbiters_) {
      for (const auto& [workload, annotations] : written_) {
        arbiter.Observe(workload, {"u", annotations, phase, ""}, now_);
      }
      arbiter.Sweep(now_);
    }
  }

  std::array<Arbiter, kReplicas> arbiters_;
  base::WallTime now_ = testing::kBegin;
  std::set<ObjectRef> begun_;
  std::map<ObjectRef, Annotations> written_;
};

TEST_F(ShardedLimit, IsExceededByWhatReplicasBeginAtTheSameMomentAndByNoMore) {
  BeginAll();
  BeginAll();
  EXPECT_EQ(begun_.size(), static_cast<std::size_t>(kReplicas * kLimit))
      << "nobody has seen the others' rollouts";
  WatchesCatchUp(Phase::kUpdating);
  BeginAll();
  EXPECT_EQ(begun_.size(), static_cast<std::size_t>(kReplicas * kLimit));
}

TEST_F(ShardedLimit, IsExactWhereTheWatchesKeepUp) {
  for (int replica = 0; replica < kReplicas; ++replica) {
    for (int app = 0; app < 5; ++app) {
      const ObjectRef workload = App(replica, app);
      Arbiter& arbiter = arbiters_.at(static_cast<std::size_t>(replica));
      const Decision decision = arbiter.Begin({workload, {}, {}, "u", Phase::kComplete}, now_);
      if (!decision.hold) {
        begun_.insert(workload);
        written_[workload] = testing::Written(decision.started, decision.record);
        WatchesCatchUp(Phase::kUpdating);
      }
    }
  }
  EXPECT_EQ(begun_.size(), static_cast<std::size_t>(kLimit));
  WatchesCatchUp(Phase::kComplete);
  const std::size_t before = begun_.size();
  BeginAll();
  EXPECT_GT(begun_.size(), before) << "places are free again";
}

}  // namespace
}  // namespace kubexx::reloadpolicy
