#include "kubexx/reloadpolicy/policy.h"

#include <gmock/gmock.h>

#include <string>

#include "kubexx/codec/codec.h"
#include "kubexx/reloadpolicy/policy_set.h"

namespace kubexx::reloadpolicy {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

v1alpha1::ReloadPolicy Namespaced(const std::string& spec, const std::string& name = "p") {
  auto object =
      codec::DecodeJson<v1alpha1::ReloadPolicy>(R"({"metadata":{"namespace":"shop","name":")" +
                                                name + R"(","generation":3},"spec":)" + spec + "}");
  EXPECT_TRUE(object) << (object ? "" : object.error().message);
  return object ? *object : v1alpha1::ReloadPolicy();
}

v1alpha1::ClusterReloadPolicy OfCluster(const std::string& spec, const std::string& name = "c") {
  auto object = codec::DecodeJson<v1alpha1::ClusterReloadPolicy>(R"({"metadata":{"name":")" + name +
                                                                 R"("},"spec":)" + spec + "}");
  EXPECT_TRUE(object) << (object ? "" : object.error().message);
  return object ? *object : v1alpha1::ClusterReloadPolicy();
}

TEST(Policy, ReadsWaves) {
  const Policy policy = PolicyFrom(Namespaced(R"({"waves": {
    "canaries": ["canary-*"], "sizes": [{"count": 5}, {"percent": 20}],
    "healthyFor": "2m", "timeout": "5m"}})"));
  EXPECT_THAT(policy.problems, IsEmpty());
  ASSERT_TRUE(policy.settings.waves);
  EXPECT_EQ(*policy.settings.waves, (Waves{.canaries = {"canary-*"},
                                           .sizes = {{.count = 5}, {.percent = 20}},
                                           .healthy_for = 2min,
                                           .timeout = 5min}));
  EXPECT_EQ(policy.settings.waves->ToString(),
            "canaries, 5, 20%, then the rest, each healthy for 2m0s");
  const Policy of_cluster = PolicyFrom(OfCluster(R"({"waves": {"sizes": [{"count": 1}]}})"));
  EXPECT_EQ(*of_cluster.settings.waves, (Waves{.sizes = {{.count = 1}}, .healthy_for = 1min}));
}

TEST(Policy, WavesThatCannotBeReadLetOneWorkloadGoAtFirst) {
  const Policy policy = PolicyFrom(Namespaced(R"({"waves": {
    "sizes": [{"count": 0}, {"percent": 101}, {"count": 1, "percent": 1}, {}],
    "healthyFor": "2h", "timeout": "soon"}})"));
  EXPECT_THAT(policy.problems,
              ElementsAre(HasSubstr("spec.waves.sizes[0]: 0 is not between 1 and 1000000"),
                          HasSubstr("spec.waves.sizes[1]: 101 is not between 1 and 100"),
                          HasSubstr("spec.waves.sizes[2]: must have either"),
                          HasSubstr("spec.waves.sizes[3]: must have either"),
                          HasSubstr("spec.waves: has no canaries and no sizes that can be read"),
                          HasSubstr("spec.waves.healthyFor"), HasSubstr("spec.waves.timeout")));
  EXPECT_EQ(*policy.settings.waves, (Waves{.sizes = {{.count = 1}}}));
}

TEST(Policy, WavesThatNameNothingBeginWithOneWorkload) {
  for (const char* waves : {"{}", R"({"sizes": [], "canaries": []})", R"({"timeout": "5m"})"}) {
    const Policy policy = PolicyFrom(Namespaced(R"({"waves": )" + std::string(waves) + "}"));
    EXPECT_THAT(policy.problems, IsEmpty()) << waves;
    EXPECT_THAT(policy.settings.waves.value().sizes, ElementsAre(WaveSize{.count = 1}));
  }
}

