#include "kubexx/reloader/plan/decision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace kubexx::reloader {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kAuto[] = "reloader.stakater.com/auto";
constexpr char kConfigMapAuto[] = "configmap.reloader.stakater.com/auto";
constexpr char kSecretAuto[] = "secret.reloader.stakater.com/auto";
constexpr char kConfigMapList[] = "configmap.reloader.stakater.com/reload";
constexpr char kSecretList[] = "secret.reloader.stakater.com/reload";
constexpr char kSearch[] = "reloader.stakater.com/search";
constexpr char kConfigMapExclude[] = "configmaps.exclude.reloader.stakater.com/reload";
constexpr char kSecretExclude[] = "secrets.exclude.reloader.stakater.com/reload";

struct DecisionCase {
  std::string name{};
  Annotations annotations{};
  Annotations template_annotations{};
  SourceType type = SourceType::kConfigMap;
  std::string source = "app-config";
  bool ignore = false;
  bool match = false;
  bool auto_reload_all = false;
  Verdict want = Verdict::kNoRule;
};

class DecisionTable : public testing::TestWithParam<DecisionCase> {};

TEST_P(DecisionTable, DecidesAsTheOriginal) {
  const DecisionCase& c = GetParam();
  const Source source{{c.type, {"default", c.source}}, {}, c.ignore, c.match};
  Workload workload;
  workload.annotations = c.annotations;
  workload.template_annotations = c.template_annotations;
  DecisionRules rules;
  rules.auto_reload_all = c.auto_reload_all;
  PatternCache patterns;
  EXPECT_EQ(ToString(Decide(source, workload, rules, patterns)), ToString(c.want));
}

