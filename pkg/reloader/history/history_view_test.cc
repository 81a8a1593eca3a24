#include "kubexx/reloader/history/history_view.h"

#include <gmock/gmock.h>

#include <string>

#include "kubexx/codec/json_tree.h"

namespace kubexx::reloader {
namespace {

using dynamic::Unstructured;
using testing::ElementsAre;
using testing::HasSubstr;

/// A Deployment whose rollout ended at 00:00:30, with this as its history.
Unstructured Deployed(const std::string& history, const std::string& uid = "u-1",
                      const std::string& name = "web") {
  const auto object = Unstructured::Parse(
      R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"namespace":"shop","name":")" +
      name + R"(","uid":")" + uid +
      R"(","generation":2,"annotations":{"reloader.kubexx.io/history":)" +
      codec::JsonTree(history).ToJson() +
      R"(}},"spec":{"replicas":1,"template":{"spec":{"containers":[{"name":"app"}]}}},)"
      R"("status":{"observedGeneration":2,"replicas":1,"updatedReplicas":1,"availableReplicas":1,"conditions":[)"
      R"({"type":"Progressing","status":"True","reason":"NewReplicaSetAvailable","lastUpdateTime":"2026-01-02T00:01:05Z"}]}})");
  EXPECT_TRUE(object) << object.error().ToString();
  return object ? *object : Unstructured();
}

std::string ShownHistory(const std::string& uid = "u-1") {
  return R"({"v":1,"of":")" + uid +
         R"(","rollouts":[{"at":"2026-01-02T00:00:00Z","outcome":"rolling","sources":[)"
         R"({"source":"configmap/settings","digest":"0123456789ab","by":"helm","written":"2026-01-01T23:59:58Z",)"
         R"("keys":[{"key":"a","is":"changed","digest":"deadbeef"},{"key":"b","is":"removed"},{"key":"c","is":"added","digest":"00000001"}],"moreKeys":2},)"
         R"({"source":"secret/db","digest":"0123456789ab","keys":[{"key":"password","is":"changed"}]}]},)"
         R"({"at":"2026-01-01T00:00:00Z","outcome":"failed","seconds":600,"sources":[{"source":"secret/db"}],"moreSources":1}]})";
}

TEST(HistoryView, NamesFieldsOfDescribedKindsAsTheirDescriptionDoes) {
  AddSourceKinds(
      {{.group = "history.example.com",
        .version = "v1",
        .kind = "ShownCertificate",
        .resource = "showncertificates",
        .fields = {ObjectField::Parse("status.conditions[type=Ready].status").value()}}});
  const auto history = WorkloadHistoryOf(
      WorkloadKind::kDeployment,
      Deployed(
          R"({"v":1,"of":"u-1","rollouts":[{"at":"2026-01-01T00:00:00Z","outcome":"done","seconds":6,"sources":[)"
          R"({"source":"showncertificate/a","digest":"0123456789ab","keys":[)"
          R"({"key":"status.conditions.type-Ready.status","is":"changed"},{"key":"status.former","is":"removed"}]},)"
          R"({"source":"showncertificate/b","digest":"0123456789ab"},)"
          R"({"source":"showncertificate/c","digest":"0123456789ab","keys":[]}]}]})"));
  ASSERT_TRUE(history) << history.error().ToString();
  const std::string text = ToText(*history);
  EXPECT_THAT(text,
              HasSubstr("status.conditions[type=Ready].status changed, status.former removed"));
  EXPECT_THAT(text, HasSubstr("which fields have changed is not known"));
  EXPECT_THAT(text, HasSubstr("no field has changed since the rollout before"));
  EXPECT_THAT(ToJson(*history), HasSubstr("status.conditions[type=Ready].status"));
}

TEST(HistoryView, ShowsAWorkloadsRolloutsWithTheOutcomeOfTheLastFromItsStatus) {
  const auto history = WorkloadHistoryOf(WorkloadKind::kDeployment, Deployed(ShownHistory()));
  ASSERT_TRUE(history) << history.error().ToString();
  EXPECT_EQ(ToText(*history),
            "Deployment shop/web: 2 rollouts, the newest first\n"
            "  2026-01-02T00:00:00Z  done in 1m5s\n"
            "    ConfigMap settings (data 0123456789ab): a changed to deadbeef, b removed, c added "
            "as 00000001, and 2 more; written by helm at 2026-01-01T23:59:58Z\n"
            "    Secret db (data 0123456789ab): password changed\n"
            "  2026-01-01T00:00:00Z  failed after 10m\n"
            "    Secret db (deleted): which keys have changed is not known\n"
            "    and 1 more sources\n");
  const auto tree = codec::JsonTree::Parse(ToJson(*history));
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->At({"workload"})->TextAt("name"), "web");
  const codec::JsonTree& newest = tree->Find("rollouts")->elements()[0];
  EXPECT_EQ(newest.TextAt("outcome"), "done");
  EXPECT_EQ(newest.Find("seconds")->AsInt(), 65);
  EXPECT_EQ(newest.Find("sources")->elements()[0].TextAt("by"), "helm");
}

TEST(HistoryView, OfACopyOrABrokenAnnotationSaysSo) {
  const auto copied = WorkloadHistoryOf(WorkloadKind::kDeployment, Deployed(ShownHistory(), "u-2"));
  ASSERT_TRUE(copied);
  EXPECT_TRUE(copied->rollouts.empty());
  EXPECT_THAT(ToText(*copied), HasSubstr("belongs to another object, from which it was copied"));
  const auto broken = WorkloadHistoryOf(WorkloadKind::kDeployment, Deployed("\x1b[31m"));
  ASSERT_TRUE(broken);
  EXPECT_THAT(ToText(*broken), HasSubstr("cannot be read"));
  EXPECT_THAT(ToText(*broken), testing::Not(HasSubstr("\x1b")));
}

TEST(HistoryView, OfAWorkloadWithoutOneSaysHowToHaveOne) {
  const auto bare = Unstructured::Parse(R"({"metadata":{"namespace":"shop","name":"web"}})");
  ASSERT_TRUE(bare);
  const auto history = WorkloadHistoryOf(WorkloadKind::kStatefulSet, *bare);
  ASSERT_TRUE(history);
  EXPECT_EQ(ToText(*history),
            "StatefulSet shop/web: no rollout is recorded; an operator records them with "
            "--history\n");
}

TEST(HistoryView, OfAJobThatIsOverIsShownToo) {
  const auto job = Unstructured::Parse(
      R"({"metadata":{"namespace":"shop","name":"once","uid":"new","annotations":{"reloader.kubexx.io/history":)" +
      codec::JsonTree(ShownHistory("job/shop/once")).ToJson() +
      R"(}},"status":{"conditions":[{"type":"Complete","status":"True"}]}})");
  ASSERT_TRUE(job);
  const auto history = WorkloadHistoryOf(WorkloadKind::kJob, *job);
  ASSERT_TRUE(history) << history.error().ToString();
  ASSERT_EQ(history->rollouts.size(), 2U);
  EXPECT_EQ(history->rollouts[0].outcome, RolloutOutcome::kDone);
}

TEST(HistoryView, OfASourceHasTheRolloutsOfAllWorkloadsForItAlone) {
  const auto web = WorkloadHistoryOf(WorkloadKind::kDeployment, Deployed(ShownHistory()));
  const auto api =
      WorkloadHistoryOf(WorkloadKind::kDeployment, Deployed(ShownHistory("u-9"), "u-9", "api"));
  const auto copy =
      WorkloadHistoryOf(WorkloadKind::kDeployment, Deployed(ShownHistory(), "x", "copy"));
  ASSERT_TRUE(web && api && copy);
  const SourceHistory settings =
      SourceHistoryOf({SourceType::kConfigMap, {"shop", "settings"}}, {*web, *api, *copy});
  ASSERT_EQ(settings.rollouts.size(), 2U);
  EXPECT_EQ(settings.rollouts[0].rollouts[0].sources.size(), 1U);
  EXPECT_THAT(settings.problems, ElementsAre(HasSubstr("Deployment shop/copy: ")));
  EXPECT_THAT(ToText(settings),
              HasSubstr("ConfigMap shop/settings: 2 rollouts, the newest first\n"
                        "  2026-01-02T00:00:00Z  Deployment shop/web: done in 1m5s\n"
                        "    ConfigMap settings (data 0123456789ab): a changed"));
  const SourceHistory db = SourceHistoryOf({SourceType::kSecret, {"shop", "db"}}, {*web, *api});
  ASSERT_EQ(db.rollouts.size(), 4U);
  EXPECT_EQ(db.rollouts[1].workload.key.name, "api");
  EXPECT_EQ(db.rollouts[3].rollouts[0].outcome, RolloutOutcome::kFailed);
  const auto tree = codec::JsonTree::Parse(ToJson(db));
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->Find("rollouts")->elements()[1].Find("workload")->TextAt("name"), "api");
  const SourceHistory none = SourceHistoryOf({SourceType::kSecret, {"shop", "x"}}, {*web});
  EXPECT_THAT(ToText(none), HasSubstr("no rollout is recorded for it"));
}

}  // namespace
}  // namespace kubexx::reloader
