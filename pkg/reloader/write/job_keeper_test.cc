#include "kubexx/reloader/write/job_keeper.h"

#include <gtest/gtest.h>

#include <string>

namespace kubexx::reloader {
namespace {

using dynamic::Unstructured;

KeptJob Kept() {
  return {
      .old_uid = "old",
      .old_version = "7",
      .token = "t",
      .body = *Unstructured::Parse(
          R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"job","namespace":"ns",)"
          R"("labels":{"app":"x"},"ownerReferences":[{"uid":"o"}]},"spec":{"manualSelector":true,)"
          R"("selector":{"matchLabels":{"l":"1"}},"completions":5,"template":{"metadata":{)"
          R"("labels":{"l":"1","job-name":"job"},"annotations":{"reloader.stakater.com/auto":"true"}},)"
          R"("spec":{"containers":[{"name":"app"}]}}}})")};
}

TEST(JobKeeper, IsASuspendedJobThatNobodyTakesForTheOther) {
  const Unstructured keeper = KeeperFor(Kept());
  EXPECT_EQ(keeper.Name(), "");
  EXPECT_EQ(keeper.Namespace(), "ns");
  EXPECT_EQ(keeper.GetBool({"spec", "suspend"}), true);
  EXPECT_EQ(keeper.Get({"spec", "selector"}), nullptr) << "or it would take the other's pods";
  EXPECT_EQ(keeper.Get({"spec", "manualSelector"}), nullptr);
  EXPECT_EQ(keeper.Get({"metadata", "labels"}), nullptr);
  EXPECT_EQ(keeper.Get({"metadata", "ownerReferences"}), nullptr);
  EXPECT_EQ(keeper.Get({"spec", "template", "metadata", "annotations"}), nullptr);
  EXPECT_EQ(keeper.GetString({"spec", "template", "metadata", "labels", "l"}), "1");
  EXPECT_EQ(keeper.Get({"spec", "template", "metadata", "labels", "job-name"}), nullptr);
  EXPECT_EQ(keeper.GetString({"spec", "template", "spec", "containers", "0", "name"}), "app");
}

TEST(JobKeeper, GivesBackAllOfTheOther) {
  const auto kept = KeptBy(KeeperFor(Kept()));
  ASSERT_TRUE(kept) << kept.error().ToString();
  EXPECT_EQ(kept->old_uid, "old");
  EXPECT_EQ(kept->old_version, "7");
  EXPECT_EQ(kept->token, "t");
  EXPECT_EQ(kept->body.ToJson(), Kept().body.ToJson());
}

TEST(JobKeeper, RefusesWhatSomebodyElseHasMade) {
  const auto with = [](const std::string& key, const std::string& value) {
    Unstructured keeper = KeeperFor(Kept());
    auto annotations = keeper.Annotations();
    annotations[key] = value;
    keeper.SetAnnotations(annotations);
    return keeper;
  };
  EXPECT_FALSE(KeptBy(Unstructured()));
  EXPECT_FALSE(KeptBy(with(std::string(kKeeperOf), "another")));
  for (const char* text : {"", "{", "{}", R"({"job":1})", R"({"job":{"kind":"Job"}})"}) {
    EXPECT_FALSE(KeptBy(with("reloader.kubexx.io/recreated-job", text))) << text;
  }
  Unstructured elsewhere = KeeperFor(Kept());
  elsewhere.SetNamespace("other");
  EXPECT_FALSE(KeptBy(elsewhere)) << "or who may make Jobs in one namespace could in all";
}

}  // namespace
}  // namespace kubexx::reloader
