#include "kubexx/reloader/observe/preview.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/reloader/plan/baseline.h"

namespace kubexx::reloader {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const SourceId kPreviewConfig{SourceType::kConfigMap, {"shop", "config"}};

using Data = std::map<std::string, std::string>;

ValueDigests DigestsOf(const Data& data) {
  api::core::v1::ConfigMap config_map;
  config_map.data = data;
  return ValueDigestsOf(config_map);
}

/// A namespace with one ConfigMap, which changes.
class PreviewTest : public testing::Test {
 protected:
  /// The sources as an operator sees them.
  class Sources : public DigestsOver {
   public:
    Sources(const ValueDigests& data, std::string keys) : data_(data), keys_(std::move(keys)) {}
    std::optional<Source> Get(const SourceId& id) const {
      if (id != kPreviewConfig || data_.whole == kNoSource) {
        return std::nullopt;
      }
      Source source{.id = id, .digest = data_.whole, .keys = keys_};
      if (!keys_.empty()) {
        source.whole = data_.whole;
        source.digest = DigestOver(data_, keys_);
      }
      return source;
    }
    std::optional<Digest> Over(const SourceId&, std::string_view keys) override {
      return keys.empty() ? data_.whole : DigestOver(data_, keys);
    }
    std::optional<apimachinery::Time> WrittenAt(const SourceId&) override { return std::nullopt; }

   private:
    const ValueDigests& data_;
    const std::string keys_;
  };

