#include "kubexx/reloader/watch/provider_classes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubexx/reloader/model/projection.h"
#include "kubexx/reloader/plan/planner.h"

namespace kubexx::reloader {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const SourceId kVault{SourceType::kSecretProviderClass, {"ns", "vault"}};
const Digest kOldParameters = DigestOf("old");
const Digest kNewParameters = DigestOf("new");
const Digest kNewer = DigestOf("newer");

cache::Object PodStatus(const std::string& status, int generation = 1) {
  cache::Object object{.encoding = codec::Encoding::kJson,
                       .bytes = R"({"metadata":{"namespace":"ns","name":"pod","generation":)" +
                                std::to_string(generation) + R"(},"status":)" + status + "}",
                       .key = {"ns", "pod"},
                       .resource_version = "17"};
  EXPECT_TRUE(ProjectPodStatus(object));
  return object;
}

TEST(PodReport, IsTheDigestOfIdsVersionsAndTheName) {
  const std::string status =
      R"({"secretProviderClassName":"vault","podName":"p","objects":[{"id":"b","version":"2"},)"
      R"({"id":"a","version":"1"}]})";
  const auto report = PodReportFrom(PodStatus(status));
  ASSERT_TRUE(report && *report);
  EXPECT_EQ(**report, (PodReport{.source = kVault,
                                 .digest = DigestOf("SecretProviderClassName=vault;a=1;b=2"),
                                 .version = 17}));
  EXPECT_TRUE((*PodReportFrom(PodStatus(status, 2)))->updated);
}

TEST(PodReport, IsNoneBeforeThePodHasAny) {
  for (const char* status : {"{}", R"({"secretProviderClassName":"vault"})",
                             R"({"secretProviderClassName":"vault","objects":null})",
                             R"({"objects":[{"id":"a","version":"1"}]})", "[]"}) {
    const auto report = PodReportFrom(PodStatus(status));
    ASSERT_TRUE(report) << status;
    EXPECT_FALSE(*report) << status;
  }
}

TEST(PodReport, RefusesWhatIsNoJson) {
  cache::Object object{.encoding = codec::Encoding::kJson, .bytes = "{"};
  EXPECT_FALSE(ProjectPodStatus(object));
  object = {.encoding = codec::Encoding::kProtobuf, .bytes = "x"};
  EXPECT_FALSE(ProjectPodStatus(object));
}

TEST(ProviderClass, KeepsItsAnnotations) {
  cache::Object object{.encoding = codec::Encoding::kJson,
                       .bytes = R"({"metadata":{"namespace":"ns","name":"vault","annotations":{)"
                                R"("reloader.stakater.com/match":"true","other":"true",)"
                                R"("reloader.kubexx.io/paused":"true"}},"spec":{"parameters":{}}})",
                       .key = kVault.key};
  ASSERT_TRUE(ProjectProviderClass({}, object));
  const auto source = ProviderClassFrom(object);
  ASSERT_TRUE(source);
  EXPECT_EQ(source->id, kVault);
  EXPECT_TRUE(source->match);
  EXPECT_TRUE(source->paused);
  EXPECT_FALSE(source->ignore);
}

class ProviderClassesTest : public testing::Test {
 protected:
  bool Starts(const Digest& digest, std::uint64_t version) {
    return classes_.Observe({.source = kVault, .digest = digest, .version = version});
  }
  bool Changes(const Digest& digest, std::uint64_t version) {
    return classes_.Observe(
        {.source = kVault, .digest = digest, .updated = true, .version = version});
  }
  /// Whether a workload that runs with `known`, according to its baseline, is rolled.
  bool Rolls(const Digest& known) {
    workload_.annotations[std::string(kBaselineAnnotation)] =
        Baseline{.uid = "u", .digests = {{kVault, known}}}.ToString();
    return !MakePlanNow().changes.empty();
  }
  Plan MakePlanNow(const Knowledge& known = {}) {
    PatternCache patterns;
    return MakePlan(workload_,
                    SourceLookup{[this](const SourceId& id) { return classes_.Get(id); },
                                 [](SourceType) { return std::vector<std::string>(); }},
                    known, rules_, patterns);
  }

