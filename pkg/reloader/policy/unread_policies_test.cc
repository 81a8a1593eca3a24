// Tests an enforcer that may not read some policies and so does not know all of them.
#include <gmock/gmock.h>

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/time.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/reloader/policy/policies.h"
#include "kubexx/reloader/policy/policy_enforcer.h"
#include "kubexx/reloader/watch/caches.h"

namespace kubexx::reloader {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Workload UnreadWeb(const std::string& namespace_) {
  return {.id = {WorkloadKind::kDeployment, {namespace_, "web"}}, .uid = "uid"};
}

std::vector<Change> OneUnreadChange() {
  Change change;
  change.container = "app";
  change.variable = "STAKATER_CONFIG_CONFIGMAP";
  change.causes.push_back({SourceType::kConfigMap, {"shop", "config"}});
  return {std::move(change)};
}

TEST(EnforcerWithUnreadPolicies, HoldWhatTheyMayHoldBackUntilTheyAreKnown) {
  base::testing::FakeClock clock;
  DecisionRules rules;
  Caches caches({}, rules);
  std::vector<PolicyNotice> notices;
  std::vector<base::Duration> wakes;
  std::optional<std::string> unread = "ReloadPolicies may not be read";
  PolicyEnforcer enforcer({.clock = clock,
                           .notify = [&](const PolicyNotice& notice) { notices.push_back(notice); },
                           .unread =
                               [&](const std::string& namespace_) {
                                 return namespace_ == "shop" ? unread : std::nullopt;
                               }});
  const auto attached = enforcer.Attach(
      {.caches = caches,
       .wake = [&](const WorkloadId&, base::Duration after) { wakes.push_back(after); },
       .needs_rollout = [](const Workload&, const SourceId&) { return false; }});
  AnnotationEdits written;
  const auto admit = [&](const Workload& workload) {
    std::vector<Change> changes = OneUnreadChange();
    const bool may = enforcer.Admit(workload, changes, written);
    EXPECT_THAT(changes, SizeIs(1)) << "it is due in any case";
    return may;
  };
  EXPECT_FALSE(admit(UnreadWeb("shop")));
  ASSERT_THAT(notices, SizeIs(1));
  EXPECT_EQ(notices[0].reason, "ReloadPending");
  EXPECT_TRUE(notices[0].warning);
  EXPECT_FALSE(LogsAsWarning(notices[0])) << "one line warns of all of them";
  EXPECT_EQ(notices[0].message, "PoliciesUnread: ReloadPolicies may not be read");
  EXPECT_EQ(enforcer.TotalsNow().held.at(reloadpolicy::HoldReason::kPoliciesUnread), 1);
  EXPECT_TRUE(admit(UnreadWeb("other")));

  unread.reset();
  wakes.clear();
  enforcer.AskTheUnread();
  EXPECT_THAT(wakes, ElementsAre(1s)) << "by then the enforcer has been told what there is";
  EXPECT_TRUE(admit(UnreadWeb("shop")));
  wakes.clear();
  enforcer.AskTheUnread();
  EXPECT_THAT(wakes, IsEmpty());
}

/// A Deployment whose rollout has begun just before.
Workload RolledWeb(const base::Clock& clock, reloadpolicy::Phase phase) {
  Workload web = UnreadWeb("shop");
  web.annotations[std::string(reloadpolicy::kLastRolloutAnnotation)] =
      apimachinery::Time::From(clock.Wall()).ToString();
  web.annotations[std::string(reloadpolicy::kRolloutStateAnnotation)] =
      reloadpolicy::RecordFor(reloadpolicy::RolloutState::kStarted, web.uid);
  web.phase = phase;
  return web;
}

TEST(EnforcerWithUnreadPolicies, ARolloutThatSoaksIsNotOverBeforeTheFirstPoliciesAreThere) {
  base::testing::FakeClock clock;
  DecisionRules rules;
  Caches caches({}, rules);
  PolicyEnforcer enforcer(
      {.clock = clock, .wait_for_policies = [](const std::stop_token&) { return true; }});
  const auto attached = enforcer.Attach(
      {.caches = caches, .wake = [](const WorkloadId&, base::Duration) {}, .needs_rollout = {}});
  const Workload healthy = RolledWeb(clock, reloadpolicy::Phase::kComplete);
  enforcer.OnWorkload(healthy.id, &healthy);
  EXPECT_THAT(enforcer.Marks(healthy), IsEmpty());
  enforcer.SetPolicy(
      {.id = {"shop", "p"}, .settings = {.soak_time = 1min, .stop_after_failures = 1}});
  enforcer.OnSynced();
  EXPECT_EQ(enforcer.TotalsNow().active, 1);
  const Workload crashed = RolledWeb(clock, reloadpolicy::Phase::kFailed);
  enforcer.OnWorkload(crashed.id, &crashed);
  EXPECT_EQ(enforcer.TotalsNow().failed, 1);
}

TEST(EnforcerWithUnreadPolicies, ARolloutNeitherEndsNorFailsUntilTheyAreKnown) {
  base::testing::FakeClock clock;
  DecisionRules rules;
  Caches caches({}, rules);
  std::optional<std::string> unread = "ReloadPolicies may not be read";
  std::vector<base::Duration> wakes;
  PolicyEnforcer enforcer({.clock = clock, .unread = [&](const std::string&) { return unread; }});
  const auto attached = enforcer.Attach(
      {.caches = caches,
       .wake = [&](const WorkloadId&, base::Duration after) { wakes.push_back(after); },
       .needs_rollout = {}});
  enforcer.OnSynced();
  const Workload slow = RolledWeb(clock, reloadpolicy::Phase::kUpdating);
  enforcer.OnWorkload(slow.id, &slow);
  clock.Advance(20min);
  EXPECT_THAT(enforcer.Marks(slow), IsEmpty());
  EXPECT_EQ(enforcer.TotalsNow().failed, 1) << "for others, but a policy may give it an hour";
  Workload healthy = slow;
  healthy.phase = reloadpolicy::Phase::kComplete;
  enforcer.OnWorkload(healthy.id, &healthy);
  EXPECT_THAT(enforcer.Marks(healthy), IsEmpty());
  wakes.clear();
  enforcer.AskTheUnread();
  EXPECT_THAT(wakes, ElementsAre(1s));
  unread.reset();
  EXPECT_THAT(enforcer.Marks(healthy), SizeIs(1)) << "no policy asks for more";
  EXPECT_EQ(enforcer.TotalsNow().active, 0);
}

/// An enforcer of two namespaces. The policies of "shop" can be unread, and all others are known.
class EnforcerBesideUnreadPolicies : public testing::Test {
 protected:
  void Begin(reloadpolicy::Settings flags, bool is_synced = true) {
    enforcer_.emplace(PolicyEnforcer::Options{
        .flags = std::move(flags),
        .clock = clock_,
        .wait_for_policies = [](const std::stop_token&) { return true; },
        .unread =
            [this](const std::string& name) {
              return name == "shop" && is_unread_ ? std::optional<std::string>("refused")
                                                  : std::nullopt;
            }});
    attached_ = enforcer_->Attach(
        {.caches = caches_, .wake = [](const WorkloadId&, base::Duration) {}, .needs_rollout = {}});
    if (is_synced) {
      enforcer_->OnSynced();
    }
  }
  bool Admit(const std::string& namespace_) {
    std::vector<Change> changes = OneUnreadChange();
    AnnotationEdits written;
    return enforcer_->Admit(UnreadWeb(namespace_), changes, written);
  }
  int Held(reloadpolicy::HoldReason reason) {
    const auto held = enforcer_->TotalsNow().held;
    const auto found = held.find(reason);
    return found == held.end() ? 0 : found->second;
  }
  void Tell(const Workload& workload) { enforcer_->OnWorkload(workload.id, &workload); }