INSTANTIATE_TEST_SUITE_P(
    Auto, DecisionTable,
    testing::Values(
        DecisionCase{.name = "NothingSaid"},
        DecisionCase{.name = "AutoTrue", .annotations = {{kAuto, "true"}}, .want = Verdict::kAuto},
        DecisionCase{.name = "AutoOne", .annotations = {{kAuto, "1"}}, .want = Verdict::kAuto},
        DecisionCase{.name = "AutoT", .annotations = {{kAuto, "T"}}, .want = Verdict::kAuto},
        DecisionCase{.name = "AutoYesIsFalse", .annotations = {{kAuto, "yes"}}},
        DecisionCase{.name = "AutoTrUeIsFalse", .annotations = {{kAuto, "tRue"}}},
        DecisionCase{.name = "AutoWithSpaceIsFalse", .annotations = {{kAuto, " true"}}},
        DecisionCase{
            .name = "TypedAuto", .annotations = {{kConfigMapAuto, "true"}}, .want = Verdict::kAuto},
        DecisionCase{.name = "TypedAutoOfTheOtherType", .annotations = {{kSecretAuto, "true"}}},
        DecisionCase{.name = "TypedAutoForSecret",
                     .annotations = {{kSecretAuto, "true"}},
                     .type = SourceType::kSecret,
                     .want = Verdict::kAuto},
        DecisionCase{.name = "AutoFalseDoesNotStopTypedAuto",
                     .annotations = {{kAuto, "false"}, {kConfigMapAuto, "true"}},
                     .want = Verdict::kAuto},
        DecisionCase{.name = "IgnoredSource",
                     .annotations = {{kAuto, "true"}, {kConfigMapList, "app-config"}},
                     .ignore = true,
                     .want = Verdict::kIgnored},
        DecisionCase{.name = "All", .auto_reload_all = true, .want = Verdict::kAutoAll},
        DecisionCase{.name = "AllStoppedByAutoFalse",
                     .annotations = {{kAuto, "false"}},
                     .auto_reload_all = true},
        DecisionCase{.name = "AllNotStoppedByEmptyAuto",
                     .annotations = {{kAuto, ""}},
                     .auto_reload_all = true,
                     .want = Verdict::kAutoAll},
        DecisionCase{.name = "AllStoppedByTypedAutoFalse",
                     .annotations = {{kConfigMapAuto, "false"}},
                     .auto_reload_all = true},
        DecisionCase{.name = "AllNotStoppedByAList",
                     .annotations = {{kConfigMapList, "other"}},
                     .auto_reload_all = true,
                     .want = Verdict::kAutoAll}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Lists, DecisionTable,
    testing::Values(
        DecisionCase{.name = "Name",
                     .annotations = {{kConfigMapList, "app-config"}},
                     .want = Verdict::kExplicit},
        DecisionCase{.name = "OneOfSeveralTrimmed",
                     .annotations = {{kConfigMapList, "x , app-config\t,y"}},
                     .want = Verdict::kExplicit},
        DecisionCase{.name = "OtherName", .annotations = {{kConfigMapList, "app"}}},
        DecisionCase{.name = "ListOfTheOtherType", .annotations = {{kSecretList, "app-config"}}},
        DecisionCase{.name = "SecretList",
                     .annotations = {{kSecretList, "app-config"}},
                     .type = SourceType::kSecret,
                     .want = Verdict::kExplicit},
        DecisionCase{.name = "Expression",
                     .annotations = {{kConfigMapList, "app-.*"}},
                     .want = Verdict::kExplicit},
        DecisionCase{.name = "DotIsAnyByte",
                     .annotations = {{kConfigMapList, "app.config"}},
                     .want = Verdict::kExplicit},
        DecisionCase{.name = "AlternativesAreHalfAnchoredLeft",
                     .annotations = {{kConfigMapList, "app|zzz"}},
                     .want = Verdict::kExplicit},
        DecisionCase{.name = "AlternativesAreHalfAnchoredRight",
                     .annotations = {{kConfigMapList, "zzz|config"}},
                     .want = Verdict::kExplicit},
        DecisionCase{.name = "EmptyList", .annotations = {{kConfigMapList, ""}}},
        DecisionCase{.name = "ListBeatsAutoFalse",
                     .annotations = {{kAuto, "false"}, {kConfigMapList, "app-config"}},
                     .want = Verdict::kExplicit},
        DecisionCase{.name = "ListAndAuto",
                     .annotations = {{kAuto, "true"}, {kConfigMapList, "other"}},
                     .want = Verdict::kAuto},
        DecisionCase{
            .name = "ExcludeBeatsList",
            .annotations = {{kConfigMapExclude, "a, app-config "}, {kConfigMapList, "app-config"}},
            .want = Verdict::kExcluded},
        DecisionCase{.name = "ExcludeBeatsAuto",
                     .annotations = {{kConfigMapExclude, "app-config"}, {kAuto, "true"}},
                     .want = Verdict::kExcluded},
        DecisionCase{.name = "ExcludeBeatsAll",
                     .annotations = {{kConfigMapExclude, "app-config"}},
                     .auto_reload_all = true,
                     .want = Verdict::kExcluded},
        DecisionCase{.name = "ExcludeIsNoExpression",
                     .annotations = {{kConfigMapExclude, "app-.*"}, {kAuto, "true"}},
                     .want = Verdict::kAuto},
        DecisionCase{.name = "ExcludeOfTheOtherType",
                     .annotations = {{kSecretExclude, "app-config"}, {kAuto, "true"}},
                     .want = Verdict::kAuto}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    SearchAndTemplate, DecisionTable,
    testing::Values(
        DecisionCase{.name = "SearchAndMatch",
                     .annotations = {{kSearch, "true"}},
                     .match = true,
                     .want = Verdict::kSearch},
        DecisionCase{.name = "SearchWithoutMatch", .annotations = {{kSearch, "true"}}},
        DecisionCase{.name = "MatchWithoutSearch", .match = true},
        DecisionCase{.name = "SearchIsExact", .annotations = {{kSearch, "1"}}, .match = true},
        DecisionCase{.name = "SearchDespiteAutoFalse",
                     .annotations = {{kSearch, "true"}, {kAuto, "false"}},
                     .match = true,
                     .want = Verdict::kSearch},
        DecisionCase{
            .name = "Template", .template_annotations = {{kAuto, "true"}}, .want = Verdict::kAuto},
        DecisionCase{.name = "TemplateList",
                     .template_annotations = {{kConfigMapList, "app-config"}},
                     .want = Verdict::kExplicit},
        DecisionCase{.name = "TemplateNotReadWhenTheWorkloadSaysSomething",
                     .annotations = {{kSearch, "whatever"}},
                     .template_annotations = {{kAuto, "true"}}},
        DecisionCase{.name = "TemplateReadWhenTheWorkloadSpeaksOfTheOtherType",
                     .annotations = {{kSecretList, "x"}},
                     .template_annotations = {{kConfigMapAuto, "true"}},
                     .want = Verdict::kAuto},
        DecisionCase{.name = "TemplateReadWhenTheWorkloadOnlyExcludes",
                     .annotations = {{kConfigMapExclude, "x"}},
                     .template_annotations = {{kAuto, "true"}},
                     .want = Verdict::kAuto},
        DecisionCase{.name = "ExcludeIsNotReadFromTheTemplate",
                     .template_annotations = {{kAuto, "true"}, {kConfigMapExclude, "app-config"}},
                     .want = Verdict::kAuto},
        DecisionCase{.name = "TemplateAutoFalseStopsAll",
                     .template_annotations = {{kAuto, "false"}},
                     .auto_reload_all = true}),
    [](const auto& row) { return row.param.name; });

TEST(Decision, SkipsBadItemsAndReportsThem) {
  const Source source{{SourceType::kConfigMap, {"default", "app"}}, {}, false, false};
  Workload workload;
  workload.annotations = {{kConfigMapList, "a(,[,app"}};
  PatternCache patterns;
  EXPECT_EQ(Decide(source, workload, {}, patterns), Verdict::kExplicit);
  EXPECT_THAT(
      patterns.Get("a(,[,app")->bad_items(),
      ElementsAre(testing::Field(&BadItem::item, "a("), testing::Field(&BadItem::item, "[")));
}

TEST(Decision, HonoursRenamedKeys) {
  const Source source{{SourceType::kSecret, {"default", "app"}}, {}, false, false};
  Workload workload;
  workload.annotations = {{"example.com/secrets", "app"}};
  DecisionRules rules;
  rules.keys.secret_reload = "example.com/secrets";
  PatternCache patterns;
  EXPECT_EQ(Decide(source, workload, rules, patterns), Verdict::kExplicit);
}

TEST(Decision, SurvivesAnyList) {
  std::mt19937 random(42);
  static constexpr std::string_view kAlphabet = "ab-.*+?()[]{}|^$\\,1 \x80\xff";
  PatternCache patterns(1 << 20);
  for (int round = 0; round < 3000; ++round) {
    std::string list(random() % 24, ' ');
    for (char& c : list) {
      c = kAlphabet[random() % kAlphabet.size()];
    }
    const Source source{{SourceType::kConfigMap, {"default", "ab"}}, {}, false, false};
    Workload workload;
    workload.annotations = {{kConfigMapList, list}};
    const Verdict verdict = Decide(source, workload, {}, patterns);
    EXPECT_TRUE(verdict == Verdict::kExplicit || verdict == Verdict::kNoRule) << list;
    EXPECT_LE(patterns.bytes(), std::size_t{1} << 20);
  }
}

TEST(BadValues, AreNamesThatSomebodyHasMistyped) {
  Workload workload;
  workload.annotations = {{"reloader.kubexx.io/pasued", "true"},
                          {"reloader.kubexx.io/paused", "true"},
                          {"reloader.kubexx.io/something-else", "x"}};
  const auto bad = BadValues(workload, {});
  ASSERT_EQ(bad.size(), 1U);
  EXPECT_EQ(bad[0].item, "annotation reloader.kubexx.io/pasued");
  EXPECT_EQ(bad[0].error,
            "there is no such annotation; it may be meant as reloader.kubexx.io/paused");
  EXPECT_EQ(bad[0].what, BadItem::What::kName);
}

TEST(BadValues, AreThoseThatAreNeitherYesNorNo) {
  const AnnotationKeys keys;
  Workload workload;
  workload.annotations = {{keys.auto_reload, "yes"},
                          {std::string(kRecordBaseline), "maybe"},
                          {keys.TypedAuto(SourceType::kSecret), "True"},
                          {keys.search, "false"}};
  EXPECT_THAT(
      BadValues(workload, {.keys = keys}),
      ElementsAre(testing::Field(&BadItem::item, "reloader.stakater.com/auto: \"yes\""),
                  testing::Field(&BadItem::item, "reloader.kubexx.io/record-baseline: \"maybe\"")))
      << "each once";
  workload.annotations = {{keys.search, "True"}, {std::string(kRecordBaseline), "False"}};
  EXPECT_EQ(BadValues(workload, {.keys = keys}).size(), 2U) << "these have no effect";
  workload.annotations = {{"reloader.kubexx.io/canary", "yes"}};
  EXPECT_EQ(BadValues(workload, {.keys = keys}).size(), 1U);
  workload.annotations = {{"reloader.kubexx.io/canary", "false"}};
  EXPECT_THAT(BadValues(workload, {.keys = keys}), IsEmpty());
  workload.annotations = {{keys.auto_reload, ""}, {std::string(kRecordBaseline), "true"}};
  workload.template_annotations = {{keys.search, "yes"}};
  EXPECT_THAT(BadValues(workload, {.keys = keys}), IsEmpty())
      << "those of the template do not count";
  workload.annotations.clear();
  EXPECT_EQ(BadValues(workload, {.keys = keys}).size(), 1U);
}

}  // namespace
}  // namespace kubexx::reloader