  Workload& AddUser(const std::string& name) {
    return users_.emplace_back(Workload{
        .id = {WorkloadKind::kDeployment, {"shop", name}},
        .uid = "uid-" + name,
        .annotations = {{"reloader.stakater.com/auto", "true"}},
        .containers = {{.name = "app", .references = {{SourceType::kConfigMap, "config"}}}}});
  }
  void RunsWith(Workload& workload, const Data& data) {
    const Baseline baseline{.uid = workload.uid,
                            .digests = {{kPreviewConfig, DigestsOf(data).whole}}};
    workload.annotations[std::string(kBaselineAnnotation)] = baseline.ToString();
  }
  /// Returns what happens to the users when the data become `after`.
  Preview Ask(const std::optional<Data>& before, const Data& after) {
    const ValueDigests old = before ? DigestsOf(*before) : ValueDigests();
    const ValueDigests changed_data = DigestsOf(after);
    ChangedSource changed{.source = source_, .data = changed_data};
    changed.source.id = kPreviewConfig;
    changed.source.digest = changed_data.whole;
    const ChangedSources all{{kPreviewConfig, changed}};
    Preview preview;
    const auto added = AddPreview(
        {.changed = all,
         .users = users_,
         .with_sources =
             [&](const Workload& workload, bool is_after,
                 base::FunctionRef<void(const SourceLookup&)> use) -> apimachinery::Result<void> {
           const auto keys = keys_.find(workload.id.key.name);
           Sources sources(is_after ? changed_data : old,
                           keys == keys_.end() ? std::string() : keys->second);
           use({[&](const SourceId& id) { return sources.Get(id); },
                [](SourceType) { return std::vector<std::string>{"config"}; }, &sources});
           return {};
         },
         .rules = rules_,
         .arbiter = arbiter_,
         .now = base::WallTime(std::chrono::seconds(1'795'000'000)),
         .before = [&](const SourceId&) { return old.whole; },
         .with_others = with_others_,
         .is_over = is_over_},
        preview);
    EXPECT_TRUE(added);
    preview.sources.push_back({.id = kPreviewConfig,
                               .exists = before.has_value(),
                               .keys = CompareKeys(old, changed_data)});
    return preview;
  }

  std::vector<Workload> users_;
  std::map<std::string, std::string> keys_;  ///< that count, by the workload's name
  Source source_;
  DecisionRules rules_;
  reloadpolicy::Arbiter arbiter_;
  bool with_others_ = true;
  std::function<bool()> is_over_;
};

TEST_F(PreviewTest, NamesWhatWouldRoll) {
  AddUser("web");
  AddUser("api").annotations.clear();
  const Preview preview = Ask(Data{{"a", "1"}}, {{"a", "2"}, {"b", "1"}});
  ASSERT_THAT(preview.rollouts, SizeIs(1));
  EXPECT_EQ(preview.rollouts[0].forecast.workload.key.name, "web");
  EXPECT_THAT(preview.rollouts[0].causes, ElementsAre(kPreviewConfig));
  const std::string text = ToText(preview);
  EXPECT_THAT(text, HasSubstr("ConfigMap shop/config: keys a changed; b added\n"));
  EXPECT_THAT(text, HasSubstr("Rolls 1 workload, by steps:\n  1. Deployment shop/web: at once\n"));
  EXPECT_THAT(text, HasSubstr("Does not roll:\n  Deployment shop/api: ConfigMap shop/config: never "
                              "rolls the workload: no annotation asks for it\n"));
}

TEST_F(PreviewTest, TellsOfNoOthersThatNobodyAsksFor) {
  AddUser("web");
  AddUser("api").annotations.clear();
  with_others_ = false;
  const Preview preview = Ask(Data{{"a", "1"}}, {{"a", "2"}});
  EXPECT_THAT(preview.rollouts, SizeIs(1));
  EXPECT_THAT(preview.others, IsEmpty());
}

TEST_F(PreviewTest, LooksAtNoMoreThanThereIsTimeFor) {
  for (const char* name : {"a", "b", "c", "d"}) {
    AddUser(name);
  }
  int asked = 0;
  is_over_ = [&asked] { return ++asked == 2; };
  const Preview some = Ask(Data{{"a", "1"}}, {{"a", "2"}});
  EXPECT_THAT(some.rollouts, SizeIs(2));
  EXPECT_EQ(some.looked_at, 2U);
  EXPECT_EQ(some.not_looked_at, 2U);
  is_over_ = [] { return true; };
  EXPECT_THAT(Ask(Data{{"a", "1"}}, {{"a", "2"}}).rollouts, SizeIs(1)) << "one in any case";
}

TEST_F(PreviewTest, WhatDoesNotChangeRollsNothing) {
  AddUser("web");
  const Preview preview = Ask(Data{{"a", "1"}}, {{"a", "1"}});
  EXPECT_THAT(preview.rollouts, IsEmpty());
  EXPECT_THAT(ToText(preview), HasSubstr("ConfigMap shop/config: no key changes\n"));
  EXPECT_THAT(ToText(preview), HasSubstr("Rolls no workload.\n"));
}

// The operator knows more than the annotations of the workload.
TEST_F(PreviewTest, AWorkloadOfWhichNothingIsRecordedIsRolledAsWell) {
  AddUser("web");
  EXPECT_THAT(Ask(Data{{"a", "1"}}, {{"a", "2"}}).rollouts, SizeIs(1));
}

TEST_F(PreviewTest, GoingBackToWhatRunsRollsNothing) {
  RunsWith(AddUser("web"), {{"a", "1"}});
  const Preview preview = Ask(Data{{"a", "2"}}, {{"a", "1"}});
  EXPECT_THAT(preview.rollouts, IsEmpty()) << "a rollout that waits is called off by it";
  EXPECT_THAT(
      ToText(preview),
      HasSubstr("Does not roll:\n  Deployment shop/web: ConfigMap shop/config: a rollout for "
                "it is due at present, and the change calls it off"));
  const Preview other = Ask(Data{{"a", "2"}}, {{"a", "3"}});
  ASSERT_THAT(other.rollouts, SizeIs(1));
  EXPECT_TRUE(other.rollouts[0].was_due);
  EXPECT_THAT(ToText(other), HasSubstr("a rollout is due already, without the change\n"));
}

TEST_F(PreviewTest, OnlyKeysThatCountRoll) {
  AddUser("web");
  AddUser("api");
  keys_ = {{"web", "a"}, {"api", "b"}};
  const Preview preview = Ask(Data{{"a", "1"}, {"b", "1"}}, {{"a", "2"}, {"b", "1"}});
  ASSERT_THAT(preview.rollouts, SizeIs(1));
  EXPECT_EQ(preview.rollouts[0].forecast.workload.key.name, "web");
  ASSERT_THAT(preview.others, SizeIs(1));
  EXPECT_EQ(preview.others[0].workload.key.name, "api");
  EXPECT_THAT(preview.others[0].why, HasSubstr("of its keys only b count"));
}

TEST_F(PreviewTest, ASourceThatIsCreatedRollsByTheFlagAlone) {
  AddUser("web");
  EXPECT_THAT(Ask(std::nullopt, {{"a", "1"}}).rollouts, IsEmpty());
  rules_.reload_on_create = true;
  const Preview preview = Ask(std::nullopt, {{"a", "1"}});
  EXPECT_THAT(preview.rollouts, SizeIs(1));
  EXPECT_THAT(ToText(preview), HasSubstr("ConfigMap shop/config: would be created\n"));
}

TEST_F(PreviewTest, TellsWhatHoldsARollout) {
  AddUser("web");
  source_.paused = true;
  EXPECT_THAT(ToText(Ask(Data{{"a", "1"}}, {{"a", "2"}})),
              HasSubstr("  -. Deployment shop/web: waits: SourcePaused: ConfigMap/shop/config is "
                        "paused (annotation reloader.kubexx.io/paused)\n"));
  source_.paused = false;
  AddUser("api");
  arbiter_.SetPolicy({.id = {"shop", "p"}, .settings = {.max_in_namespace = 1}});
  const Preview preview = Ask(Data{{"a", "1"}}, {{"a", "2"}});
  EXPECT_THAT(ToText(preview), HasSubstr("  1. Deployment shop/api: at once\n"));
  EXPECT_THAT(ToText(preview), HasSubstr("  2. Deployment shop/web: after step 1: "
                                         "ConcurrencyLimit: 1 at a time in the namespace"));
  EXPECT_THAT(ToJson(preview), HasSubstr(R"("name":"web","step":2,"notBefore":"","hold":)"
                                         R"({"reason":"ConcurrencyLimit")"));
}

TEST_F(PreviewTest, TellsOfRolloutsThatWouldNotBeMade) {
  Workload& job = AddUser("report");
  job.id.kind = WorkloadKind::kCronJob;
  job.suspended = true;
  const Preview preview = Ask(Data{{"a", "1"}}, {{"a", "2"}});
  EXPECT_THAT(ToText(preview), HasSubstr("       will not be made: it is suspended"));
  ASSERT_THAT(preview.rollouts, SizeIs(1));
  EXPECT_FALSE(IsMade(preview.rollouts[0]));
}

TEST_F(PreviewTest, HasNamesOfKeysAndNoValues) {
  AddUser("web");
  const Preview preview = Ask(Data{{"a", "hunter1"}}, {{"a", "hunter2"}});
  EXPECT_THAT(ToText(preview), Not(HasSubstr("hunter")));
  EXPECT_THAT(ToJson(preview), Not(HasSubstr("hunter")));
  EXPECT_THAT(ToJson(preview), HasSubstr(R"("changed":["a"])"));
}

TEST_F(PreviewTest, TellsOfAnImmutableSourceAndOfOtherObjects) {
  Preview preview = Ask(Data{{"a", "1"}}, {{"a", "2"}});
  preview.sources[0].is_immutable = true;
  preview.ignored = {"Deployment web"};
  preview.not_watched = {"namespace other: no"};
  preview.unread_policies = {"ClusterReloadPolicies"};
  preview.elsewhere = {"ConfigMap shop/config: bank"};
  EXPECT_THAT(ToJson(preview), HasSubstr(R"("elsewhere":["ConfigMap shop/config: bank"])"));
  const std::string text = ToText(preview);
  EXPECT_THAT(text, HasSubstr("Workloads of other namespaces are not looked at, and may roll for "
                              "ConfigMap shop/config: bank\n"));
  EXPECT_THAT(text,
              HasSubstr("keys a changed; the API server refuses that, since it is immutable"));
  EXPECT_THAT(text, HasSubstr("Left out: Deployment web is neither a ConfigMap nor a Secret\n"));
  EXPECT_THAT(text, HasSubstr("Nothing is rolled for namespace other: no\n"));
  EXPECT_THAT(text, HasSubstr("ClusterReloadPolicies may not be read"));
}

}  // namespace
}  // namespace kubexx::reloader
