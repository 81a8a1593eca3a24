// Tests that the work of an event on the informers' threads, which serve all namespaces, is
// bounded, whatever the expressions of one team are. The tests count steps, because the time
// depends on the machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/cache/testing/auto_clock.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/reloader/model/projection.h"
#include "kubexx/reloader/plan/pair_memory.h"
#include "kubexx/reloader/testing/new_informer.h"
#include "kubexx/reloader/watch/event_router.h"

namespace kubexx::reloader {
namespace {

using testing::Contains;

constexpr int kUsers = 300;
// The cost of a match grows with the name, so this name is as long as a name may be.
const std::string kLongName(253, 'a');

/// Returns a list with as many heavy expressions as are accepted. It matches no name.
std::string HeavyList(int number) {
  std::string list;
  for (int i = 0; i < 63; ++i) {
    list += "(.?){20}(.?){9}[^a]" + std::to_string(i) + ",";
  }
  return list + "none-" + std::to_string(number);
}

/// Returns a list that is short enough to be compiled while an event is handled. It matches no
/// name.
std::string ShortList(int number) {
  std::string list;
  for (int i = 0; i < 60; ++i) {
    list += "b" + std::to_string(i) + ".*,";
  }
  return list + "none-" + std::to_string(number);
}

/// One team with many workloads, each with a list of its own.
class EventRouterBudgetTest : public testing::Test {
 protected:
  ~EventRouterBudgetTest() override { caches_->Stop(); }

  template <class List>
  void Begin(List list) {
    for (int i = 0; i < kUsers; ++i) {
      const std::string name = "user-" + std::to_string(i);
      deployments_->PutObject(
          {.encoding = codec::Encoding::kJson,
           .bytes = R"({"metadata":{"namespace":"team","name":")" + name + R"(","uid":"u",)" +
                    R"("annotations":{"configmap.reloader.stakater.com/reload":")" + list(i) +
                    R"("}},"spec":{"template":{"spec":{"containers":[{"name":"app"}]}}}})",
           .key = {"team", name}});
    }
    InformerSet set;
    set.workloads[WorkloadKind::kDeployment] = NewTestInformer(
        deployments_,
        cache::InformerOptions{.clock = informer_clock_,
                               .transform = TransformFor(WorkloadKind::kDeployment, {})});
    caches_ = std::make_unique<Caches>(std::vector{set}, rules_);
    router_ = std::make_unique<EventRouter>(EventRouter::Parts{
        .caches = *caches_,
        .memory = memory_,
        .told = told_,
        .patterns = patterns_,
        .rules = rules_,
        .ignored_namespaces = ignored_,
        .metrics = metrics_,
        .on_demand = on_demand_,
        .note = [this](const WorkloadId& id, Cause) { noted_.insert(id.key.name); }});
    caches_->Start();
    ASSERT_TRUE(caches_->WaitForWorkloads({}));
  }
  /// Changes a source of the team. Returns the number of workloads that are left to the workers.
  std::size_t Change(const std::string& name) {
    noted_.clear();
    router_->OnListed({SourceType::kConfigMap, {"team", name}}, DigestOf("before"));
    return noted_.size();
  }

  const std::shared_ptr<cache::testing::FakeSource> deployments_ =
      std::make_shared<cache::testing::FakeSource>();
  base::testing::FakeClock clock_;
  cache::testing::AutoClock informer_clock_;  // backoff delays pass at once
  const DecisionRules rules_{.reload_on_delete = true};
  PatternCache patterns_;
  PairMemory memory_;
  ToldTemplates told_;
  const std::set<std::string> ignored_;
  const ReloaderMetrics metrics_{nullptr};
  OnDemandLists on_demand_{{}, clock_, [](const SourceId&, const std::optional<Digest>&) {}};
  std::set<std::string> noted_;
  std::unique_ptr<Caches> caches_;
  std::unique_ptr<EventRouter> router_;
};

TEST_F(EventRouterBudgetTest, HeavyListsAreLeftToTheWorkers) {
  Begin(HeavyList);
  EXPECT_EQ(Change(kLongName), static_cast<std::size_t>(kUsers));
  EXPECT_EQ(patterns_.compiled(), 0U) << "none of them is compiled here";
}

TEST_F(EventRouterBudgetTest, FewHeavyListsAreMatchedAlsoWhenTheyAreCompiled) {
  Begin([](int i) { return HeavyList(i % 20); });
  std::size_t steps = 0;
  for (int i = 0; i < 20; ++i) {
    steps = patterns_.Get(HeavyList(i))->StepsFor(kLongName);
  }
  ASSERT_GT(steps, 200'000U) << "they are to be heavy";
  const std::size_t matched = kUsers - Change(kLongName);
  EXPECT_GT(matched, 0U);
  EXPECT_LE(matched, 10U);
  EXPECT_EQ(patterns_.compiled(), 20U) << "and none is compiled again";
  // Matches that cost little are decided while the event is handled.
  EXPECT_GT(kUsers - Change("a"), 100U);
}

TEST_F(EventRouterBudgetTest, FewShortListsAreCompiledForAnEvent) {
  Begin(ShortList);
  ASSERT_TRUE(IsQuicklyCompiled(ShortList(kUsers)));
  for (int event = 1; event <= 3; ++event) {
    const std::size_t before = patterns_.compiled();
    const std::size_t left = Change("other");
    EXPECT_LE(patterns_.compiled() - before, 30U);
    EXPECT_GE(left, kUsers - 90U);
  }
  EXPECT_GT(patterns_.compiled(), 0U) << "some are: most clusters have few";
}

TEST_F(EventRouterBudgetTest, WhoIsLeftToTheWorkersIncludesWhoeverTheListNames) {
  Begin([](int i) { return HeavyList(i); });
  Change("none-7");
  EXPECT_THAT(noted_, Contains("user-7"));
}

}  // namespace
}  // namespace kubexx::reloader
