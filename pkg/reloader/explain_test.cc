#include "kubexx/reloader/explain.h"

#include <gmock/gmock.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/baseline.h"

namespace kubexx::reloader {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

const SourceId kConfig{SourceType::kConfigMap, {"shop", "config"}};
const SourceId kPassword{SourceType::kSecret, {"shop", "password"}};

class ExplainTest : public testing::Test {
 protected:
  ExplainTest() {
    workload_.id = {WorkloadKind::kDeployment, {"shop", "web"}};
    workload_.uid = "u1";
    workload_.annotations["reloader.stakater.com/auto"] = "true";
    workload_.containers.push_back(
        {.name = "app",
         .references = {{SourceType::kConfigMap, "config"}, {SourceType::kSecret, "password"}}});
    Put(kConfig, "now");
    Put(kPassword, "now");
    Record({{kConfig, DigestOf("now")}, {kPassword, DigestOf("now")}});
  }

  void Put(const SourceId& id, const std::string& data) {
    sources_[id] = {.id = id, .digest = DigestOf(data)};
  }
  void Record(std::map<SourceId, Digest> digests) {
    const Baseline baseline{.uid = workload_.uid, .digests = std::move(digests)};
    workload_.annotations[std::string(kBaselineAnnotation)] = baseline.ToString();
  }
  Explanation Ask() {
    const auto get = [this](const SourceId& id) -> std::optional<Source> {
      const auto found = sources_.find(id);
      return found == sources_.end() ? std::nullopt : std::optional(found->second);
    };
    const auto names = [](SourceType) { return std::vector<std::string>(); };
    return Explain({workload_, {get, names}, rules_, gate_, now_, selector_});
  }

  Workload workload_;
  std::map<SourceId, Source> sources_;
  DecisionRules rules_;
  std::string selector_;
  reloadpolicy::Gate gate_;
  base::WallTime now_ = base::WallTime(std::chrono::seconds(1'795'000'000));
};

TEST_F(ExplainTest, NothingIsDueWhenNothingChanged) {
  const Explanation explanation = Ask();
  EXPECT_FALSE(explanation.due);
  EXPECT_FALSE(explanation.hold);
  ASSERT_THAT(explanation.sources, SizeIs(2));
  EXPECT_EQ(explanation.sources[0].id, kConfig);
  EXPECT_EQ(explanation.sources[0].verdict, Verdict::kAuto);
  EXPECT_EQ(explanation.sources[0].container, "app");
  EXPECT_EQ(explanation.sources[0].recorded, explanation.sources[0].digest);
  const std::string text = ToText(explanation);
  EXPECT_THAT(text, HasSubstr("No rollout is due."));
  EXPECT_THAT(text, HasSubstr("ConfigMap config: rolls the workload when it changes (auto is on); "
                              "has not changed"));
}

TEST_F(ExplainTest, AChangeIsDueAndNamed) {
  Put(kPassword, "new");
  const Explanation explanation = Ask();
  EXPECT_TRUE(explanation.due);
  EXPECT_FALSE(explanation.sources[0].due);
  EXPECT_TRUE(explanation.sources[1].due);
  EXPECT_THAT(ToText(explanation), HasSubstr("A rollout is due and may begin."));
  EXPECT_THAT(ToText(explanation), HasSubstr("Secret password: has changed"));
}

TEST_F(ExplainTest, APolicyThatHoldsIsNamed) {
  gate_.SetPolicy({.id = {"shop", "p"}, .settings = {.paused = true, .max_in_namespace = 3}});
  Put(kPassword, "new");
  const Explanation explanation = Ask();
  ASSERT_TRUE(explanation.hold);
  const std::string text = ToText(explanation);
  EXPECT_THAT(text, HasSubstr("A rollout is due and waits."));
  EXPECT_THAT(text, HasSubstr("waits: Paused: paused (ReloadPolicy shop/p)"));
  EXPECT_THAT(text, HasSubstr("maxConcurrentRolloutsPerNamespace: 3 (ReloadPolicy shop/p)"));
}

TEST_F(ExplainTest, WhatNeverRollsItSaysWhy) {
  sources_[kConfig].ignore = true;
  workload_.annotations["secrets.exclude.reloader.stakater.com/reload"] = "password";
  std::string text = ToText(Ask());
  EXPECT_THAT(text, HasSubstr("its ignore annotation says that it never rolls anything"));
  EXPECT_THAT(text, HasSubstr("the workload's exclude list names it"));
  workload_.annotations.erase("reloader.stakater.com/auto");
  sources_.erase(kPassword);
  sources_[kConfig].ignore = false;
  text = ToText(Ask());
  EXPECT_THAT(text, HasSubstr("ConfigMap config: never rolls the workload: no annotation asks"));
  EXPECT_THAT(text, HasSubstr("Secret password: does not exist"));
}

TEST_F(ExplainTest, BadAnnotationsAreListed) {
  workload_.annotations["reloader.kubexx.io/order"] = "first";
  workload_.annotations["secret.reloader.stakater.com/reload"] = "(";
  EXPECT_THAT(ToText(Ask()), HasSubstr("Has no effect: reloader.kubexx.io/order"));
}

TEST_F(ExplainTest, WhatIsNotWatchedIsSaidBeforeAnythingElse) {
  const Explanation left_alone{.workload = workload_.id,
                               .not_watched = "the namespace shop is not watched"};
  EXPECT_EQ(ToText(left_alone),
            "Deployment shop/web: nothing rolls it: the namespace shop is not watched\n");
  const auto tree = codec::JsonTree::Parse(ToJson(left_alone));
  ASSERT_TRUE(tree);
  EXPECT_EQ(*tree->At({"notWatched"})->AsString(), "the namespace shop is not watched");
  EXPECT_EQ(tree->At({"mayBegin"})->AsBool(), false);
}

TEST_F(ExplainTest, SourcesThatTheFlagsLeaveOutAreNamed) {
  rules_.ignored_types = {SourceType::kSecret};
  selector_ = "team=shop";
  sources_.erase(kConfig);
  const std::string text = ToText(Ask());
  EXPECT_THAT(text, HasSubstr("Secret password: is not watched, because of --resources-to-ignore"));
  EXPECT_THAT(text, HasSubstr("ConfigMap config: does not exist, or --resource-label-selector "
                              "leaves it out"));
}

TEST_F(ExplainTest, JsonSaysTheSame) {
  gate_.SetPolicy({.id = {"shop", "p"}, .settings = {.paused = true}});
  Put(kConfig, "new");
  const auto tree = codec::JsonTree::Parse(ToJson(Ask()));
  ASSERT_TRUE(tree);
  EXPECT_EQ(*tree->At({"kind"})->AsString(), "Deployment");
  EXPECT_EQ(tree->At({"due"})->AsBool(), true);
  EXPECT_EQ(tree->At({"mayBegin"})->AsBool(), false);
  EXPECT_EQ(*tree->At({"hold", "reason"})->AsString(), "Paused");
  EXPECT_EQ(*tree->At({"sources", "0", "name"})->AsString(), "config");
  EXPECT_EQ(tree->At({"sources", "0", "due"})->AsBool(), true);
  EXPECT_EQ(*tree->At({"settings", "0", "origin"})->AsString(), "ReloadPolicy shop/p");
}

}  // namespace
}  // namespace kubexx::reloader