  ProviderClasses classes_;
  DecisionRules rules_;
  Workload workload_{.id = {WorkloadKind::kDeployment, {"ns", "web"}},
                     .uid = "u",
                     .annotations = {{"secretproviderclass.reloader.stakater.com/auto", "true"}},
                     .volumes = {{"v", {{SourceType::kSecretProviderClass, "vault"}}}},
                     .containers = {{.name = "app", .mounts = {"v"}}}};
};

TEST_F(ProviderClassesTest, AChangeOfOnePodRollsOnceHoweverManyPodsFollow) {
  EXPECT_TRUE(Starts(kOldParameters, 1));
  EXPECT_FALSE(Starts(kOldParameters, 2));
  EXPECT_FALSE(Rolls(kOldParameters));
  EXPECT_TRUE(Changes(kNewParameters, 3));
  EXPECT_TRUE(Rolls(kOldParameters));
  EXPECT_FALSE(Rolls(kNewParameters));
  EXPECT_FALSE(Changes(kNewParameters, 4)) << "the other pod";
  EXPECT_FALSE(Starts(kNewParameters, 5)) << "the pods of the rollout";
  EXPECT_FALSE(Starts(kOldParameters, 2)) << "a pod that has not been told yet";
  EXPECT_FALSE(Rolls(kNewParameters));
}

TEST_F(ProviderClassesTest, PodsThatComeWithSomethingNewerRollNothing) {
  Starts(kOldParameters, 1);
  EXPECT_TRUE(Starts(kNewParameters, 2));
  EXPECT_FALSE(Rolls(kOldParameters));
  EXPECT_FALSE(Rolls(kNewParameters));
  Changes(kOldParameters, 3);
  EXPECT_TRUE(Starts(kNewParameters, 4));
  EXPECT_FALSE(Rolls(kOldParameters));
  EXPECT_FALSE(Rolls(kNewParameters));
  EXPECT_TRUE(Rolls(kNewer));
  EXPECT_TRUE(Changes(kNewParameters, 5)) << "now the old one is history";
  EXPECT_TRUE(Rolls(kOldParameters));
}

// Seed 5273 of the simulation: somebody undoes a rollout after a rotation and before its event.
TEST_F(ProviderClassesTest, PodsThatBeginAfterARotationHaveIt) {
  Starts(kOldParameters, 1);
  EXPECT_EQ(classes_.Get(kVault)->resource_version, 0U);
  Changes(kNewParameters, 5);
  Starts(kNewer, 7);
  EXPECT_EQ(classes_.Get(kVault)->resource_version, 5U) << "pods that begin are not a change";
  const PairState had{.kind = PairState::Kind::kConfirmed, .digest = kOldParameters};
  workload_.annotations[std::string(kBaselineAnnotation)] =
      Baseline{.uid = "u", .digests = {{kVault, kOldParameters}}}.ToString();
  workload_.baseline_restored = apimachinery::Time{.seconds = 100};
  const Plan undone = MakePlanNow({.pairs = {{kVault, had}}, .template_since = 6});
  EXPECT_THAT(undone.changes, IsEmpty());
  EXPECT_TRUE(undone.record);
  EXPECT_NE(undone.baseline.digests.at(kVault), kOldParameters);
  EXPECT_EQ(MakePlanNow({.pairs = {{kVault, had}}, .template_since = 4}).changes.size(), 1U)
      << "those that began before it were told of it, or will be";
}

TEST_F(ProviderClassesTest, WithoutAnyChangeWhatPodsHaveBecomesTheBaseline) {
  Starts(kNewParameters, 1);
  workload_.annotations[std::string(kBaselineAnnotation)] =
      Baseline{.uid = "u", .digests = {{kVault, kOldParameters}}}.ToString();
  const Plan plan = MakePlanNow();
  EXPECT_THAT(plan.changes, IsEmpty()) << "the pods have been replaced by somebody else";
  EXPECT_TRUE(plan.record);
  EXPECT_EQ(plan.baseline.digests.at(kVault), kNewParameters);
}

TEST_F(ProviderClassesTest, AFirstSightRollsNothingWhateverTheFlags) {
  rules_.reload_on_create = true;
  rules_.reload_on_delete = true;
  rules_.sync_after_restart = true;
  EXPECT_THAT(MakePlanNow({.is_unplanned = true}).changes, IsEmpty());
  EXPECT_THAT(MakePlanNow().baseline.digests, IsEmpty()) << "nobody has reported it";
  Changes(kNewParameters, 1);
  EXPECT_THAT(MakePlanNow({.is_unplanned = true}).changes, IsEmpty());
}

TEST_F(ProviderClassesTest, WhatIsRecordedStaysWhileNobodyReports) {
  workload_.annotations[std::string(kBaselineAnnotation)] =
      Baseline{.uid = "u", .digests = {{kVault, kOldParameters}}}.ToString();
  rules_.reload_on_delete = true;
  const Plan plan = MakePlanNow();
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_FALSE(plan.record);
  EXPECT_EQ(plan.baseline.digests.at(kVault), kOldParameters);
}

TEST_F(ProviderClassesTest, AnObservedChangeRollsWithReloadersVariable) {
  Starts(kOldParameters, 1);
  Changes(kNewParameters, 2);
  const Plan plan =
      MakePlanNow({.pairs = {{kVault, {PairState::Kind::kObserved, kOldParameters}}}});
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_EQ(plan.changes[0].variable, "STAKATER_VAULT_SECRETPROVIDERCLASS");
  EXPECT_EQ(plan.changes[0].value, kNewParameters.ToString());
}

TEST_F(ProviderClassesTest, AVariableOfReloaderIsHonoured) {
  Starts(kOldParameters, 1);
  Changes(kNewParameters, 2);
  workload_.containers[0].variables = {
      {"STAKATER_VAULT_SECRETPROVIDERCLASS", kNewParameters.ToString()}};
  EXPECT_THAT(MakePlanNow().changes, IsEmpty());
  workload_.containers[0].variables = {
      {"STAKATER_VAULT_SECRETPROVIDERCLASS", kOldParameters.ToString()}};
  EXPECT_EQ(MakePlanNow().changes.size(), 1U);
}

TEST_F(ProviderClassesTest, ListsByNamespaceAndForgets) {
  Starts(kOldParameters, 1);
  classes_.Observe({.source = {SourceType::kSecretProviderClass, {"other", "x"}}, .version = 1});
  EXPECT_THAT(classes_.Names("ns"), ElementsAre("vault"));
  classes_.Forget(kVault);
  EXPECT_THAT(classes_.Names("ns"), IsEmpty());
  EXPECT_FALSE(classes_.Get(kVault));
}

TEST_F(ProviderClassesTest, IsBounded) {
  Changes(kOldParameters, 1);
  for (std::uint64_t i = 2; i < 100; ++i) {
    Starts(DigestOf(std::to_string(i)), i);
  }
  EXPECT_EQ(classes_.Get(kVault)->current.size(), ProviderClasses::kMaxDigests);
  EXPECT_EQ(classes_.Get(kVault)->current.front(), kOldParameters);
}

}  // namespace
}  // namespace kubexx::reloader