TEST(Policy, ReadsWhatWavesDoWhenARolloutFails) {
  const Policy policy = PolicyFrom(Namespaced(R"({"waves": {
    "sizes": [{"count": 1}], "onFailure": "Restore", "restoreSecrets": ["password"]}})"));
  EXPECT_THAT(policy.problems, IsEmpty());
  EXPECT_EQ(*policy.settings.waves, (Waves{.sizes = {{.count = 1}},
                                           .on_failure = OnWaveFailure::kRestore,
                                           .restore_secrets = {"password"}}));
  EXPECT_EQ(policy.settings.waves->ToString(), "1, then the rest, each healthy for 1m0s, restores");
  const Policy holds =
      PolicyFrom(OfCluster(R"({"waves": {"sizes": [{"count": 1}], "onFailure": "Hold"}})"));
  EXPECT_THAT(holds.problems, IsEmpty());
  EXPECT_FALSE(holds.settings.waves->Restores());
}

TEST(Policy, WhatWavesDoWhenARolloutFailsIsHoldWhereItCannotBeRead) {
  const Policy policy = PolicyFrom(Namespaced(R"({"waves": {
    "sizes": [{"count": 1}], "onFailure": "restore", "restoreSecrets": ["password"]}})"));
  EXPECT_THAT(policy.problems,
              ElementsAre("spec.waves.onFailure: \"restore\" is neither Hold nor Restore, so it is "
                          "Hold",
                          "spec.waves.restoreSecrets: has no effect without onFailure Restore"));
  EXPECT_EQ(*policy.settings.waves, (Waves{.sizes = {{.count = 1}}}));
}

TEST(Policy, ReadsEveryField) {
  const Policy policy = PolicyFrom(Namespaced(R"({
    "workloads": {"kinds": ["Deployment"], "names": ["web-*"]},
    "paused": true, "settleWindow": "5s", "minInterval": "10m", "maxConcurrentRollouts": 2,
    "healthGate": {"timeout": "3m"}, "stopAfterFailures": 4,
    "maintenanceWindows": [{"schedule": "0 2 * * *", "duration": "2h", "timeZone": "Europe/Berlin"}],
    "order": [{"workloads": ["db"], "order": 1}],
    "sources": [{"kind": "ConfigMap", "name": "c", "keys": ["b", "a"], "paused": true}]})"));
  EXPECT_THAT(policy.problems, IsEmpty());
  EXPECT_EQ(policy.id, (PolicyId{"shop", "p"}));
  EXPECT_EQ(policy.generation, 3);
  EXPECT_EQ(policy.ToString(), "ReloadPolicy shop/p");
  EXPECT_EQ(policy.settings.paused, true);
  EXPECT_EQ(policy.settings.settle_window, base::Duration(5s));
  EXPECT_EQ(policy.settings.min_interval, base::Duration(10min));
  EXPECT_EQ(policy.settings.max_in_namespace, 2);
  EXPECT_EQ(policy.settings.max_in_cluster, std::nullopt);
  EXPECT_EQ(policy.settings.health_gate, true);
  EXPECT_EQ(policy.settings.health_timeout, base::Duration(3min));
  EXPECT_EQ(policy.settings.stop_after_failures, 4);
  EXPECT_EQ(policy.settings.windows, *MaintenanceWindow::ParseList("0 2 * * * 2h Europe/Berlin"));
  ASSERT_EQ(policy.order.size(), 1U);
  ASSERT_EQ(policy.sources.size(), 1U);
  EXPECT_TRUE(policy.sources[0].paused);
  EXPECT_EQ(policy.sources[0].keys, "a,b");
  EXPECT_TRUE(policy.Governs({"Deployment", {"shop", "web-1"}}));
  EXPECT_FALSE(policy.Governs({"Deployment", {"shop", "api"}}));
  EXPECT_FALSE(policy.Governs({"DaemonSet", {"shop", "web-1"}}));
  EXPECT_FALSE(policy.Governs({"Deployment", {"other", "web-1"}}));
}

TEST(Policy, OfTheClusterSelectsNamespaces) {
  const Policy policy = PolicyFrom(OfCluster(R"({
    "namespaces": ["team-*"], "excludedNamespaces": ["team-x"],
    "maxConcurrentRollouts": 9, "maxConcurrentRolloutsPerNamespace": 3})"));
  EXPECT_EQ(policy.ToString(), "ClusterReloadPolicy c");
  EXPECT_EQ(policy.settings.max_in_cluster, 9);
  EXPECT_EQ(policy.settings.max_in_namespace, 3);
  EXPECT_TRUE(policy.InScope("team-a"));
  EXPECT_FALSE(policy.InScope("team-x"));
  EXPECT_FALSE(policy.InScope("other"));
}

