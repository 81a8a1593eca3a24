#include "kubexx/reloader/policy/policies.h"

#include <gmock/gmock.h>

#include <chrono>
#include <string>
#include <vector>

#include "kubexx/logging/testing/capture.h"

namespace kubexx::reloader {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct ToldTroubles final : public TroubleObserver {
  void OnTrouble(const RolloutTrouble& trouble) override {
    bad.push_back(trouble.is_bad);
    messages.push_back(trouble.message);
  }
  std::vector<bool> bad;
  std::vector<std::string> messages;
};

// The health gate comes only from flags: nothing is stopped, and no policy could report the
// failure.
TEST(Policies, TellsOfAFailedRolloutOnceWhoeverAsksForIt) {
  ToldTroubles told;
  Policies policies(nullptr, {.flags = {.health_gate = true},
                              .watch = false,
                              // There are no Events, so the server gets no requests.
                              .read_only = true,
                              .troubles = {&told}});
  Workload web{.id = {WorkloadKind::kDeployment, {"shop", "web"}}, .uid = "u"};
  std::vector<Change> changes(1);
  AnnotationEdits written;
  ASSERT_TRUE(policies.gate().Admit(web, changes, written));
  for (const auto& [key, value] : written) {
    web.annotations[key] = value.value_or("");
  }
  web.phase = reloadpolicy::Phase::kUpdating;
  policies.gate().OnWorkload(web.id, &web);
  policies.gate().Marks(web);
  EXPECT_THAT(told.messages, IsEmpty());
  const logging::testing::Capture log;
  web.phase = reloadpolicy::Phase::kFailed;
  policies.gate().OnWorkload(web.id, &web);
  for (int look = 0; look < 3; ++look) {
    for (const auto& [key, value] : policies.gate().Marks(web)) {
      web.annotations[key] = value.value_or("");
    }
    policies.gate().OnWorkload(web.id, &web);
  }
  EXPECT_THAT(told.messages, ElementsAre(HasSubstr("*Deployment/shop/web*: the rollout begun at")));
  EXPECT_THAT(told.bad, ElementsAre(true));
  EXPECT_EQ(log.Count("workload=web kind=Deployment namespace=shop reason=RolloutFailed"), 1U)
      << "the log names it, too";
  EXPECT_EQ(log.Count("level=warning"), 1U) << "where people look for what went wrong";
}

// Alerts told of a rollout where no pod was replaced.
TEST(Policies, CallsAReloadInPlaceThatFailsByItsName) {
  ToldTroubles told;
  Policies policies(
      nullptr,
      {.flags = {.health_gate = true}, .watch = false, .read_only = true, .troubles = {&told}});
  Workload web{.id = {WorkloadKind::kDeployment, {"shop", "web"}}, .uid = "u"};
  std::vector<Change> changes(1);
  AnnotationEdits written;
  ASSERT_TRUE(policies.gate().Admit(web, changes, written));
  for (const auto& [key, value] : written) {
    web.annotations[key] = value.value_or("");
  }
  web.template_version.digest = "same";
  web.annotations[std::string(kReloadingInPlace)] = "u 2026-11-29T00:00:00Z";
  web.phase = reloadpolicy::Phase::kUpdating;
  policies.gate().OnWorkload(web.id, &web);
  web.annotations.erase(std::string(kReloadingInPlace));
  web.phase = reloadpolicy::Phase::kFailed;  // its pods do not bear the new data
  policies.gate().OnWorkload(web.id, &web);
  policies.gate().Marks(web);
  EXPECT_THAT(told.messages, ElementsAre(testing::AllOf(
                                 HasSubstr("a reload in place has failed: *Deployment/shop/web*: "
                                           "the reload in place begun at"),
                                 testing::Not(HasSubstr("rollout")))));
}

TEST(TroubleIn, AWaitIsNone) {
  EXPECT_FALSE(TroubleIn({.warning = true, .reason = "ReloadPending", .message = "Paused: why"}));
}

TEST(TroubleIn, ARestoreIsToldAndWorseWhenThereIsNone) {
  RestoreReport report{.source = {SourceType::kConfigMap, {"shop", "settings"}},
                       .uid = "u",
                       .policy = {"shop", "careful"},
                       .workload = {{"Deployment", {"shop", "web"}}},
                       .reason = "Restored",
                       .message = "why"};
  const auto restored = TroubleIn(report);
  ASSERT_TRUE(restored);
  EXPECT_FALSE(restored->is_bad);
  EXPECT_EQ(restored->message, "data were restored: *ConfigMap/shop/settings*: why");
  EXPECT_EQ(restored->policy, report.policy);
  EXPECT_EQ(restored->workload, (WorkloadId{WorkloadKind::kDeployment, {"shop", "web"}}));
  report.outcome = RestoreReport::Outcome::kHeld;
  const auto held = TroubleIn(report);
  ASSERT_TRUE(held);
  EXPECT_TRUE(held->is_bad);
  EXPECT_EQ(held->reason, "NotRestored");
  EXPECT_EQ(held->plain, "data were not restored: ConfigMap/shop/settings: why");
  report.outcome = RestoreReport::Outcome::kUnready;
  EXPECT_FALSE(TroubleIn(report)) << "nothing has failed";
}

TEST(EventAbout, ARestoreIsOneOfTheSource) {
  RestoreReport report{.source = {SourceType::kSecret, {"shop", "password"}},
                       .uid = "u",
                       .policy = {"shop", "careful"},
                       .reason = "Restored",
                       .message = "the data were put back"};
  events::Occurrence occurrence = EventAbout(report);
  EXPECT_EQ(occurrence.regarding.api_version + " " + occurrence.regarding.kind + " " +
                occurrence.regarding.namespace_ + " " + occurrence.regarding.name + " " +
                occurrence.regarding.uid,
            "v1 Secret shop password u");
  EXPECT_EQ(occurrence.type, events::EventType::kNormal);
  EXPECT_EQ(occurrence.reason, "Restored");
  EXPECT_EQ(occurrence.note, "the data were put back");
  report.outcome = RestoreReport::Outcome::kHeld;
  report.reason = "Immutable";
  occurrence = EventAbout(report);
  EXPECT_EQ(occurrence.type, events::EventType::kWarning);
  EXPECT_EQ(occurrence.reason, "NotRestored");
  EXPECT_EQ(occurrence.note, "Immutable: the data were put back");
}

}  // namespace
}  // namespace kubexx::reloader
