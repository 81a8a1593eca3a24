#include "kubexx/reloader/notify/alerts.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::reloader {
namespace {

const SourceId kSource{SourceType::kConfigMap, {"ns", "config"}};
const WorkloadId kWorkload{WorkloadKind::kDeployment, {"ns", "web"}};

TEST(Alerts, SayWhatTheOriginalSays) {
  EXPECT_EQ(AlertText(kSource, kWorkload, ""),
            "Reloader detected changes in *config* of type *CONFIGMAP* in namespace *ns*. Hence "
            "reloaded *web* of type *Deployment* in namespace *ns*");
  EXPECT_TRUE(AlertText(kSource, kWorkload, "cluster 1").starts_with("cluster 1 : Reloader "));
}

TEST(Alerts, HaveTheFormOfTheirSink) {
  EXPECT_EQ(
      AlertFor("slack", "a *b* <c&d>", Severity::kInfo),
      (Message{"application/json", R"({"attachments":[{"author_name":"Reloader","color":"good",)"
                                   R"("fallback":"a *b* \u0026lt;c\u0026amp;d\u0026gt;",)"
                                   R"("text":"a *b* \u0026lt;c\u0026amp;d\u0026gt;",)"
                                   R"("mrkdwn_in":["text"]}]})"}));
  EXPECT_TRUE(AlertFor("slack", "a", Severity::kError).body.contains(R"("color":"danger")"));
  EXPECT_EQ(
      AlertFor("teams", "a *\"*", Severity::kInfo),
      (Message{"application/json", R"({"type":"message","attachments":[{)"
                                   R"("contentType":"application/vnd.microsoft.card.adaptive",)"
                                   R"("content":{"type":"AdaptiveCard","version":"1.2","body":[)"
                                   R"({"type":"TextBlock","text":"a **\"**","wrap":true}]}}]})"}));
  EXPECT_TRUE(AlertFor("teams", "a", Severity::kWarning).body.contains(R"("color":"Warning")"));
  EXPECT_EQ(AlertFor("gchat", "a *b*", Severity::kError),
            (Message{"application/json", R"({"text":"a *b*"})"}));
  EXPECT_EQ(AlertFor("raw", "a *b*", Severity::kInfo), (Message{"text/plain", "a b"}));
}

TEST(Alerts, KnowWhatTheirSinkAccepts) {
  EXPECT_TRUE(AlertAccepted("slack", 202));
  EXPECT_TRUE(AlertAccepted("raw", 204));
  EXPECT_FALSE(AlertAccepted("raw", 302));
  EXPECT_FALSE(AlertAccepted("slack", 404));
  EXPECT_TRUE(AlertAccepted("teams", 200));
  EXPECT_TRUE(AlertAccepted("teams", 202)) << "a workflow";
  EXPECT_FALSE(AlertAccepted("teams", 304));
  EXPECT_TRUE(AlertAccepted("gchat", 200));
  EXPECT_FALSE(AlertAccepted("gchat", 400));
}

/// Sends alerts to a service in memory.
class SentAlertsTest : public testing::Test {
 protected:
  static WriteReport Report(const std::string& name, apimachinery::Result<void> outcome) {
    return {.workload = {WorkloadKind::kDeployment, {"ns", name}},
            .uid = "u",
            .causes = {kSource},
            .outcome = std::move(outcome)};
  }
  static apimachinery::Result<void> Error(apimachinery::Reason reason, int code) {
    return apimachinery::Fail(reason, "why", code);
  }
  std::vector<std::string> Sent() {
    sender_.Stop();
    const base::MutexLock lock(mu_);
    return bodies_;
  }

  base::Mutex mu_;
  std::vector<std::string> bodies_ KX_GUARDED_BY(mu_);
  MessageSender sender_{
      {.name = "alert", .accepts = [](int) { return true; }},
      [this](const Message& message, const std::stop_token&) -> apimachinery::Result<int> {
        const base::MutexLock lock(mu_);
        bodies_.push_back(message.body);
        return 200;
      }};
  base::testing::FakeClock clock_;
  Alerts alerts_{{.enabled = true, .sink = "raw", .additional_info = "here"}, sender_, clock_};
};

TEST_F(SentAlertsTest, TellOfEverySourceOfASuccessfulWrite) {
  WriteReport report = Report("web", {});
  report.causes.push_back(kSource);
  alerts_.OnWrite(report);
  const auto sent = Sent();
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_TRUE(sent[0].starts_with("here : Reloader detected changes in config of type CONFIGMAP"));
}

TEST_F(SentAlertsTest, TellOnceThatTheServerRefusesAWorkload) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    alerts_.OnWrite(Report("web", Error(apimachinery::Reason::kForbidden, 403)));
  }
  alerts_.OnWrite(Report("web", {}));
  alerts_.OnWrite(Report("web", Error(apimachinery::Reason::kForbidden, 403)));
  const auto sent = Sent();
  ASSERT_EQ(sent.size(), 3U);
  EXPECT_EQ(sent[0],
            "here : Reloader could not reload web of type Deployment in namespace ns for config of "
            "type CONFIGMAP; it is tried again: why");
  EXPECT_EQ(sent[2], sent[0]) << "it succeeded in between";
}

TEST_F(SentAlertsTest, TellOfWhatMayPassOnlyWhenItLasts) {
  alerts_.OnWrite(Report("web", Error(apimachinery::Reason::kConflict, 409)));
  clock_.Advance(std::chrono::seconds(29));
  alerts_.OnWrite(Report("web", Error(apimachinery::Reason::kInternalError, 500)));
  clock_.Advance(std::chrono::seconds(1));
  alerts_.OnWrite(Report("web", Error(apimachinery::Reason::kInternalError, 500)));
  EXPECT_EQ(Sent().size(), 1U);
}

TEST_F(SentAlertsTest, TellOfTroubleInBounds) {
  for (int n = 0; n < 1000; ++n) {
    alerts_.OnWrite(Report(std::to_string(n), Error(apimachinery::Reason::kForbidden, 403)));
  }
  clock_.Advance(std::chrono::minutes(1));
  alerts_.OnTrouble({.is_bad = true, .message = "stopped"});
  const auto sent = Sent();
  ASSERT_EQ(sent.size(), 11U);
  EXPECT_EQ(sent.back(),
            "here : Reloader: stopped (990 more about failed and held rollouts not sent)");
}

TEST(Alerts, RefuseABadUrl) {
  const auto sender = NewAlertSender({.enabled = true, .url = "sink"}, nullptr);
  ASSERT_FALSE(sender);
  EXPECT_NE(sender.error().message.find("ALERT_WEBHOOK_URL"), std::string::npos);
}

}  // namespace
}  // namespace kubexx::reloader