TEST(Policy, KeepsWhatIsReadableAndSaysWhatIsNot) {
  const Policy policy = PolicyFrom(Namespaced(R"({
    "settleWindow": "soon", "minInterval": "5m", "maxConcurrentRollouts": 0,
    "stopAfterFailures": -1, "healthGate": {"timeout": "1ms"},
    "maintenanceWindows": [{"schedule": "61 * * * *", "duration": "2h"}],
    "order": [{"workloads": ["a"], "order": -5}],
    "sources": [{"kind": "Pod", "name": "x"}]})"));
  EXPECT_THAT(policy.problems,
              ::testing::UnorderedElementsAre(
                  HasSubstr("spec.settleWindow: \"soon\" is not a duration between 0s and 1h0m0s"),
                  HasSubstr("spec.maxConcurrentRollouts: 0"),
                  HasSubstr("spec.stopAfterFailures: -1"), HasSubstr("spec.healthGate.timeout"),
                  HasSubstr("spec.maintenanceWindows[0]: schedule: the minute field"),
                  HasSubstr("spec.maintenanceWindows: none can be read, so ALL rollouts"),
                  HasSubstr("spec.order: -5"), HasSubstr("spec.sources: \"Pod\"")));
  EXPECT_EQ(policy.settings.min_interval, base::Duration(5min));
  EXPECT_EQ(policy.settings.settle_window, std::nullopt);
  ASSERT_TRUE(policy.settings.windows) << "windows were wanted: rollouts wait";
  EXPECT_THAT(*policy.settings.windows, IsEmpty());
}

TEST(Annotations, AreReadByName) {
  std::vector<std::string> problems;
  const Settings settings =
      SettingsFromAnnotations({{"other.io/paused", "x"},
                               {"reloader.kubexx.io/paused", "true"},
                               {"reloader.kubexx.io/settle-window", "2s"},
                               {"reloader.kubexx.io/min-interval", "1h"},
                               {"reloader.kubexx.io/health-timeout", "90s"},
                               {"reloader.kubexx.io/maintenance-windows", "@daily 1h"},
                               {"reloader.kubexx.io/order", "7"},
                               {"reloader.kubexx.io/last-rollout", "2026-11-21T00:00:00Z"}},
                              problems);
  EXPECT_THAT(problems, IsEmpty());
  const Settings expected{.paused = true,
                          .settle_window = 2s,
                          .min_interval = 1h,
                          .health_timeout = 90s,
                          .windows = *MaintenanceWindow::ParseList("@daily 1h"),
                          .order = 7};
  EXPECT_EQ(settings, expected);
}

TEST(Annotations, BadOnesAreNamedAndDoNotCount) {
  std::vector<std::string> problems;
  std::vector<std::string> brakes;
  const Settings settings =
      SettingsFromAnnotations({{"reloader.kubexx.io/paused", "yes"},
                               {"reloader.kubexx.io/settle-window", "-1s"},
                               {"reloader.kubexx.io/order", "1e3"},
                               {"reloader.kubexx.io/maintenance-windows", "x"}},
                              problems, &brakes);
  EXPECT_EQ(settings, Settings());
  EXPECT_THAT(problems, ElementsAre(HasSubstr("reloader.kubexx.io/settle-window: ")));
  EXPECT_THAT(brakes, ElementsAre(HasSubstr("reloader.kubexx.io/maintenance-windows: "),
                                  HasSubstr("reloader.kubexx.io/order: \"1e3\" is not a number"),
                                  HasSubstr("reloader.kubexx.io/paused: \"yes\" is neither true")));
}

TEST(Annotations, AnImpossibleTimeOfTheLastRolloutIsNone) {
  for (const char* text : {"", "yesterday", "9999-12-31T00:00:00Z", "0001-01-01T00:00:00Z"}) {
    EXPECT_EQ(LastRolloutOf({{std::string(kLastRolloutAnnotation), text}}), std::nullopt) << text;
  }
  EXPECT_NE(LastRolloutOf({{std::string(kLastRolloutAnnotation), "2026-11-21T00:00:00Z"}}),
            std::nullopt);
}

