#include "kubexx/reloader/alerts.h"

#include <gtest/gtest.h>

#include <vector>

#include "kubexx/base/mutex.h"

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
      AlertFor("slack", "a *b*"),
      (Message{"application/json",
               R"({"attachments":[{"author_name":"Reloader","color":"good","text":"a *b*"}]})"}));
  EXPECT_EQ(AlertFor("teams", "a *\"*"), (Message{"application/json", R"({"text":"a *\"*"})"}));
  EXPECT_EQ(AlertFor("gchat", "a"), (Message{"application/json", R"({"text":"a"})"}));
  EXPECT_EQ(AlertFor("raw", "a *b*"), (Message{"text/plain", "a b"}));
}

TEST(Alerts, KnowWhatTheirSinkAccepts) {
  EXPECT_TRUE(AlertAccepted("slack", 202));
  EXPECT_TRUE(AlertAccepted("raw", 204));
  EXPECT_FALSE(AlertAccepted("raw", 302));
  EXPECT_FALSE(AlertAccepted("slack", 404));
  EXPECT_TRUE(AlertAccepted("teams", 200));
  EXPECT_FALSE(AlertAccepted("teams", 202));
  EXPECT_FALSE(AlertAccepted("gchat", 202));
}

TEST(Alerts, AreSentForSuccessfulWritesOnly) {
  base::Mutex mu;
  std::vector<std::string> bodies;
  MessageSender sender(
      {.name = "alert", .accepts = [](int) { return true; }},
      [&](const Message& message, const std::stop_token&) -> apimachinery::Result<int> {
        const base::MutexLock lock(mu);
        bodies.push_back(message.body);
        return 200;
      });
  Alerts alerts({.enabled = true, .sink = "raw"}, sender);
  WriteReport report{.workload = kWorkload, .uid = "u", .causes = {kSource, kSource}};
  alerts.OnWrite(report);
  report.outcome = apimachinery::Fail(apimachinery::Reason::kForbidden, "no");
  alerts.OnWrite(report);
  sender.Stop();
  const base::MutexLock lock(mu);
  ASSERT_EQ(bodies.size(), 2U);
  EXPECT_TRUE(bodies[0].starts_with("Reloader detected changes in config of type CONFIGMAP"));
}

TEST(Alerts, RefuseABadUrl) {
  const auto sender = NewAlertSender({.enabled = true, .url = "sink"}, nullptr);
  ASSERT_FALSE(sender);
  EXPECT_NE(sender.status().message.find("ALERT_WEBHOOK_URL"), std::string::npos);
}

}  // namespace
}  // namespace kubexx::reloader
