// Tests the planner with sources of other namespaces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/plan/pair_memory.h"
#include "kubexx/reloader/plan/planner.h"
#include "kubexx/reloader/plan/strategy.h"

namespace kubexx::reloader {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const Digest kSharedOne = DigestOf("one");
const Digest kSharedTwo = DigestOf("two");
const SourceId kOfShared{SourceType::kConfigMap, {"app", "shared/config"}};
const SourceId kOwnConfig{SourceType::kConfigMap, {"app", "config"}};
constexpr std::uint64_t kFirstVersion = 5;

class PlannerForeignTest : public testing::TestWithParam<ReloadStrategy> {
 protected:
  /// A Deployment that names ConfigMap config of namespace "shared", and has one of that name
  /// itself.
  PlannerForeignTest() {
    web_.id = {WorkloadKind::kDeployment, {"app", "web"}};
    web_.uid = "uid-1";
    web_.annotations = {{"reloader.stakater.com/auto", "true"},
                        {std::string(kReloadOnOtherNamespaces), "ConfigMap/shared/config"}};
    web_.containers = {{.name = "app", .references = {{SourceType::kConfigMap, "config"}}}};
    rules_.by_variables = GetParam() == ReloadStrategy::kEnvVars;
    rules_.keys.other_namespaces = true;
    Put(kOwnConfig, kSharedOne, kFirstVersion);
    Put(kOfShared, kSharedOne, kFirstVersion);
  }
  void Put(const SourceId& id, const Digest& digest, std::uint64_t version) {
    sources_[id] = {.id = id, .digest = digest, .resource_version = version};
  }
  /// What the caches tell of a source that is not there, or does not allow the namespace.
  void Hide(const SourceId& id) { sources_[id] = {.id = id, .unknown = true}; }
  Plan Make(const Knowledge& known = {}) {
    const auto get = [this](const SourceId& id) {
      const auto found = sources_.find(id);
      return found == sources_.end() ? std::nullopt : std::optional(found->second);
    };
    const auto names = [](SourceType) { return std::vector<std::string>(); };
    return MakePlan(web_, SourceLookup{get, names}, known, rules_, patterns_);
  }
  void Record(const Plan& plan) {
    web_.annotations[std::string(kBaselineAnnotation)] = BaselineAfter(plan, plan.changes);
  }
  std::string Recorded() { return web_.annotations[std::string(kBaselineAnnotation)]; }

  Workload web_;
  std::map<SourceId, Source> sources_;
  DecisionRules rules_;
  PatternCache patterns_;
};

INSTANTIATE_TEST_SUITE_P(Both, PlannerForeignTest,
                         testing::Values(ReloadStrategy::kEnvVars, ReloadStrategy::kAnnotations));

TEST_P(PlannerForeignTest, AChangeRollsAndIsToldApartFromTheOwnSourceOfThatName) {
  Record(Make());
  EXPECT_EQ(Recorded(), "v1 uid-1 configmap/config=" + kSharedOne.ToString() +
                            " configmap/shared/config=" + kSharedOne.ToString());
  Put(kOfShared, kSharedTwo, 8);
  const Plan plan = Make();
  ASSERT_THAT(plan.changes, SizeIs(1));
  EXPECT_THAT(plan.changes[0].causes, ElementsAre(kOfShared));
  EXPECT_EQ(plan.changes[0].variable, "STAKATER_SHARED__CONFIG_CONFIGMAP");
  Record(plan);
  EXPECT_THAT(Make().changes, IsEmpty());
}

TEST_P(PlannerForeignTest, OneThatIsNotSeenRollsNothingWhateverIsSaidOfDeletions) {
  rules_.reload_on_create = true;
  rules_.reload_on_delete = true;
  Record(Make());
  const std::string before = Recorded();
  Hide(kOfShared);
  const Plan hidden = Make();
  EXPECT_THAT(hidden.changes, IsEmpty());
  EXPECT_FALSE(hidden.is_partly_unknown);
  EXPECT_THAT(hidden.bad_items, SizeIs(1));
  Record(hidden);
  EXPECT_EQ(Recorded(), before) << "what it had stays known";
  sources_.erase(kOfShared);
  const Plan gone = Make();
  EXPECT_THAT(gone.changes, IsEmpty());
  EXPECT_EQ(gone.bad_items, hidden.bad_items) << "nothing tells the two apart";
  Put(kOfShared, kSharedOne, 9);
  EXPECT_THAT(Make().changes, IsEmpty()) << "as before";
  Put(kOfShared, kSharedTwo, 9);
  EXPECT_THAT(Make().changes, SizeIs(1));
}

TEST_P(PlannerForeignTest, OneOfATypeThatIsIgnoredIsNotToldToAllowIt) {
  rules_.ignored_types = {SourceType::kSecret};
  web_.annotations[std::string(kReloadOnOtherNamespaces)] = "Secret/shared/db";
  Hide({SourceType::kSecret, {"app", "shared/db"}});
  EXPECT_THAT(Make().bad_items, IsEmpty()) << "that would not help";
}

TEST_P(PlannerForeignTest, OneThatIsSeenForTheFirstTimeRollsNothing) {
  rules_.reload_on_create = true;
  Hide(kOfShared);
  const Plan hidden = Make();
  Record(hidden);
  EXPECT_THAT(Recorded(), Not(HasSubstr("shared")));
  Put(kOfShared, kSharedTwo, 9);
  const Plan seen = Make({.pairs = {}});
  EXPECT_THAT(seen.changes, IsEmpty());
  Record(seen);
  EXPECT_THAT(Recorded(), HasSubstr("configmap/shared/config=" + kSharedTwo.ToString()));
}

TEST_P(PlannerForeignTest, OneThatIsNamedNoMoreRollsNothing) {
  Record(Make());
  web_.annotations.erase(std::string(kReloadOnOtherNamespaces));
  Put(kOfShared, kSharedTwo, 8);
  const Plan plan = Make();
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_THAT(plan.bad_items, IsEmpty());
}

TEST_P(PlannerForeignTest, AReplicaWithoutTheFlagKeepsWhatOthersHaveRecorded) {
  Record(Make());
  rules_.keys.other_namespaces = false;
  Put(kOfShared, kSharedTwo, 8);
  Put(kOwnConfig, kSharedTwo, 9);
  const Plan plan = Make();
  ASSERT_THAT(plan.changes, SizeIs(1));
  EXPECT_THAT(plan.changes[0].causes, ElementsAre(kOwnConfig));
  Record(plan);
  EXPECT_THAT(Recorded(), HasSubstr("configmap/shared/config=" + kSharedOne.ToString()));
  rules_.keys.other_namespaces = true;
  EXPECT_THAT(Make().changes, SizeIs(1)) << "it has not been missed";
}

TEST(LastReloadedFrom, NamesTheObjectOfTheOtherNamespace) {
  Workload web;
  web.id = {WorkloadKind::kDeployment, {"app", "web"}};
  web.annotations[std::string(kReloadOnOtherNamespaces)] = "ConfigMap/shared/config";
  const std::string text = LastReloadedFrom(kOfShared, kSharedOne, "app", {});
  EXPECT_THAT(text, HasSubstr(R"("name":"config")"));
  EXPECT_THAT(text, HasSubstr(R"("namespace":"shared")"));
  web.template_annotations[std::string(kLastReloadedFrom)] = text;
  const auto from = ParseReloadedFrom(web);
  ASSERT_TRUE(from);
  EXPECT_EQ(from->source, kOfShared);
}

}  // namespace
}  // namespace kubexx::reloader