TEST(PolicySet, EachSettingComesFromTheMostSpecificPlace) {
  PolicySet set(Settings{.paused = false, .settle_window = 1s, .max_in_cluster = 7});
  set.Set(PolicyFrom(OfCluster(R"({"settleWindow": "2s", "minInterval": "2m"})")));
  set.Set(PolicyFrom(Namespaced(R"({"minInterval": "4m"})", "b")));
  set.Set(PolicyFrom(Namespaced(R"({"minInterval": "3m"})", "a")));
  const ObjectRef web{"Deployment", {"shop", "web"}};
  const Effective effective = set.Resolve(web, {});
  EXPECT_EQ(effective.paused->origin, "flag");
  EXPECT_EQ(effective.max_in_cluster->value, 7);
  EXPECT_EQ(effective.settle_window->value, base::Duration(2s));
  EXPECT_EQ(effective.settle_window->origin, "ClusterReloadPolicy c");
  EXPECT_EQ(effective.min_interval->value, base::Duration(3min));
  EXPECT_EQ(effective.min_interval->origin, "ReloadPolicy shop/a");
  const Effective annotated = set.Resolve(web, {{"reloader.kubexx.io/min-interval", "1m"}});
  EXPECT_EQ(annotated.min_interval->value, base::Duration(1min));
  EXPECT_EQ(annotated.min_interval->origin, "annotation reloader.kubexx.io/min-interval");
  EXPECT_EQ(set.Resolve({"Deployment", {"other", "web"}}, {}).min_interval->value,
            base::Duration(2min));
}

TEST(PolicySet, KnowsSettingsThatHaveNoEffectBesideThoseOfAnEarlierPolicy) {
  PolicySet set;
  const auto overruled = [&](const std::string& name) {
    return set.Overruled(*set.Find({"shop", name}));
  };
  set.Set(PolicyFrom(Namespaced(R"({"paused": false, "minInterval": "2m"})", "a")));
  set.Set(PolicyFrom(Namespaced(R"({"paused": true, "settleWindow": "3s"})", "b")));
  set.Set(PolicyFrom(Namespaced(R"({"paused": true, "settleWindow": "4s"})", "c")));
  EXPECT_THAT(overruled("a"), IsEmpty());
  EXPECT_THAT(overruled("b"), ElementsAre("paused (ReloadPolicy shop/a)"));
  EXPECT_THAT(overruled("c"),
              ElementsAre("paused (ReloadPolicy shop/a)", "settleWindow (ReloadPolicy shop/b)"));
  set.Set(PolicyFrom(Namespaced(R"({"paused": false, "workloads": {"names": ["web"]}})", "a")));
  EXPECT_THAT(overruled("b"), IsEmpty()) << "it counts for the others";
  set.Set(PolicyFrom(Namespaced(R"({"paused": true, "workloads": {"names": ["web"]}})", "b")));
  EXPECT_THAT(overruled("b"), ElementsAre("paused (ReloadPolicy shop/a)"));
}

TEST(PolicySet, AFlagThatStopsAllStopsThoseWhoAreExemptFromPausesToo) {
  PolicySet set(Settings{.paused = true});
  set.Set(PolicyFrom(Namespaced(R"({"paused": false})", "hasty")));
  const ObjectRef web{"Deployment", {"shop", "web"}};
  EXPECT_TRUE(set.Resolve(web, {}).paused->value);
  EXPECT_TRUE(set.Resolve(web, {{"reloader.kubexx.io/paused", "false"}}).paused->value);
}

