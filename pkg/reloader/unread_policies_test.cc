// Policies that may not be read: a gate that does not know them all.
#include <gmock/gmock.h>

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/time.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/reloader/caches.h"
#include "kubexx/reloader/policies.h"
#include "kubexx/reloader/policy_gate.h"

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

TEST(GateWithUnreadPolicies, HoldWhatTheyMayHoldBackUntilTheyAreKnown) {
  base::testing::FakeClock clock;
  DecisionRules rules;
  Caches caches({}, rules);
  std::vector<PolicyNotice> notices;
  std::vector<base::Duration> wakes;
  std::optional<std::string> unread = "ReloadPolicies may not be read";
  PolicyGate gate({.clock = clock,
                   .notify = [&](const PolicyNotice& notice) { notices.push_back(notice); },
                   .unread =
                       [&](const std::string& namespace_) {
                         return namespace_ == "shop" ? unread : std::nullopt;
                       }});
  const auto attached =
      gate.Attach({.caches = caches,
                   .wake = [&](const WorkloadId&, base::Duration after) { wakes.push_back(after); },
                   .needs_rollout = [](const Workload&, const SourceId&) { return false; }});
  AnnotationEdits written;
  const auto admit = [&](const Workload& workload) {
    std::vector<Change> changes = OneUnreadChange();
    const bool may = gate.Admit(workload, changes, written);
    EXPECT_THAT(changes, SizeIs(1)) << "it is due in any case";
    return may;
  };
  EXPECT_FALSE(admit(UnreadWeb("shop")));
  ASSERT_THAT(notices, SizeIs(1));
  EXPECT_EQ(notices[0].reason, "ReloadPending");
  EXPECT_TRUE(notices[0].warning);
  EXPECT_FALSE(LogsAsWarning(notices[0])) << "one line warns of all of them";
  EXPECT_EQ(notices[0].message, "PoliciesUnread: ReloadPolicies may not be read");
  EXPECT_EQ(gate.TotalsNow().held.at(reloadpolicy::HoldReason::kPoliciesUnread), 1);
  EXPECT_TRUE(admit(UnreadWeb("other")));

  unread.reset();
  wakes.clear();
  gate.AskTheUnread();
  EXPECT_THAT(wakes, ElementsAre(1s)) << "by then the gate has been told what there is";
  EXPECT_TRUE(admit(UnreadWeb("shop")));
  wakes.clear();
  gate.AskTheUnread();
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

TEST(GateWithUnreadPolicies, ARolloutThatSoaksIsNotOverBeforeTheFirstPoliciesAreThere) {
  base::testing::FakeClock clock;
  DecisionRules rules;
  Caches caches({}, rules);
  PolicyGate gate(
      {.clock = clock, .wait_for_policies = [](const std::stop_token&) { return true; }});
  const auto attached = gate.Attach(
      {.caches = caches, .wake = [](const WorkloadId&, base::Duration) {}, .needs_rollout = {}});
  const Workload healthy = RolledWeb(clock, reloadpolicy::Phase::kComplete);
  gate.OnWorkload(healthy.id, &healthy);
  EXPECT_THAT(gate.Marks(healthy), IsEmpty());
  gate.SetPolicy({.id = {"shop", "p"}, .settings = {.soak_time = 1min, .stop_after_failures = 1}});
  gate.OnSynced();
  EXPECT_EQ(gate.TotalsNow().active, 1);
  const Workload crashed = RolledWeb(clock, reloadpolicy::Phase::kFailed);
  gate.OnWorkload(crashed.id, &crashed);
  EXPECT_EQ(gate.TotalsNow().failed, 1);
}

TEST(GateWithUnreadPolicies, ARolloutNeitherEndsNorFailsUntilTheyAreKnown) {
  base::testing::FakeClock clock;
  DecisionRules rules;
  Caches caches({}, rules);
  std::optional<std::string> unread = "ReloadPolicies may not be read";
  std::vector<base::Duration> wakes;
  PolicyGate gate({.clock = clock, .unread = [&](const std::string&) { return unread; }});
  const auto attached =
      gate.Attach({.caches = caches,
                   .wake = [&](const WorkloadId&, base::Duration after) { wakes.push_back(after); },
                   .needs_rollout = {}});
  gate.OnSynced();
  const Workload slow = RolledWeb(clock, reloadpolicy::Phase::kUpdating);
  gate.OnWorkload(slow.id, &slow);
  clock.Advance(20min);
  EXPECT_THAT(gate.Marks(slow), IsEmpty());
  EXPECT_EQ(gate.TotalsNow().failed, 0) << "a policy may give it an hour";
  Workload healthy = slow;
  healthy.phase = reloadpolicy::Phase::kComplete;
  gate.OnWorkload(healthy.id, &healthy);
  EXPECT_THAT(gate.Marks(healthy), IsEmpty());
  wakes.clear();
  gate.AskTheUnread();
  EXPECT_THAT(wakes, ElementsAre(1s));
  unread.reset();
  EXPECT_THAT(gate.Marks(healthy), SizeIs(1)) << "no policy asks for more";
  EXPECT_EQ(gate.TotalsNow().active, 0);
}

}  // namespace
}  // namespace kubexx::reloader