  base::testing::FakeClock clock_;
  DecisionRules rules_;
  Caches caches_{{}, rules_};
  bool is_unread_ = false;
  std::optional<PolicyEnforcer> enforcer_;
  base::Subscription attached_;
};

// The timeout on a workload applies only to itself: it keeps its place for as long as others allow.
TEST_F(EnforcerBesideUnreadPolicies, AShortTimeoutOfAWorkloadsOwnStaysItsOwnWhileTheyAreUnread) {
  for (const bool at_the_start : {true, false}) {
    SCOPED_TRACE(at_the_start ? "a start" : "a refusal");
    is_unread_ = false;
    Begin({.max_in_cluster = 1, .health_timeout = 10min, .stop_after_failures = 1}, !at_the_start);
    Workload hasty = RolledWeb(clock_, reloadpolicy::Phase::kUpdating);
    hasty.annotations["reloader.kubexx.io/health-timeout"] = "5s";
    hasty.annotations[std::string(reloadpolicy::kRolloutStateAnnotation)] =
        reloadpolicy::RecordFor(reloadpolicy::RolloutState::kFailed, hasty.uid);
    Tell(hasty);
    clock_.Advance(10s);
    is_unread_ = !at_the_start;
    enforcer_->AskTheUnread();
    Tell(hasty);
    is_unread_ = false;
    enforcer_->AskTheUnread();
    enforcer_->OnSynced();
    EXPECT_FALSE(Admit("other"));
    EXPECT_EQ(Held(reloadpolicy::HoldReason::kLimit), 1) << "and not stopped";
    clock_.Advance(10min);
    EXPECT_FALSE(Admit("other"));
    EXPECT_EQ(Held(reloadpolicy::HoldReason::kStopped), 1);
  }
}

// The policies that its namespace might have are no reason to hold workloads of others back, or to
// let them go on.
TEST_F(EnforcerBesideUnreadPolicies, OthersGoByWhatIsKnown) {
  is_unread_ = true;
  for (const bool stops : {false, true}) {
    SCOPED_TRACE(stops ? "stops after a failure" : "a limit alone");
    Begin({.max_in_cluster = 1, .health_timeout = 10min});
    if (stops) {
      Begin({.max_in_cluster = 1, .health_timeout = 10min, .stop_after_failures = 1});
    }
    Tell(RolledWeb(clock_, reloadpolicy::Phase::kUpdating));
    enforcer_->AskTheUnread();
    EXPECT_FALSE(Admit("other"));
    EXPECT_EQ(Held(reloadpolicy::HoldReason::kLimit), 1);
    clock_.Advance(11min);
    EXPECT_EQ(Admit("other"), !stops);
    EXPECT_EQ(Held(reloadpolicy::HoldReason::kStopped), stops ? 1 : 0);
    EXPECT_FALSE(Admit("shop"));
    EXPECT_EQ(Held(reloadpolicy::HoldReason::kPoliciesUnread), 1);
  }
}

TEST_F(EnforcerBesideUnreadPolicies, ACompleteRolloutKeepsItsPlaceForOthersAsLongAsIsKnown) {
  is_unread_ = true;
  Begin({.max_in_cluster = 1, .health_gate = true, .soak_time = 30s});
  Workload web = RolledWeb(clock_, reloadpolicy::Phase::kUpdating);
  Tell(web);
  enforcer_->AskTheUnread();
  web.phase = reloadpolicy::Phase::kComplete;
  Tell(web);
  clock_.Advance(29s);
  EXPECT_FALSE(Admit("other"));
  clock_.Advance(1s);
  EXPECT_TRUE(Admit("other"));
}

// The workload was restored from a backup, or is a copy.
TEST_F(EnforcerBesideUnreadPolicies, OldTroubleIsNoFailedRolloutWhateverIsUnreadAtTheStart) {
  for (const bool is_refused : {false, true}) {
    SCOPED_TRACE(is_refused ? "its namespace is refused" : "all are unread for a moment");
    is_unread_ = is_refused;
    Begin({.health_timeout = 10min, .stop_after_failures = 1}, false);
    Workload old = RolledWeb(clock_, reloadpolicy::Phase::kFailed);
    old.annotations.erase(std::string(reloadpolicy::kRolloutStateAnnotation));
    clock_.Advance(1h);
    Tell(old);
    enforcer_->OnSynced();
    enforcer_->AskTheUnread();
    Tell(old);
    EXPECT_THAT(enforcer_->Marks(old), IsEmpty());
    EXPECT_EQ(enforcer_->TotalsNow().failed, 0);
    EXPECT_TRUE(Admit("other"));
    is_unread_ = false;
    enforcer_->AskTheUnread();
    EXPECT_THAT(enforcer_->Marks(old), IsEmpty());
    EXPECT_EQ(enforcer_->TotalsNow().failed, 0);
  }
}

}  // namespace
}  // namespace kubexx::reloader