TEST(PolicySet, WhatIsEnforcedMayBeStricterAndNoLaxer) {
  PolicySet set(Settings{.min_interval = 9h, .max_in_namespace = 1});
  set.Set(PolicyFrom(OfCluster(R"({"minInterval": "5h", "settleWindow": "7s"})")));  // named c
  v1alpha1::ClusterReloadPolicy platform = OfCluster(
      R"({"enforce": true, "paused": false, "minInterval": "1h", "maxConcurrentRolloutsPerNamespace": 2,
          "healthGate": {"timeout": "5m", "soakTime": "30s"}, "stopAfterFailures": 3,
          "maintenanceWindows": [{"schedule": "0 2 * * *", "duration": "3h"}],
          "order": [{"workloads": ["web"], "order": 4}]})");
  platform.metadata.name = "platform";
  set.Set(PolicyFrom(platform));
  const ObjectRef web{"Deployment", {"shop", "web"}};

  const Effective untold = set.Resolve(web, {});
  EXPECT_EQ(untold.min_interval->value, base::Duration(1h)) << "before the others' and the flags'";
  EXPECT_EQ(untold.min_interval->origin, "ClusterReloadPolicy platform, enforced");
  EXPECT_EQ(untold.max_in_namespace->value, 2);
  EXPECT_EQ(untold.settle_window->value, base::Duration(7s));
  EXPECT_EQ(untold.windows.size(), 1U);
  EXPECT_THAT(untold.refused, ElementsAre());

  set.Set(PolicyFrom(Namespaced(
      R"({"paused": true, "minInterval": "1s", "maxConcurrentRollouts": 50, "stopAfterFailures": 9,
          "healthGate": {"enabled": false, "timeout": "1h", "soakTime": "1m"},
          "maintenanceWindows": [{"schedule": "0 4 * * *", "duration": "3h"}]})",
      "gentle")));
  const Effective laxer = set.Resolve(
      web, {{"reloader.kubexx.io/order", "0"}, {"reloader.kubexx.io/health-timeout", "2m"}});
  EXPECT_TRUE(laxer.paused->value) << "stricter";
  EXPECT_EQ(laxer.min_interval->value, base::Duration(1h));
  EXPECT_EQ(laxer.max_in_namespace->value, 2);
  EXPECT_TRUE(laxer.health_gate->value);
  EXPECT_EQ(laxer.HealthTimeout(), base::Duration(2min));
  EXPECT_EQ(laxer.SoakTime(), base::Duration(1min));
  EXPECT_EQ(laxer.Order(), 4);
  EXPECT_EQ(laxer.stop_after_failures.size(), 2U) << "each on its own";
  EXPECT_EQ(laxer.windows.size(), 2U) << "both must be open";
  EXPECT_THAT(
      laxer.refused,
      ElementsAre("ReloadPolicy shop/gentle asks for minInterval 1s; ClusterReloadPolicy platform, "
                  "enforced: 1h0m0s",
                  HasSubstr("maxConcurrentRollouts 50; "), HasSubstr("healthGate false; "),
                  "annotation reloader.kubexx.io/order asks for order 0; "
                  "ClusterReloadPolicy platform, enforced: 4"));
}

TEST(PolicySet, AnEnforcedHealthGateIsEnforcedWithItsDefaults) {
  PolicySet set;
  set.Set(PolicyFrom(OfCluster(R"({"enforce": true, "healthGate": {}})")));
  set.Set(PolicyFrom(Namespaced(
      R"({"maxConcurrentRollouts": 3, "healthGate": {"soakTime": "1s", "timeout": "20m"}})")));
  const Effective effective = set.Resolve({"Deployment", {"shop", "web"}}, {});
  EXPECT_EQ(effective.SoakTime(), base::Duration(10s));
  EXPECT_EQ(effective.HealthTimeout(), base::Duration(10min));
  EXPECT_EQ(effective.max_in_namespace->value, 1);
  EXPECT_EQ(effective.refused.size(), 3U);
}

TEST(PolicySet, OfTwoEnforcedTheStricterHolds) {
  PolicySet set;
  for (const char* name : {"a", "b"}) {
    auto policy = OfCluster(*name == 'a' ? R"({"enforce": true, "minInterval": "2h"})"
                                         : R"({"enforce": true, "minInterval": "1h"})");
    policy.metadata.name = name;
    set.Set(PolicyFrom(policy));
  }
  const Effective effective =
      set.Resolve({"Deployment", {"shop", "web"}}, {{"reloader.kubexx.io/min-interval", "1s"}});
  EXPECT_EQ(effective.min_interval->origin, "ClusterReloadPolicy a, enforced");
  EXPECT_EQ(effective.refused.size(), 1U);
}

