#include "kubexx/reloader/receivers/notification.h"

#include <gmock/gmock.h>

#include <string>

#include "kubexx/reloader/receivers/notification_text.h"

namespace kubexx::reloader {
namespace {

const WorkloadId kDeployment{WorkloadKind::kDeployment, {"shop", "web"}};

SourceId NamedConfig(const std::string& name) { return {SourceType::kConfigMap, {"shop", name}}; }

TEST(Notification, TellsOfAWriteWithItsSources) {
  WriteReport report{.workload = kDeployment,
                     .causes = {NamedConfig("b"), NamedConfig("a"), NamedConfig("b")},
                     .paused = true};
  const Notification rolled = NotificationOf(report);
  EXPECT_EQ(rolled.severity, Severity::kInfo);
  EXPECT_EQ(rolled.reason, "Reloaded");
  EXPECT_EQ(rolled.namespace_, "shop");
  EXPECT_EQ(SubjectOf(rolled), "Deployment/shop/web");
  ASSERT_EQ(rolled.sources.size(), 2U) << "each once";
  EXPECT_EQ(rolled.sources[0].ToString(), "ConfigMap/shop/a");
  EXPECT_TRUE(rolled.paused);

  report.in_place = "signal:HUP";
  EXPECT_FALSE(NotificationOf(report).paused) << "its pods have the data";
  EXPECT_EQ(NotificationOf(report).action, "signal:HUP");

  report.outcome = apimachinery::Fail(apimachinery::Reason::kForbidden, "why", 403);
  const Notification failed = NotificationOf(report);
  EXPECT_EQ(failed.severity, Severity::kError);
  EXPECT_EQ(failed.reason, "ReloadFail");
  EXPECT_EQ(failed.text, "why");
}

// It was called shop/shared/settings, which no object can be.
TEST(Notification, NamesASourceOfAnotherNamespaceAsTheObjectThatItIs) {
  const Notification rolled = NotificationOf(
      WriteReport{.workload = kDeployment,
                  .causes = {ForeignId(SourceType::kConfigMap, {"shared", "settings"}, "shop")}});
  ASSERT_EQ(rolled.sources.size(), 1U);
  EXPECT_EQ(rolled.sources[0].key, (apimachinery::ObjectKey{"shared", "settings"}));
}

TEST(Notification, IsBounded) {
  WriteReport report{
      .workload = kDeployment,
      .outcome = apimachinery::Fail(apimachinery::Reason::kInvalid, std::string(9999, 'x'), 422)};
  for (int i = 0; i < 100; ++i) {
    report.causes.push_back(NamedConfig(std::to_string(i)));
  }
  const Notification notification = NotificationOf(report);
  EXPECT_EQ(notification.sources.size(), Notification::kMaxSources);
  EXPECT_EQ(notification.more_sources, 100 - Notification::kMaxSources);
  EXPECT_EQ(notification.text.size(), Notification::kMaxText);
}

TEST(Notification, TellsOfTroubleWithAPolicyOrAWorkload) {
  const Notification stopped = NotificationOf(RolloutTrouble{.is_bad = true,
                                                             .reason = "RolloutsStopped",
                                                             .message = "*a*",
                                                             .plain = "a",
                                                             .policy = {{"shop", "careful"}}});
  EXPECT_EQ(stopped.severity, Severity::kError);
  EXPECT_EQ(stopped.namespace_, "shop");
  EXPECT_EQ(SubjectOf(stopped), "ReloadPolicy/shop/careful");
  EXPECT_EQ(stopped.text, "a");

  const Notification held = NotificationOf(RolloutTrouble{
      .reason = "RolloutsWait", .workload = kDeployment, .policy = {{"", "careful"}}});
  EXPECT_EQ(held.severity, Severity::kWarning);
  EXPECT_EQ(held.namespace_, "shop") << "that of the workload, so that its team is told";
  EXPECT_EQ(SubjectOf(held), "ClusterReloadPolicy/careful");

  const Notification failed = NotificationOf(
      RolloutTrouble{.is_bad = true, .reason = "RolloutFailed", .workload = kDeployment});
  EXPECT_EQ(SubjectOf(failed), "Deployment/shop/web");
  EXPECT_FALSE(failed.is_of_policy);
}

// The title told of a rollout where no pod was replaced.
TEST(Notification, CallsAReloadInPlaceThatHasFailedByItsName) {
  RolloutTrouble trouble{.is_bad = true, .reason = "RolloutFailed", .workload = kDeployment};
  EXPECT_EQ(TextOf(NotificationOf(trouble), "").title,
            "A rollout of Deployment shop/web has failed");
  trouble.is_in_place = true;
  EXPECT_EQ(TextOf(NotificationOf(trouble), "").title,
            "A reload in place of Deployment shop/web has failed");
}

TEST(Notification, TellsOfANotice) {
  const Notification notice = NotificationOf(
      WorkloadNotice{.workload = kDeployment, .reason = "BaselineFull", .message = "why"});
  EXPECT_EQ(notice.severity, Severity::kWarning);
  EXPECT_EQ(notice.reason, "BaselineFull");
  EXPECT_EQ(notice.text, "why");
}

}  // namespace
}  // namespace kubexx::reloader