TEST(PolicySet, EnforcedKeysComeFirst) {
  PolicySet set;
  set.Set(PolicyFrom(
      Namespaced(R"({"sources": [{"kind": "ConfigMap", "name": "c", "keys": ["a"]}]})")));
  EXPECT_FALSE(set.SourceKeys({"ConfigMap", {"shop", "c"}})->enforced);
  set.Set(PolicyFrom(OfCluster(
      R"({"enforce": true, "sources": [{"kind": "ConfigMap", "name": "c", "keys": ["b"]}]})")));
  EXPECT_EQ(set.SourceKeys({"ConfigMap", {"shop", "c"}})->value, "b");
  EXPECT_TRUE(set.SourceKeys({"ConfigMap", {"shop", "c"}})->enforced);
}

TEST(PolicySet, TheMostSpecificPlaceSaysWhichKeysCount) {
  const ObjectRef web{"Deployment", {"shop", "web"}};
  PolicySet set(Settings{.keys = KeyScope::kReferenced});
  EXPECT_EQ(set.Resolve(web, {}).keys->origin, "flag");
  EXPECT_EQ(set.Resolve(web, {}).Keys(), KeyScope::kReferenced);
  set.Set(PolicyFrom(Namespaced(R"({"keys": "All"})")));
  EXPECT_EQ(set.Resolve(web, {}).keys->origin, "ReloadPolicy shop/p");
  EXPECT_EQ(set.Resolve(web, {}).Keys(), KeyScope::kAll);
  const Annotations own{{"reloader.kubexx.io/keys", "Referenced"}};
  EXPECT_EQ(set.Resolve(web, own).Keys(), KeyScope::kReferenced);
  set.Set(PolicyFrom(OfCluster(R"({"enforce": true, "keys": "All"})")));
  EXPECT_EQ(set.Resolve(web, own).Keys(), KeyScope::kAll);
  EXPECT_EQ(set.Resolve(web, own).refused,
            std::vector<std::string>{"annotation reloader.kubexx.io/keys asks for keys Referenced; "
                                     "ClusterReloadPolicy c, enforced: All"});
  EXPECT_EQ(PolicySet().Resolve(web, {}).Keys(), KeyScope::kAll);
}

TEST(PolicySet, AScopeOfKeysThatIsNoneHasNoEffect) {
  const Policy policy = PolicyFrom(Namespaced(R"({"keys": "Some"})"));
  EXPECT_FALSE(policy.settings.keys);
  EXPECT_EQ(policy.problems,
            std::vector<std::string>{"spec.keys: \"Some\" is neither All nor Referenced"});
  const Effective effective =
      PolicySet().Resolve({"Deployment", {"shop", "web"}}, {{"reloader.kubexx.io/keys", "a,b"}});
  EXPECT_FALSE(effective.keys);
  EXPECT_EQ(
      effective.problems,
      std::vector<std::string>{"reloader.kubexx.io/keys: \"a,b\" is neither All nor Referenced"});
  EXPECT_TRUE(effective.brakes.empty()) << "it was not meant to hold anything back";
}

TEST(PolicySet, KnowsPausedSources) {
  PolicySet set;
  set.Set(PolicyFrom(Namespaced(
      R"({"sources": [{"kind": "Secret", "name": "s", "paused": true},
                      {"kind": "ConfigMap", "name": "c"}]})")));
  EXPECT_EQ(set.SourcePause({"Secret", {"shop", "s"}})->origin, "ReloadPolicy shop/p");
  EXPECT_FALSE(set.SourcePause({"ConfigMap", {"shop", "s"}}));
  EXPECT_FALSE(set.SourcePause({"Secret", {"other", "s"}}));
  EXPECT_FALSE(set.SourcePause({"ConfigMap", {"shop", "c"}}));
}

TEST(Pattern, StarStandsForAnyText) {
  EXPECT_TRUE(MatchesPattern("*", ""));
  EXPECT_TRUE(MatchesPattern("a*c", "abbc"));
  EXPECT_TRUE(MatchesPattern("*-web-*", "team-web-1"));
  EXPECT_TRUE(MatchesPattern("a*", "a"));
  EXPECT_TRUE(MatchesPattern("*ab", "aab"));
  EXPECT_FALSE(MatchesPattern("a*c", "abcd"));
  EXPECT_FALSE(MatchesPattern("web", "web-1"));
  EXPECT_FALSE(MatchesPattern("", "a"));
}

}  // namespace
}  // namespace kubexx::reloadpolicy
